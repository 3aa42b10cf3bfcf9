package main

import (
	"encoding/json"

	yamlv2 "gopkg.in/yaml.v2"

	"istio.io/istio/operator/pkg/apis"
	"istio.io/istio/operator/pkg/apis/validation"
	"istio.io/istio/operator/pkg/manifest"
	"istio.io/istio/operator/pkg/tpath"
	"istio.io/istio/operator/pkg/util"
	"istio.io/istio/operator/pkg/values"
)

// set is `istioctl --set`: every path is below spec.
func set(line []byte) any {
	var asked struct {
		Tree map[string]any `json:"tree"`
		Set  []string       `json:"set"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return outcome{Error: err.Error()}
	}
	tree := values.Map(asked.Tree)
	if tree == nil {
		tree = values.Map{}
	}
	if err := tree.SetSpecPaths(asked.Set...); err != nil {
		return outcome{Error: err.Error()}
	}
	return treeOutcome(tree)
}

// merge lays one tree over another.
func merge(line []byte) any {
	var asked struct {
		Base    map[string]any `json:"base"`
		Overlay map[string]any `json:"overlay"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return outcome{Error: err.Error()}
	}
	base := values.Map(asked.Base)
	if base == nil {
		base = values.Map{}
	}
	base.MergeFrom(asked.Overlay)
	return treeOutcome(base)
}

func treeOutcome(tree values.Map) outcome {
	text, err := json.Marshal(tree)
	if err != nil {
		// An infinity, which a --set can make and JSON cannot say.
		return outcome{Error: err.Error()}
	}
	return outcome{Result: text}
}

// An overlaid object is what the patches of `k8s.overlays` leave.
type overlaid struct {
	outcome
	// YAML is the text that istioctl prints.
	YAML string `json:"yaml,omitempty"`
	// Dropped are the errors of single patches: istioctl collects them and then says nothing.
	Dropped []string `json:"dropped"`
}

// overlay does what istioctl's own function does, which is not exported and keeps the errors to itself.
func overlay(line []byte) any {
	var asked struct {
		Object  json.RawMessage `json:"object"`
		Patches []apis.Patch    `json:"patches"`
	}
	said := overlaid{Dropped: []string{}}
	if err := readStrictly(line, &asked); err != nil {
		said.Error = err.Error()
		return said
	}
	object, err := manifest.FromJSON(asked.Object)
	if err == nil {
		object, said.Dropped, err = overlayObject(object, asked.Patches)
	}
	if err == nil {
		said.YAML = object.Content
		said.Result, err = object.MarshalJSON()
	}
	if err != nil {
		said.Error = err.Error()
	}
	return said
}

func overlayObject(object manifest.Manifest, patches []apis.Patch) (manifest.Manifest, []string, error) {
	dropped := []string{}
	// This reader keeps keys of any type, and the paths are written for its maps.
	tree := map[any]any{}
	if err := yamlv2.Unmarshal([]byte(object.Content), &tree); err != nil {
		return object, dropped, err
	}
	for _, one := range patches {
		place, _, err := tpath.GetPathContext(tree, util.PathFromString(one.Path), true)
		if err == nil {
			err = tpath.WritePathContext(place, one.Value)
		}
		if err != nil {
			dropped = append(dropped, err.Error())
		}
	}
	text, err := yamlv2.Marshal(tree)
	if err != nil {
		return object, dropped, err
	}
	object, err = manifest.FromYaml(text)
	return object, dropped, err
}

// An opinion is what istioctl says of an IstioOperator before it renders it.
type opinion struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

func operator(line []byte) any {
	var asked struct {
		Operator map[string]any `json:"iop"`
	}
	if err := readStrictly(line, &asked); err != nil {
		return opinion{Errors: []string{err.Error()}, Warnings: []string{}}
	}
	warnings, errors := validation.ParseAndValidateIstioOperator(asked.Operator, nil)
	return opinion{Errors: texts(errors), Warnings: texts(warnings)}
}

func texts(errors util.Errors) []string {
	all := []string{}
	for _, err := range errors {
		all = append(all, err.Error())
	}
	return all
}
