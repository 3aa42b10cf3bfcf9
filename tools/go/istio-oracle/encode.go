package main

import (
	"encoding/json"
	"fmt"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/config/schema/resource"
	"istio.io/istio/pkg/util/protomarshal"
)

// An encoded object is what Istio's JSON code makes of what it has read.
type encoded struct {
	Known bool `json:"known"`
	// Spec is the spec, read leniently and written again; of the mesh's own configuration without the defaults.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Applied is the mesh's own configuration on top of Istio's defaults.
	Applied json.RawMessage `json:"applied,omitempty"`
	// Error is why it cannot be read leniently, Strict why it cannot be read strictly, Refused why Applied is lacking.
	Error   string `json:"error,omitempty"`
	Strict  string `json:"strict,omitempty"`
	Refused string `json:"refused,omitempty"`
}

func encode(line []byte) any {
	if object, is := readMeshObject(line); is {
		return encodeMesh(object)
	}
	var object crd.IstioKind
	if err := json.Unmarshal(line, &object); err != nil {
		return encoded{Error: err.Error()}
	}
	gvk := object.GroupVersionKind()
	schema, known := collections.PilotGatewayAPI().FindByGroupKind(resource.FromKubernetesGVK(&gvk))
	if !known {
		return encoded{Error: fmt.Sprintf("unrecognized type %v", gvk)}
	}
	said := encoded{Known: true}
	text := "{}"
	if len(object.Spec) > 0 {
		text = string(object.Spec)
	}
	if strict, err := schema.NewInstance(); err != nil {
		said.Strict = err.Error()
	} else if err := config.ApplyJSONStrict(strict, text); err != nil {
		said.Strict = err.Error()
	}
	spec, err := crd.FromJSON(schema, text)
	if err != nil {
		said.Error = err.Error()
		return said
	}
	if said.Spec, err = config.ToJSON(spec); err != nil {
		said.Error = err.Error()
	}
	return said
}

func encodeMesh(object *meshObject) any {
	said := encoded{Known: true}
	if err := protomarshal.ApplyYAMLStrict(object.text(), object.empty()); err != nil {
		said.Strict = err.Error()
	}
	plain := object.empty()
	err := protomarshal.ApplyYAML(object.text(), plain)
	if err == nil {
		said.Spec, err = protomarshal.Marshal(plain)
	}
	if err != nil {
		said.Error = err.Error()
		return said
	}
	applied, err := object.applied()
	if err == nil {
		said.Applied, err = protomarshal.Marshal(applied)
	}
	if err != nil {
		said.Refused = err.Error()
	}
	return said
}
