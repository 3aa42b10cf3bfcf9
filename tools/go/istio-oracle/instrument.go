package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

const recorderPath = "mizzen.dev/tools/istio-oracle/recorder"

// A tableCount is how many rows the tables of a test have by its source.
type tableCount struct {
	File string `json:"file"`
	Test string `json:"test"`
	Rows int    `json:"rows"`
}

// An instrumented file is a source file with calls of the recorder put in between. What was on a line stays on it, so
// that what a compiler or a failing test says is true of the original, too.
type instrumented struct {
	name   string
	source string
	start  token.Pos
	edits  []edit
	tables []tableCount
}

type edit struct {
	at, end int
	text    string
}

// instrument notes the calls of the functions that are wanted, and the rows of the tests.
func instrument(name string, source []byte, wanted func(*ast.FuncDecl) bool) (*instrumented, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	file := &instrumented{name: name, source: string(source), start: parsed.FileStart}
	for _, declaration := range parsed.Decls {
		switch declaration := declaration.(type) {
		case *ast.GenDecl:
			file.wrapRegistered(declaration)
		case *ast.FuncDecl:
			if !strings.HasSuffix(name, "_test.go") {
				if declaration.Body != nil && wanted(declaration) {
					file.noteCall(declaration)
				}
			} else if strings.HasPrefix(declaration.Name.Name, "Test") {
				file.noteRows(declaration)
			}
		}
	}
	if len(file.edits) > 0 {
		file.put(parsed.Name.End(), fmt.Sprintf("; import %q", recorderPath))
	}
	return file, nil
}

// text is the file with everything put in.
func (f *instrumented) text() string {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return a.at - b.at })
	var text strings.Builder
	done := 0
	for _, edit := range f.edits {
		text.WriteString(f.source[done:edit.at])
		text.WriteString(edit.text)
		done = edit.end
	}
	text.WriteString(f.source[done:])
	return text.String()
}

func (f *instrumented) put(at token.Pos, text string) {
	f.edits = append(f.edits, edit{int(at - f.start), int(at - f.start), text})
}

func (f *instrumented) replace(node ast.Node, text string) {
	f.edits = append(f.edits, edit{int(node.Pos() - f.start), int(node.End() - f.start), text})
}

func (f *instrumented) of(node ast.Node) string {
	return f.source[node.Pos()-f.start : node.End()-f.start]
}

// noteCall puts `defer recorder.Begin("f", a, b).End(&result)` at the head of a function; what a method is called on
// counts as its first argument.
func (f *instrumented) noteCall(function *ast.FuncDecl) {
	kind := function.Type
	given := slices.Concat(f.nameFields(function.Recv, "owner", ""), f.nameFields(kind.Params, "given", ""))
	results := f.nameFields(kind.Results, "returned", "&")
	if kind.Results != nil && !kind.Results.Opening.IsValid() {
		f.put(kind.Results.End(), ")")
	}
	begin := strings.Join(slices.Concat([]string{fmt.Sprintf("%q", functionName(function))}, given), ", ")
	f.put(function.Body.Lbrace+1, fmt.Sprintf(" defer recorder.Begin(%s).End(%s);", begin, strings.Join(results, ", ")))
}

// functionName is `Map.SetPath` for a method of Map or of a pointer to one.
func functionName(function *ast.FuncDecl) string {
	name := function.Name.Name
	if function.Recv == nil {
		return name
	}
	owner := function.Recv.List[0].Type
	if pointer, is := owner.(*ast.StarExpr); is {
		owner = pointer.X
	}
	if plain, is := owner.(*ast.Ident); is {
		name = plain.Name + "." + name
	}
	return name
}

