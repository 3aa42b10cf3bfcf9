//go:build rows

// Never built: it tells Go which modules the tests need that `istio-oracle rows` runs, beyond those of this program.
package main

import _ "istio.io/istio/istioctl/pkg/validate"
