package recorder

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// whole compares a message with its JSON, because Istio's validation tells apart what protobuf does not. An empty map
// that is not nil is put into the JSON, where Istio reads it as such; the paths to what cannot be put there are
// returned.
func whole(text []byte, message proto.Message) (json.RawMessage, []string) {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return text, nil
	}
	walk := walk{}
	walk.message(value, message.ProtoReflect(), "")
	slices.Sort(walk.unsaid)
	return encode(value), walk.unsaid
}

type walk struct{ unsaid []string }

// message leaves out messages that are not written as objects with their fields, such as a Struct.
func (w *walk) message(value any, message protoreflect.Message, path string) {
	written, is := value.(map[string]any)
	if !is || strings.HasPrefix(string(message.Descriptor().FullName()), "google.protobuf.") {
		return
	}
	w.empties(written, message, path)
	message.Range(func(field protoreflect.FieldDescriptor, held protoreflect.Value) bool {
		inner, place := written[field.JSONName()], path+field.JSONName()
		switch {
		case field.IsMap() && field.MapValue().Message() != nil:
			members, _ := inner.(map[string]any)
			held.Map().Range(func(key protoreflect.MapKey, member protoreflect.Value) bool {
				w.held(members[key.String()], member, place+"."+key.String())
				return true
			})
		case field.IsMap() || field.Message() == nil:
		case field.IsList():
			elements, _ := inner.([]any)
			for i := range elements {
				w.held(elements[i], held.List().Get(i), fmt.Sprintf("%s[%d]", place, i))
			}
		default:
			w.held(inner, held, place)
		}
		return true
	})
}

func (w *walk) held(value any, held protoreflect.Value, path string) {
	if held.Message().IsValid() {
		w.message(value, held.Message(), path+".")
	} else {
		w.unsaid = append(w.unsaid, path)
	}
}

// empties looks at Go's own fields: protobuf shows an empty list and none as the same.
func (w *walk) empties(written map[string]any, message protoreflect.Message, path string) {
	structure := reflect.Indirect(reflect.ValueOf(message.Interface()))
	if structure.Kind() != reflect.Struct {
		return
	}
	for i := range structure.NumField() {
		name := protobufName(structure.Type().Field(i))
		field := message.Descriptor().Fields().ByName(name)
		if held := structure.Field(i); field == nil || held.IsZero() || !field.IsMap() && !field.IsList() || held.Len() > 0 {
			continue
		}
		if field.IsMap() {
			written[field.JSONName()] = map[string]any{}
		} else {
			w.unsaid = append(w.unsaid, path+field.JSONName())
		}
	}
}

// protobufName is in the tag of the field: `protobuf:"bytes,1,rep,name=hosts,proto3"`.
func protobufName(field reflect.StructField) protoreflect.Name {
	for _, part := range strings.Split(field.Tag.Get("protobuf"), ",") {
		if name, is := strings.CutPrefix(part, "name="); is {
			return protoreflect.Name(name)
		}
	}
	return ""
}
