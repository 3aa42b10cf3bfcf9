//go:build tools

// Package tools pins the commands that tests run as real parts.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
