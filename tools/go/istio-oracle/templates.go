package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"istio.io/istio/istioctl/pkg/install/k8sversion"
)

// A rendering is one question: a chart as files, and what it is rendered with.
type rendering struct {
	Chart  map[string]string `json:"chart"`
	Values json.RawMessage   `json:"values"`
	// Numbers says which Go type the numbers of the values have: "float" as istioctl reads files, "int" for whole
	// ones as `--set` makes them, "json" as Helm's own command reads files. It shows: 1000000 is 1e+06 as a float.
	Numbers string `json:"numbers"`
	Release struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Revision  int    `json:"revision"`
		IsUpgrade bool   `json:"isUpgrade"`
		IsInstall bool   `json:"isInstall"`
	} `json:"release"`
	KubeVersion string `json:"kubeVersion"`
	// Dependencies: conditions, tags, aliases and imported values of sub-charts count. Istioctl does without.
	Dependencies bool `json:"dependencies"`
	// NotStrict is true unless it is said to be false: then a value that is not there is an error.
	NotStrict *bool `json:"notStrict"`
}

type rendered struct {
	Files map[string]string `json:"files"`
	// Step is where the error comes from: request, load, dependencies, values or render.
	Step  string `json:"step,omitempty"`
	Error string `json:"error,omitempty"`
}

// quietHelm: Helm warns of values that it drops, once for each of thousands of charts.
func quietHelm() {
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
}

var none = map[string]string{}

func renderTemplates(line []byte) any {
	var asked rendering
	if err := readStrictly(line, &asked); err != nil {
		return rendered{Files: none, Step: "request", Error: err.Error()}
	}
	files, step, err := asked.render()
	if err != nil {
		return rendered{Files: none, Step: step, Error: err.Error()}
	}
	return rendered{Files: files}
}

// render goes the way of istioctl: load, coalesce, check the schema, render.
func (r *rendering) render() (files map[string]string, step string, err error) {
	values, err := readValues(r.Values, r.Numbers)
	if err != nil {
		return nil, "request", err
	}
	capabilities, err := capabilitiesOf(r.KubeVersion)
	if err != nil {
		return nil, "request", err
	}
	loaded, err := loadChart(r.Chart)
	if err != nil {
		return nil, "load", err
	}
	if r.Dependencies {
		if err := chartutil.ProcessDependencies(loaded, values); err != nil {
			return nil, "dependencies", err
		}
	}
	options := common.ReleaseOptions(r.Release)
	top, err := commonutil.ToRenderValues(loaded, values, options, capabilities)
	if err != nil {
		return nil, "values", err
	}
	strict := r.NotStrict != nil && !*r.NotStrict
	files, err = engine.Engine{Strict: strict}.Render(loaded, top)
	return files, "render", err
}

// loadChart takes the files in the order of their names, as a walk through a folder does.
func loadChart(files map[string]string) (*chart.Chart, error) {
	var all []*archive.BufferedFile
	for name, text := range files {
		all = append(all, &archive.BufferedFile{Name: name, Data: []byte(text)})
	}
	slices.SortFunc(all, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	return loader.LoadFiles(all)
}

// capabilitiesOf is what istioctl assumes without a cluster, but for the version if one is given.
func capabilitiesOf(kubeVersion string) (*common.Capabilities, error) {
	if kubeVersion == "" {
		kubeVersion = "1." + strconv.Itoa(k8sversion.MinK8SVersion) + ".0"
	}
	version, err := common.ParseKubeVersion(kubeVersion)
	if err != nil {
		return nil, err
	}
	capabilities := *common.DefaultCapabilities
	capabilities.KubeVersion = *version
	return &capabilities, nil
}

func readValues(text []byte, numbers string) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	switch numbers {
	case "", "float":
	case "int", "json":
		decoder.UseNumber()
	default:
		return nil, fmt.Errorf("numbers: %q is none of float, int, json", numbers)
	}
	values := map[string]any{}
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	if numbers == "int" {
		wholeNumbers(values)
	}
	return values, nil
}

// wholeNumbers gives every number the type that the text of a `--set` would get.
func wholeNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			value[key] = wholeNumbers(inner)
		}
	case []any:
		for i, inner := range value {
			value[i] = wholeNumbers(inner)
		}
	case json.Number:
		if whole, err := strconv.Atoi(value.String()); err == nil {
			return whole
		}
		float, _ := value.Float64()
		return float
	}
	return value
}

// readStrictly: a question with a wrong key is not the question that was meant.
func readStrictly(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
