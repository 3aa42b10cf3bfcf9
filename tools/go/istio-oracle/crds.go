package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// A crdVerdict is what an API server with the CRD would say about an object that is created.
type crdVerdict struct {
	Accepted bool     `json:"accepted"`
	Errors   []string `json:"errors"`
	// Unknown fields are pruned, with a warning; under strict field validation they are errors.
	Unknown []string `json:"unknown"`
}

type crdVersion struct {
	structural *structural.Structural
	schema     validation.SchemaValidator
	cel        *cel.Validator
	hasStatus  bool
}

type crds map[schema.GroupVersionKind]crdVersion

// readCRDs reads a file of CRDs, as Istio's chart has it. What is no CRD is passed by.
func readCRDs(file string) (crds, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := crds{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1<<16)
	for {
		var read apiextensionsv1.CustomResourceDefinition
		if err := decoder.Decode(&read); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if read.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, version := range read.Spec.Versions {
			made, err := newCRDVersion(&version)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", read.Name, version.Name, err)
			}
			all[schema.GroupVersionKind{Group: read.Spec.Group, Version: version.Name, Kind: read.Spec.Names.Kind}] = made
		}
	}
}

func newCRDVersion(version *apiextensionsv1.CustomResourceDefinitionVersion) (made crdVersion, err error) {
	var props apiextensions.JSONSchemaProps
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil)
	if err != nil {
		return made, err
	}
	if made.structural, err = structural.NewStructural(&props); err != nil {
		return made, err
	}
	if made.schema, _, err = validation.NewSchemaValidator(&props); err != nil {
		return made, err
	}
	made.cel = cel.NewValidator(made.structural, true, celconfig.PerCallLimit)
	made.hasStatus = version.Subresources != nil && version.Subresources.Status != nil
	return made, nil
}

// verdict goes through what the API server does with a new object, in its order. Nil where there is no such CRD.
func (c crds) verdict(line []byte) *crdVerdict {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(line); err != nil {
		return nil
	}
	version, known := c[object.GroupVersionKind()]
	if !known {
		return nil
	}
	content := object.Object
	track := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	said := &crdVerdict{Errors: []string{}, Unknown: []string{}}
	said.Unknown = append(said.Unknown, pruning.PruneWithOptions(content, version.structural, true, track)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(content, version.structural)
	defaulting.Default(content, version.structural)
	if version.hasStatus {
		delete(content, "status")
	}
	problems := validation.ValidateCustomResource(nil, content, version.schema)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, version.structural, content)...)
	if version.cel != nil && !blocksRules(problems) {
		more, _ := version.cel.Validate(context.Background(), nil, version.structural, content, nil, celconfig.RuntimeCELCostBudget)
		problems = append(problems, more...)
	}
	for _, problem := range problems {
		said.Errors = append(said.Errors, problem.Error())
	}
	said.Accepted = len(problems) == 0
	return said
}

// blocksRules: CEL rules are not run over an object that lacks what they rely on.
func blocksRules(problems field.ErrorList) bool {
	for _, problem := range problems {
		switch problem.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
