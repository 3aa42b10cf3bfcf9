package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mizzen.dev/tools/istio-oracle/recorder"
)

const istioModule = "istio.io/istio"

// A suite is some of Istio's tests whose rows are written together: `<name>rows.jsonl` and `<name>tests.json`.
type suite struct {
	name     string
	packages []testedPackage
}

type testedPackage struct {
	folder string
	// functions are those whose calls are noted; without any it is every one that judges something.
	functions []string
	// unnoted are files whose tests are left alone, and dropped are files that are taken away, because they have no rows
	// that mean anything outside of Go.
	unnoted, dropped []string
}

// What openapi_test.go reads lies in files that can be read without it.
var validationSuite = suite{packages: []testedPackage{
	{folder: "pkg/config/validation/agent", dropped: []string{"fuzz_test.go"}},
	{folder: "pkg/config/validation", dropped: []string{"fuzz_test.go", "openapi_test.go"}},
	{folder: "pkg/config/validation/envoyfilter", dropped: []string{"fuzz_test.go"}},
}}

var operatorSuite = suite{name: "operator-", packages: []testedPackage{
	{folder: "operator/pkg/values", functions: []string{
		"Map.SetPath", "Map.SetPaths", "Map.SetSpecPaths", "Map.GetPath", "Map.MergeFrom", "parseValue", "GetValueForSetFlag",
	}},
	// Lists of Go errors, and Go's reflection.
	{folder: "operator/pkg/util", unnoted: []string{"errs_test.go", "reflect_test.go"}, functions: []string{
		"splitEscaped", "PathFromString", "IsValidPathElement", "IsKVPathElement", "IsVPathElement", "IsNPathElement", "PathKV",
		"PathV", "PathN", "RemoveBrackets", "ConsolidateLog", "SetLabel", "PrometheusPathAndPort",
	}},
	{folder: "operator/pkg/version", functions: []string{
		"NewVersionFromString", "IsVersionString", "TagToVersionString", "TagToVersionStringGrace", "Version.String",
	}},
	{folder: "operator/pkg/apis/validation", functions: []string{"ParseAndValidateIstioOperator"}},
	{folder: "istioctl/pkg/validate", functions: []string{"validator.validateResource", "GetTemplateLabels"}},
}}

func (p *testedPackage) wants(function *ast.FuncDecl) bool {
	if len(p.functions) == 0 {
		return judges(function)
	}
	return slices.Contains(p.functions, functionName(function))
}

// writeRows runs Istio's own tests with a recorder in their sources and writes what they asked and were answered:
// rows.jsonl, a call each, and tests.json, how many rows each test has and how many of them were recorded.
func writeRows(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	// One copy each: what is noted in one suite must not be in the other's way.
	for _, suite := range []suite{validationSuite, operatorSuite} {
		if err := suite.write(folder); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) write(folder string) error {
	work, err := os.MkdirTemp("", "istio-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	copied := filepath.Join(work, "istio")
	modFile, err := copyIstio(work, copied)
	if err != nil {
		return err
	}
	recorded := filepath.Join(work, "recorded.jsonl")
	var tables []tableCount
	for _, one := range s.packages {
		found, err := s.instrument(copied, &one)
		if err != nil {
			return err
		}
		tables = append(tables, found...)
	}
	for i, one := range s.packages {
		program := filepath.Join(work, fmt.Sprintf("%d.test", i))
		_, err := execute("", "go", "test", "-c", "-trimpath", "-vet=off", "-modfile", modFile, "-o", program, istioModule+"/"+one.folder)
		if err != nil {
			return err
		}
		// A test that fails has recorded something else than it stands for.
		_, err = execute(filepath.Join(copied, one.folder), "env", "ISTIO_ORACLE_ROWS="+recorded, program, "-test.count=1")
		if err != nil {
			return err
		}
	}
	calls, err := readCalls(recorded)
	if err != nil {
		return err
	}
	if err := writeCalls(filepath.Join(folder, s.name+"rows.jsonl"), calls); err != nil {
		return err
	}
	return report(filepath.Join(folder, s.name+"tests.json"), tables, calls)
}

// copyIstio copies Istio's module, as Go lets nobody replace files in its own cache, and writes a go.mod that is this
// module's own but for using the copy.
func copyIstio(work, copied string) (modFile string, err error) {
	original, err := moduleFolder()
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		return "", err
	}
	modFile = filepath.Join(work, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("this must be run in the folder of its source: %w", err)
		}
		if name == "go.mod" {
			text = fmt.Appendf(text, "\nreplace %s => %s\n", istioModule, copied)
		}
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return "", err
		}
	}
	return modFile, nil
}

