package main

import (
	"strings"

	"istio.io/istio/pkg/kube/inject"
)

type injected struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

// renderInjection uses the functions of Istio's injection templates, which differ from Helm's. The data is plain: the
// functions that want a pod's or a proxy's Go type cannot be reached with it.
func renderInjection(line []byte) any {
	var asked struct {
		Template string `json:"template"`
		Data     any    `json:"data"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return injected{Error: err.Error()}
	}
	templates, err := inject.ParseTemplates(inject.RawTemplates{"inject": asked.Template})
	if err != nil {
		return injected{Error: err.Error()}
	}
	var out strings.Builder
	if err := templates["inject"].Execute(&out, asked.Data); err != nil {
		return injected{Error: err.Error()}
	}
	return injected{Output: out.String()}
}
