package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// An outcome is an object that something was done to, or why it was not.
type outcome struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// patch merges strategically, with the rules that the Go type of the object's kind carries.
func patch(line []byte) any {
	var asked struct {
		Object json.RawMessage `json:"object"`
		Patch  json.RawMessage `json:"patch"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return outcome{Error: err.Error()}
	}
	var object unstructured.Unstructured
	if err := json.Unmarshal(asked.Object, &object); err != nil {
		return outcome{Error: err.Error()}
	}
	typed, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return outcome{Error: err.Error()}
	}
	patched, err := strategicpatch.StrategicMergePatch(asked.Object, asked.Patch, typed)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcome{Result: patched}
}
