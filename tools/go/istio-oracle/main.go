// istio-oracle asks Istio's own code what it thinks: of objects (verdicts, encode), of charts, merges and patches, of its
// defaults, and of the rows of its own tests. Objects come in as JSON lines and each line is answered with one line, so that a test
// starts the program once for any number of objects.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"istio.io/istio/pkg/log"
)

const usage = `istio-oracle verdicts [CRDS.yaml]  objects as JSON lines in; what Istio's webhook (and the CRDs) say, a line each
istio-oracle encode                objects as JSON lines in; their spec as Istio's own code writes it, a line each
istio-oracle templates             {chart, values, release, …} in; what Helm renders as istioctl uses it
istio-oracle injection             {template, data} in; what the template engine of Istio's injection makes of it
istio-oracle patch                 {object, patch} in; the object after a strategic merge
istio-oracle set                   {tree, set} in; the tree after istioctl's --set
istio-oracle merge                 {base, overlay} in; one tree over the other
istio-oracle overlay               {object, patches} in; the object after the patches of k8s.overlays
istio-oracle operator              {iop} in; what istioctl says of an IstioOperator
istio-oracle defaults              the default MeshConfig, ProxyConfig and MeshNetworks
istio-oracle shapes                the Go types of IstioOperator and of Kubernetes' kinds: fields, types, rules for patches

With go, in the folder of this program's source:
istio-oracle benchmarks DIR        every configuration of Istio's benchmarks, rendered, a file each
istio-oracle rows DIR              every row of Istio's validation tests: DIR/rows.jsonl, and counts in DIR/tests.json;
                                   of the operator's tests: DIR/operator-rows.jsonl and DIR/operator-tests.json
istio-oracle data DIR              both, the first in DIR/benchmarks`

// byLine has the verbs that need nothing but the line.
var byLine = map[string]func([]byte) any{
	"encode":    encode,
	"templates": renderTemplates,
	"injection": renderInjection,
	"patch":     patch,
	"set":       set,
	"merge":     merge,
	"overlay":   overlay,
	"operator":  operator,
}

func main() {
	// Istio logs to standard output, which is ours.
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	verb, args := first(args)
	argument, _ := first(args)
	switch {
	case verb == "verdicts":
		judge, err := newJudge(argument)
		if err != nil {
			return err
		}
		return answerLines(os.Stdin, os.Stdout, judge.verdict)
	case byLine[verb] != nil:
		quietHelm()
		return answerLines(os.Stdin, os.Stdout, byLine[verb])
	case verb == "defaults":
		return printDefaults(os.Stdout)
	case verb == "shapes":
		return printShapes(os.Stdout)
	case verb == "benchmarks" && argument != "":
		return writeBenchmarks(argument)
	case verb == "rows" && argument != "":
		return writeRows(argument)
	case verb == "data" && argument != "":
		if err := writeBenchmarks(filepath.Join(argument, "benchmarks")); err != nil {
			return err
		}
		return writeRows(argument)
	}
	fmt.Fprintln(os.Stderr, usage)
	os.Exit(2)
	return nil
}

func first(args []string) (string, []string) {
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}
