package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// A benchmark is one row of the tables in Istio's bench_test.go: the fields that its templates may use.
type benchmark struct {
	Name       string
	ConfigName string
	Services   int
	Instances  int
}

// writeBenchmarks renders the configurations that Istio measures itself with, in the sizes of its own benchmarks, as
// plain YAML: one file each, and one for each template that no benchmark uses.
func writeBenchmarks(folder string) error {
	istio, err := moduleFolder()
	if err != nil {
		return err
	}
	tests := filepath.Join(istio, "pilot/pkg/xds")
	benchmarks, err := readBenchmarks(filepath.Join(tests, "bench_test.go"))
	if err != nil {
		return err
	}
	templates, err := filepath.Glob(filepath.Join(tests, "testdata/benchmarks/*.yaml"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, path := range templates {
		name := filepath.Base(path)
		// The largest: Istio has some in several sizes.
		largest := benchmark{Name: name}
		for _, one := range benchmarks {
			if one.ConfigName+".yaml" == name && one.Services+one.Instances >= largest.Services+largest.Instances {
				largest = one
			}
		}
		parsed, err := template.New(name).Funcs(sprig.TxtFuncMap()).ParseFiles(path)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, largest); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d benchmark configurations rendered\n", len(templates))
	return nil
}

// readBenchmarks takes every literal of `[]ConfigInput{…}` in the file.
func readBenchmarks(file string) ([]benchmark, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []benchmark
	ast.Inspect(parsed, func(node ast.Node) bool {
		table, is := node.(*ast.CompositeLit)
		if !is {
			return true
		}
		list, is := table.Type.(*ast.ArrayType)
		if !is {
			return true
		}
		if of, is := list.Elt.(*ast.Ident); !is || of.Name != "ConfigInput" {
			return true
		}
		for _, row := range table.Elts {
			if row, is := row.(*ast.CompositeLit); is {
				all = append(all, readBenchmark(row))
			}
		}
		return false
	})
	if len(all) == 0 {
		return nil, errors.New(file + " has no table of benchmarks")
	}
	return all, nil
}

func readBenchmark(row *ast.CompositeLit) benchmark {
	var read benchmark
	for _, element := range row.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		name, named := pair.Key.(*ast.Ident)
		value, literal := pair.Value.(*ast.BasicLit)
		if !named || !literal {
			continue
		}
		switch name.Name {
		case "Name":
			read.Name, _ = strconv.Unquote(value.Value)
		case "ConfigName":
			read.ConfigName, _ = strconv.Unquote(value.Value)
		case "Services":
			read.Services, _ = strconv.Atoi(value.Value)
		case "Instances":
			read.Instances, _ = strconv.Atoi(value.Value)
		}
	}
	if read.ConfigName == "" {
		read.ConfigName = read.Name
	}
	return read
}
