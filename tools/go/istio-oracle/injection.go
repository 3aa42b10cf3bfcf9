package main

import (
	"encoding/json"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pkg/kube/inject"
	"istio.io/istio/pkg/util/protomarshal"
)

type injected struct {
	Output string `json:"output"`
	Error  string `json:"error,omitempty"`
}

// renderInjection uses the functions of Istio's injection templates, which differ from Helm's.
func renderInjection(line []byte) any {
	var asked struct {
		Template string          `json:"template"`
		Data     json.RawMessage `json:"data"`
		// Typed: the data has the Go types that istiod has, which many of the functions insist on; otherwise it is
		// plain.
		Typed bool `json:"typed"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return injected{Error: err.Error()}
	}
	data, err := injectionData(asked.Data, asked.Typed)
	if err != nil {
		return injected{Error: err.Error()}
	}
	templates, err := inject.ParseTemplates(inject.RawTemplates{"inject": asked.Template})
	if err != nil {
		return injected{Error: err.Error()}
	}
	var out strings.Builder
	if err := templates["inject"].Execute(&out, data); err != nil {
		return injected{Error: err.Error()}
	}
	return injected{Output: out.String()}
}

func injectionData(text []byte, typed bool) (any, error) {
	if len(text) == 0 {
		text = []byte("null")
	}
	if !typed {
		var plain any
		err := json.Unmarshal(text, &plain)
		return plain, err
	}
	// Protobuf messages have their own JSON.
	var read struct {
		inject.SidecarTemplateData
		ProxyConfig json.RawMessage
		MeshConfig  json.RawMessage
	}
	if err := readStrictly(text, &read); err != nil {
		return nil, err
	}
	data := &read.SidecarTemplateData
	if read.ProxyConfig != nil {
		data.ProxyConfig = &meshconfig.ProxyConfig{}
		if err := protomarshal.Unmarshal(read.ProxyConfig, data.ProxyConfig); err != nil {
			return nil, err
		}
	}
	if read.MeshConfig != nil {
		data.MeshConfig = &meshconfig.MeshConfig{}
		if err := protomarshal.Unmarshal(read.MeshConfig, data.MeshConfig); err != nil {
			return nil, err
		}
	}
	return data, nil
}
