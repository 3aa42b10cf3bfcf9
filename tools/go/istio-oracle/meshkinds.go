package main

import (
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	meshapi "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/validation/agent"
	"istio.io/istio/pkg/util/protomarshal"
)

// The mesh's own configuration is no Kubernetes object. Here it comes as one without an apiVersion:
// {"kind":"MeshConfig","spec":{…}}, likewise ProxyConfig (the mesh's, not the resource) and MeshNetworks.
type meshObject struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Spec       json.RawMessage `json:"spec"`
}

func readMeshObject(line []byte) (*meshObject, bool) {
	var object meshObject
	if json.Unmarshal(line, &object) != nil || object.APIVersion != "" {
		return nil, false
	}
	switch object.Kind {
	case "MeshConfig", "ProxyConfig", "MeshNetworks":
		return &object, true
	}
	return nil, false
}

// text is the spec, for functions that take YAML, which JSON is.
func (o *meshObject) text() string {
	if len(o.Spec) == 0 {
		return "{}"
	}
	return string(o.Spec)
}

// empty is the message that the kind is.
func (o *meshObject) empty() proto.Message {
	switch o.Kind {
	case "MeshConfig":
		return &meshapi.MeshConfig{}
	case "ProxyConfig":
		return &meshapi.ProxyConfig{}
	}
	return &meshapi.MeshNetworks{}
}

// applied is the configuration on top of Istio's defaults, validated where Istio does so.
func (o *meshObject) applied() (proto.Message, error) {
	switch o.Kind {
	case "MeshConfig":
		return mesh.ApplyMeshConfig(o.text(), mesh.DefaultMeshConfig())
	case "ProxyConfig":
		return mesh.MergeProxyConfig(o.text(), mesh.DefaultProxyConfig())
	}
	return mesh.ParseMeshNetworks(o.text())
}

// meshVerdict validates the configuration on top of the defaults: ApplyMeshConfig does not hand out warnings, so the
// same function that it uses is asked.
func meshVerdict(line []byte) (*verdict, bool) {
	object, is := readMeshObject(line)
	if !is {
		return nil, false
	}
	said := &verdict{Known: true, Errors: []string{}, Warnings: []string{}}
	var message proto.Message
	switch object.Kind {
	case "MeshConfig":
		message = mesh.DefaultMeshConfig()
	case "ProxyConfig":
		message = mesh.DefaultProxyConfig()
	default:
		message = &meshapi.MeshNetworks{}
	}
	if err := protomarshal.ApplyYAML(object.text(), message); err != nil {
		said.Decode = err.Error()
		return said, true
	}
	var warning, problem error
	switch message := message.(type) {
	case *meshapi.MeshConfig:
		warning, problem = agent.ValidateMeshConfig(message)
	case *meshapi.ProxyConfig:
		warning, problem = agent.ValidateMeshConfigProxyConfig(message).Unwrap()
	case *meshapi.MeshNetworks:
		problem = agent.ValidateMeshNetworks(message)
	}
	said.Errors = append(said.Errors, flatten(problem)...)
	said.Warnings = append(said.Warnings, flatten(warning)...)
	said.Accepted = problem == nil
	if problem != nil {
		said.Message = problem.Error()
	}
	return said, true
}

func printDefaults(out io.Writer) error {
	defaults := map[string]json.RawMessage{}
	for name, message := range map[string]proto.Message{
		"meshConfig":   mesh.DefaultMeshConfig(),
		"proxyConfig":  mesh.DefaultProxyConfig(),
		"meshNetworks": mesh.DefaultMeshNetworks(),
	} {
		text, err := protomarshal.Marshal(message)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defaults[name] = text
	}
	return writeLine(out, defaults)
}
