package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"istio.io/istio/operator/pkg/apis"
)

// The kinds of Kubernetes whose shape is printed: what Istio's charts produce, and what users add to it.
var shapedKinds = map[string]string{
	"v1":                              "ConfigMap Namespace Pod ResourceQuota Secret Service ServiceAccount",
	"admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apps/v1":                         "DaemonSet Deployment StatefulSet",
	"autoscaling/v2":                  "HorizontalPodAutoscaler",
	"batch/v1":                        "Job",
	"discovery.k8s.io/v1":             "EndpointSlice",
	"networking.k8s.io/v1":            "NetworkPolicy",
	"policy/v1":                       "PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1":    "ClusterRole ClusterRoleBinding Role RoleBinding",
}

const operatorKind = "install.istio.io/v1alpha1 IstioOperator"

// A shapedField is a field by what may be written in it. Without rules for patches it is printed as its type alone.
type shapedField struct {
	// Type is string, bool, bytes, any, quantity, intOrString, time, microTime, duration, a Go number, or a struct's
	// name; before it [] for a list and {} for a map, any number of times.
	Type          string `json:"type"`
	PatchStrategy string `json:"patchStrategy,omitempty"`
	PatchMergeKey string `json:"patchMergeKey,omitempty"`
}

func (f shapedField) MarshalJSON() ([]byte, error) {
	if f.PatchStrategy == "" && f.PatchMergeKey == "" {
		return json.Marshal(f.Type)
	}
	type whole shapedField
	return json.Marshal(whole(f))
}

type shapes struct {
	kinds   map[string]string
	structs map[string]map[string]shapedField
	// named has the Go type behind each name, so that no two share one.
	named map[string]reflect.Type
}

// These read their own JSON; every other type that does is unknown here, and an error.
var shapedLeaves = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intOrString",
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microTime",
	reflect.TypeFor[metav1.Duration]():      "duration",
	reflect.TypeFor[metav1.FieldsV1]():      "any",
	reflect.TypeFor[runtime.RawExtension](): "any",
	reflect.TypeFor[json.RawMessage]():      "any",
	reflect.TypeFor[apis.BoolValue]():       "bool",
	reflect.TypeFor[[]byte]():               "bytes",
}

// printShapes prints the Go types of IstioOperator and of Kubernetes' kinds as one table, a line for each struct.
func printShapes(out io.Writer) error {
	all := shapes{map[string]string{}, map[string]map[string]shapedField{}, map[string]reflect.Type{}}
	if err := all.addKind(operatorKind, reflect.TypeFor[apis.IstioOperator]()); err != nil {
		return err
	}
	for version, kinds := range shapedKinds {
		for _, kind := range strings.Fields(kinds) {
			made, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(version, kind))
			if err != nil {
				return err
			}
			if err := all.addKind(version+" "+kind, reflect.TypeOf(made).Elem()); err != nil {
				return err
			}
		}
	}
	return all.print(out)
}

func (s *shapes) addKind(name string, kind reflect.Type) (err error) {
	if s.kinds[name], err = s.typeOf(kind); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *shapes) typeOf(of reflect.Type) (string, error) {
	if leaf, is := shapedLeaves[of]; is {
		return leaf, nil
	}
	if of.Kind() != reflect.Pointer && of.Kind() != reflect.Interface && readsItself(of) {
		return "", fmt.Errorf("%s reads its own JSON", of)
	}
	switch of.Kind() {
	case reflect.Pointer:
		return s.typeOf(of.Elem())
	case reflect.Interface:
		return "any", nil
	case reflect.Slice:
		inner, err := s.typeOf(of.Elem())
		return "[]" + inner, err
	case reflect.Map:
		if of.Key().Kind() != reflect.String {
			return "", fmt.Errorf("%s has keys that are no strings", of)
		}
		inner, err := s.typeOf(of.Elem())
		return "{}" + inner, err
	case reflect.Struct:
		return s.structOf(of)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return of.Kind().String(), nil
	}
	return "", fmt.Errorf("%s is of no kind that is known here", of)
}

func readsItself(of reflect.Type) bool {
	pointer := reflect.PointerTo(of)
	return pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (s *shapes) structOf(of reflect.Type) (string, error) {
	name := shapeName(of)
	if before, known := s.named[name]; known {
		if before != of {
			return "", fmt.Errorf("%s and %s have the same name here", before.PkgPath(), of.PkgPath())
		}
		return name, nil
	}
	s.named[name], s.structs[name] = of, map[string]shapedField{}
	return name, s.addFields(s.structs[name], of)
}

// addFields flattens structs within the struct, as Go's JSON does.
func (s *shapes) addFields(fields map[string]shapedField, of reflect.Type) error {
	for i := range of.NumField() {
		field := of.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		switch {
		case tag[0] == "-":
			continue
		case field.Anonymous && tag[0] == "":
			if err := s.addFields(fields, field.Type); err != nil {
				return err
			}
			continue
		case !field.IsExported():
			continue
		case tag[0] == "" || slices.Contains(tag, "string"):
			return fmt.Errorf("%s.%s has a tag that is not known here: %s", of, field.Name, field.Tag)
		}
		kind, err := s.typeOf(field.Type)
		if err != nil {
			return err
		}
		if _, twice := fields[tag[0]]; twice {
			return fmt.Errorf("%s has %s twice", of, tag[0])
		}
		fields[tag[0]] = shapedField{kind, field.Tag.Get("patchStrategy"), field.Tag.Get("patchMergeKey")}
	}
	return nil
}

// shapeName is `core.v1.Container` for k8s.io/api/core/v1, and the bare name for Istio's own.
func shapeName(of reflect.Type) string {
	parts := strings.Split(of.PkgPath(), "/")
	if parts[0] == "istio.io" {
		return of.Name()
	}
	return strings.Join(parts[len(parts)-2:], ".") + "." + of.Name()
}

func (s *shapes) print(out io.Writer) error {
	kinds, err := json.Marshal(s.kinds)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"kinds\":%s,\n\"structs\":{", kinds)
	before := "\n"
	for _, name := range slices.Sorted(maps.Keys(s.structs)) {
		fields, err := json.Marshal(s.structs[name])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s%q:%s", before, name, fields); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err = fmt.Fprintln(out, "\n}}")
	return err
}