// judges: it takes something and returns something, and is none of the functions that only put errors together, which
// take an error first, or any number of them, or a function.
func judges(function *ast.FuncDecl) bool {
	kind := function.Type
	if function.Recv != nil || kind.TypeParams != nil || kind.Params.NumFields() == 0 || kind.Results.NumFields() == 0 {
		return false
	}
	for i, parameter := range kind.Params.List {
		switch of := parameter.Type.(type) {
		case *ast.Ellipsis, *ast.FuncType:
			return false
		case *ast.Ident:
			if of.Name == "ValidateFunc" || i == 0 && slices.Contains([]string{"error", "any", "Validation"}, of.Name) {
				return false
			}
		}
	}
	return true
}

// nameFields gives a name to every parameter or result that has none, and returns all of them as arguments.
func (f *instrumented) nameFields(fields *ast.FieldList, stem, before string) []string {
	var named []string
	if fields == nil {
		return named
	}
	next := func() string {
		named = append(named, fmt.Sprintf("%s%sToRecorder%d", before, stem, len(named)))
		return strings.TrimPrefix(named[len(named)-1], before)
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			opening := ""
			if !fields.Opening.IsValid() {
				opening = "("
			}
			f.put(field.Pos(), opening+next()+" ")
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				f.replace(name, next())
			} else {
				named = append(named, before+name.Name)
			}
		}
	}
	return named
}

// wrapRegistered turns `var ValidateX = RegisterValidateFunc(…)` into `var ValidateX = recorder.Wrap("ValidateX", …)`.
func (f *instrumented) wrapRegistered(declaration *ast.GenDecl) {
	for _, spec := range declaration.Specs {
		value, is := spec.(*ast.ValueSpec)
		if !is || len(value.Names) != 1 || len(value.Values) != 1 {
			continue
		}
		made, is := value.Values[0].(*ast.CallExpr)
		if is && strings.HasSuffix(f.of(made.Fun), "RegisterValidateFunc") {
			f.put(made.Pos(), fmt.Sprintf("recorder.Wrap(%q, ", value.Names[0].Name))
			f.put(made.End(), ")")
		}
	}
}

// noteRows names the test and every row of its tables, and counts the rows that the source has.
func (f *instrumented) noteRows(test *ast.FuncDecl) {
	literals := map[string]*ast.CompositeLit{}
	rows := 0
	for _, statement := range test.Body.List {
		switch statement := statement.(type) {
		case *ast.AssignStmt:
			if literal, is := statement.Rhs[0].(*ast.CompositeLit); is {
				literals[f.of(statement.Lhs[0])] = literal
			}
		case *ast.RangeStmt:
			if literal, is := literals[f.of(statement.X)]; is && f.noteLoop(statement) {
				rows += len(literal.Elts)
			}
		}
	}
	f.tables = append(f.tables, tableCount{File: f.name, Test: test.Name.Name, Rows: rows})
	f.put(test.Body.Lbrace+1, fmt.Sprintf(" recorder.Test(%q, %q);", f.name, test.Name.Name))
}

func (f *instrumented) noteLoop(loop *ast.RangeStmt) bool {
	if loop.Tok != token.DEFINE || loop.Value == nil {
		return false
	}
	key, value := f.of(loop.Key), f.of(loop.Value)
	if key == "_" {
		key = "keyToRecorder"
		f.replace(loop.Key, key)
	}
	f.put(loop.Body.Lbrace+1, fmt.Sprintf(" recorder.Row(%s, %s, %s%s);", f.of(loop.X), key, value, f.rowName(loop.Body, value)))
	f.put(loop.End(), "; recorder.EndOfRows()")
	return true
}

// rowName is the field of the row that the test itself gives to t.Run, as a further argument.
func (f *instrumented) rowName(body *ast.BlockStmt, row string) (name string) {
	ast.Inspect(body, func(node ast.Node) bool {
		if made, is := node.(*ast.CallExpr); is && f.of(made.Fun) == "t.Run" {
			if given := f.of(made.Args[0]); name == "" && strings.HasPrefix(given, row+".") {
				name = ", " + given
			}
		}
		return true
	})
	return name
}
