// Package recorder notes the calls that Istio's own tests make of Istio's validation functions. It is linked into
// those test programs: `istio-oracle rows` writes the calls to it into a copy of the sources. Only calls that a test
// makes itself count, not those that validation functions make of each other.
package recorder

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sync"

	"github.com/hashicorp/go-multierror"
)

// A Call is one line of what is recorded.
type Call struct {
	File string `json:"file"`
	Test string `json:"test"`
	// Table says whether the call is made for a row of a table, and Index which row; other calls of a test are counted
	// by themselves.
	Table bool `json:"table"`
	Index int  `json:"index"`
	// Row is the row's name as the table has it, where it has one.
	Row string `json:"row,omitempty"`
	// Keyed rows come from a Go map and thus in no order.
	Keyed     bool       `json:"keyed,omitempty"`
	Function  string     `json:"function"`
	Arguments []Argument `json:"arguments"`
	Accepted  bool       `json:"accepted"`
	Errors    []string   `json:"errors"`
	Warnings  []string   `json:"warnings"`
	// Results are what it returns besides errors and warnings.
	Results []Argument `json:"results,omitempty"`
	// After are all arguments once more as they are when it returns, where it has changed one of them.
	After []Argument `json:"after,omitempty"`
}

// Tests run one after the other and so do their calls: there is no lock.
var (
	now   Call
	rows  int
	loose int
	depth int
	out   = sync.OnceValue(open)
)

func open() *os.File {
	file, err := os.OpenFile(os.Getenv("ISTIO_ORACLE_ROWS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	return file
}

// Test is called at the head of every test.
func Test(file, name string) {
	now = Call{File: file, Test: name}
	rows, loose = 0, 0
}

// Row is called at the head of every loop over a table, with the row's name where the test names it for Go.
func Row(of, key, value any, name ...string) {
	now.Table, now.Index, now.Row = true, rows, ""
	rows++
	switch {
	case len(name) > 0:
		now.Row = name[0]
	case reflect.ValueOf(of).Kind() == reflect.Map:
		now.Keyed, now.Row = true, fmt.Sprint(key)
	default:
		now.Row = nameOf(value)
	}
}

// EndOfRows is called after every such loop: what comes then is no part of the last row.
func EndOfRows() {
	now.Table, now.Row, now.Keyed = false, "", false
}

// nameOf is the field that a table has for the name of its rows.
func nameOf(row any) string {
	value := reflect.Indirect(reflect.ValueOf(row))
	if value.Kind() != reflect.Struct {
		return ""
	}
	for _, field := range []string{"name", "Name", "desc", "description", "Description"} {
		if name := value.FieldByName(field); name.IsValid() && name.Kind() == reflect.String {
			return name.String()
		}
	}
	return ""
}

// A Pending call has begun and not yet ended.
type Pending struct {
	call  *Call
	given []any
}

// Begin is called at the head of every function: its arguments are taken down before it can change them.
func Begin(function string, arguments ...any) *Pending {
	depth++
	if depth > 1 || now.Test == "" {
		return &Pending{}
	}
	if !now.Table {
		now.Index = loose
		loose++
	}
	call := now
	call.Function = function
	call.Arguments = describeAll(arguments)
	call.Errors, call.Warnings = []string{}, []string{}
	return &Pending{call: &call, given: arguments}
}

// End is called when the function returns, with pointers to its results.
func (p *Pending) End(results ...any) {
	depth--
	if p.call == nil {
		return
	}
	for i, result := range results {
		value := reflect.ValueOf(result).Elem()
		// Two lists of errors are warnings and errors, which Go cannot tell apart.
		if i == 0 && len(results) == 2 && isErrors(value) && isErrors(reflect.ValueOf(results[1]).Elem()) {
			p.call.Warnings = append(p.call.Warnings, flattenAll(value)...)
		} else {
			p.call.result(value)
		}
	}
	if after := describeAll(p.given); !reflect.DeepEqual(after, p.call.Arguments) {
		p.call.After = after
	}
	p.call.Accepted = len(p.call.Errors) == 0
	line, err := json.Marshal(p.call)
	if err == nil {
		_, err = out().Write(append(line, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

var errorType = reflect.TypeFor[error]()

func (c *Call) result(value reflect.Value) {
	switch kind := value.Type(); {
	case kind.Name() == "Validation" && kind.Kind() == reflect.Struct:
		c.result(value.FieldByName("Err"))
		c.result(value.FieldByName("Warning"))
	case kind.Name() == "Warning":
		c.Warnings = append(c.Warnings, flatten(value)...)
	case isErrors(value):
		c.Errors = append(c.Errors, flattenAll(value)...)
	case kind == errorType:
		c.Errors = append(c.Errors, flatten(value)...)
	default:
		c.Results = append(c.Results, describe(value.Interface()))
	}
}

// isErrors: a named list of errors, as the operator has it.
func isErrors(value reflect.Value) bool {
	kind := value.Type()
	return kind.Kind() == reflect.Slice && kind.Name() == "Errors" && kind.Elem() == errorType
}

func flattenAll(values reflect.Value) []string {
	var all []string
	for i := range values.Len() {
		all = append(all, flatten(values.Index(i))...)
	}
	return all
}

// flatten takes an error apart as far as it was put together.
func flatten(value reflect.Value) []string {
	if value.IsNil() {
		return nil
	}
	err := value.Interface().(error)
	inner := reflect.Indirect(reflect.ValueOf(err))
	if inner.Kind() == reflect.Struct && inner.Type().Name() == "Validation" {
		return flatten(inner.FieldByName("Err"))
	}
	if isErrors(inner) {
		return flattenAll(inner)
	}
	// Not everything that wraps errors is a list of them: one with a prefix holds itself without it as well.
	if many, is := err.(*multierror.Error); is {
		var all []string
		for _, one := range many.Errors {
			all = append(all, flatten(reflect.ValueOf(&one).Elem())...)
		}
		return all
	}
	return []string{err.Error()}
}

// Wrap is Begin and End around a function that is held in a variable.
func Wrap[F any](name string, function F) F {
	inner := reflect.ValueOf(function)
	outer := reflect.MakeFunc(inner.Type(), func(arguments []reflect.Value) []reflect.Value {
		given := make([]any, len(arguments))
		for i, argument := range arguments {
			given[i] = argument.Interface()
		}
		pending := Begin(name, given...)
		results := inner.Call(arguments)
		pointers := make([]any, len(results))
		for i, result := range results {
			pointer := reflect.New(result.Type())
			pointer.Elem().Set(result)
			pointers[i] = pointer.Interface()
		}
		pending.End(pointers...)
		return results
	})
	return outer.Interface().(F)
}