// instrument puts the recorder into the files of a package.
func (s *suite) instrument(istio string, tested *testedPackage) ([]tableCount, error) {
	files, err := filepath.Glob(filepath.Join(istio, tested.folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var tables []tableCount
	for _, path := range files {
		base := filepath.Base(path)
		if slices.Contains(tested.unnoted, base) {
			continue
		}
		// Go keeps its files read-only, and so is their copy.
		source, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(tested.dropped, base) {
			continue
		}
		file, err := instrument(filepath.Base(tested.folder)+"/"+base, source, tested.wants)
		if err != nil {
			return nil, err
		}
		tables = append(tables, file.tables...)
		if err := os.WriteFile(path, []byte(file.text()), 0o644); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func readCalls(file string) ([]recorder.Call, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var calls []recorder.Call
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var call recorder.Call
		if err := decoder.Decode(&call); err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	sortKeyed(calls)
	return calls, nil
}

// sortKeyed brings rows that come from a Go map into the same order every time.
func sortKeyed(calls []recorder.Call) {
	for start := 0; start < len(calls); {
		end := start + 1
		for end < len(calls) && calls[end].Test == calls[start].Test && calls[end].File == calls[start].File {
			end++
		}
		if calls[start].Keyed {
			rows := calls[start:end]
			slices.SortStableFunc(rows, func(a, b recorder.Call) int { return cmp.Compare(a.Row, b.Row) })
			for i := range rows {
				rows[i].Index = i
			}
		}
		start = end
	}
}

func writeCalls(path string, calls []recorder.Call) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for _, call := range calls {
		if err := writeLine(out, call); err != nil {
			return err
		}
	}
	return out.Flush()
}

// A testReport says whether all rows of a test are there.
type testReport struct {
	tableCount
	// Recorded rows of the table, and calls, of which a row may make several.
	Recorded int `json:"recorded"`
	Calls    int `json:"calls"`
}

func report(path string, tables []tableCount, calls []recorder.Call) error {
	reports := []testReport{}
	rows, recorded := 0, 0
	for _, table := range tables {
		one := testReport{tableCount: table}
		seen := map[int]bool{}
		for _, call := range calls {
			if call.Test == table.Test && call.File == table.File {
				one.Calls++
				// A test without a table counts as one row.
				if table.Rows == 0 {
					seen[0] = true
				} else if call.Table {
					seen[call.Index] = true
				}
			}
		}
		one.Rows, one.Recorded = max(one.Rows, 1), len(seen)
		rows, recorded = rows+one.Rows, recorded+one.Recorded
		if one.Recorded < one.Rows {
			fmt.Printf("%s %s: %d of %d rows\n", one.File, one.Test, one.Recorded, one.Rows)
		}
		reports = append(reports, one)
	}
	fmt.Printf("%d tests, %d of %d rows recorded, %d calls\n", len(reports), recorded, rows, len(calls))
	return writeJSON(path, reports)
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// moduleFolder is where Go keeps Istio's module.
func moduleFolder() (string, error) {
	folder, err := execute("", "go", "list", "-m", "-f", "{{.Dir}}", istioModule)
	return strings.TrimSpace(folder), err
}

func execute(folder, program string, arguments ...string) (string, error) {
	command := exec.Command(program, arguments...)
	command.Dir = folder
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(command.Args, " "), err, out.String(), problems.String())
	}
	return out.String(), nil
}
