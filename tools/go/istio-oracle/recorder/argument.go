package recorder

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"k8s.io/apimachinery/pkg/runtime"

	"istio.io/istio/pkg/config"
)

// An Argument is a value in a form that another language can read.
type Argument struct {
	// Type is a message's or enum's full protobuf name, "config.Config", or Go's name; lists begin with "[]".
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
	// Unsaid are the paths to what the value holds and no JSON can say, as Istio reads JSON: a nil in a list, a map or a
	// oneof (an empty message is written for it), and a list that is empty but not nil (nothing is written).
	Unsaid []string `json:"unsaid,omitempty"`
	// Proto is the encoded message where JSON cannot say what it holds, such as a duration out of range.
	Proto []byte `json:"proto,omitempty"`
	// Opaque values are told in Go's words only.
	Opaque bool `json:"opaque,omitempty"`
}

func describeAll(values []any) []Argument {
	all := make([]Argument, 0, len(values))
	for _, value := range values {
		all = append(all, describe(value))
	}
	return all
}

func describe(value any) Argument {
	switch value := value.(type) {
	case nil:
		return Argument{Type: "nil", Value: json.RawMessage("null")}
	case config.Config:
		return describeConfig(&value)
	case protoreflect.Message:
		return describeMessage(value.Interface())
	case proto.Message:
		return describeMessage(value)
	case protoreflect.Enum:
		kind := value.Descriptor()
		if known := kind.Values().ByNumber(value.Number()); known != nil {
			return plain(string(kind.FullName()), string(known.Name()))
		}
		return plain(string(kind.FullName()), value.Number())
	case time.Duration:
		return plain("time.Duration", value.String())
	case runtime.Object:
		return plain(fmt.Sprintf("%T", value), value)
	case client:
		return describeClient(value)
	case io.Writer:
		return Argument{Type: "io.Writer", Value: json.RawMessage("null")}
	}
	return describeGo(reflect.ValueOf(value))
}

func describeGo(value reflect.Value) Argument {
	kind := value.Type()
	if value.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct && allExported(kind.Elem()) {
		return plain(kind.String(), value.Interface())
	}
	switch value.Kind() {
	case reflect.Struct:
		if kind.Name() == "Validation" {
			// What was found before; tests give an empty one.
			found := &Call{Errors: []string{}, Warnings: []string{}}
			found.result(value)
			return plain("Validation", map[string][]string{"errors": found.Errors, "warnings": found.Warnings})
		}
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32,
		reflect.Uint64, reflect.Float64:
		return plain(kind.String(), value.Interface())
	case reflect.Slice:
		return describeList(value)
	case reflect.Map:
		if kind.Key().Kind() == reflect.String {
			return describeMap(value)
		}
	}
	return Argument{Type: kind.String(), Value: encode(fmt.Sprintf("%+v", value.Interface())), Opaque: true}
}

// allExported: its JSON says everything about it.
func allExported(kind reflect.Type) bool {
	for i := range kind.NumField() {
		field := kind.Field(i)
		if !field.IsExported() || field.Anonymous && (field.Type.Kind() != reflect.Struct || !allExported(field.Type)) {
			return false
		}
	}
	return true
}

func describeList(value reflect.Value) Argument {
	whole := Argument{Type: "[]" + elementName(value.Type().Elem())}
	elements := []Argument{}
	for i := range value.Len() {
		element := describe(value.Index(i).Interface())
		whole.Opaque = whole.Opaque || element.Opaque || element.Proto != nil
		whole.addUnsaid(fmt.Sprintf("[%d]", i), element)
		elements = append(elements, element)
	}
	whole.Value = encode(valuesOf(elements))
	return whole
}

// describeMap also covers sets, which are maps to nothing and become sorted lists.
func describeMap(value reflect.Value) Argument {
	if value.Type().Elem() == reflect.TypeFor[struct{}]() {
		members := []string{}
		for _, key := range value.MapKeys() {
			members = append(members, key.String())
		}
		slices.Sort(members)
		return plain("set", members)
	}
	whole := Argument{Type: "map[string]" + elementName(value.Type().Elem())}
	members := map[string]json.RawMessage{}
	for _, key := range value.MapKeys() {
		member := describe(value.MapIndex(key).Interface())
		whole.Opaque = whole.Opaque || member.Opaque || member.Proto != nil
		whole.addUnsaid(key.String(), member)
		members[key.String()] = member.Value
	}
	whole.Value = encode(members)
	return whole
}

func (a *Argument) addUnsaid(place string, inner Argument) {
	for _, path := range inner.Unsaid {
		a.Unsaid = append(a.Unsaid, place+"."+path)
	}
}

func elementName(kind reflect.Type) string {
	if message, is := reflect.Zero(kind).Interface().(proto.Message); is && kind.Kind() == reflect.Pointer {
		return string(message.ProtoReflect().Descriptor().FullName())
	}
	return kind.String()
}

func valuesOf(arguments []Argument) []json.RawMessage {
	values := make([]json.RawMessage, 0, len(arguments))
	for _, argument := range arguments {
		values = append(values, argument.Value)
	}
	return values
}

func describeMessage(message proto.Message) Argument {
	described := Argument{Type: string(message.ProtoReflect().Descriptor().FullName()), Value: json.RawMessage("null")}
	if !message.ProtoReflect().IsValid() {
		return described
	}
	text, err := protojson.Marshal(message)
	if err == nil {
		described.Value, described.Unsaid = whole(text, message)
		again := message.ProtoReflect().New().Interface()
		if protojson.Unmarshal(text, again) == nil && proto.Equal(message, again) {
			return described
		}
	}
	if described.Proto, err = (proto.MarshalOptions{Deterministic: true}).Marshal(message); err != nil {
		described.Opaque, described.Value = true, encode(fmt.Sprintf("%+v", message))
	}
	return described
}

// describeConfig writes an object as Kubernetes would have it; tests seldom say which kind it is, but the spec does.
func describeConfig(object *config.Config) Argument {
	spec := describe(object.Spec)
	meta := map[string]any{}
	for name, value := range map[string]any{
		"name": object.Name, "namespace": object.Namespace, "labels": object.Labels, "annotations": object.Annotations,
	} {
		if !reflect.ValueOf(value).IsZero() {
			meta[name] = value
		}
	}
	value := map[string]any{"metadata": meta, "spec": spec.Value, "specType": spec.Type}
	if kind := object.GroupVersionKind; kind.Kind != "" {
		value["kind"], value["apiVersion"] = kind.Kind, kind.GroupVersion()
	}
	return Argument{Type: "config.Config", Value: encode(value), Unsaid: spec.Unsaid, Proto: spec.Proto, Opaque: spec.Opaque}
}

func plain(kind string, value any) Argument {
	return Argument{Type: kind, Value: encode(value)}
}

func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
