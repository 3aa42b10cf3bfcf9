package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/hashicorp/go-multierror"
	admission "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pkg/config/schema/collection"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/config/schema/resource"
	"istio.io/istio/pkg/config/validation/agent"
	"istio.io/istio/pkg/webhooks/validation/server"
)

// A verdict is what the webhook would answer the API server, in pieces.
type verdict struct {
	Known    bool     `json:"known"`
	Accepted bool     `json:"accepted"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	// Decode is why the object could not be read at all; then nothing was validated.
	Decode string `json:"decode,omitempty"`
	// Message is the webhook's own sentence, as a user of kubectl sees it.
	Message string `json:"message,omitempty"`
	// CRD is what the schema and its CEL rules say; absent where no CRD is known for the object.
	CRD *crdVerdict `json:"crd,omitempty"`
}

type judge struct {
	schemas collection.Schemas
	webhook http.Handler
	crds    crds
}

// newJudge sets up the webhook as istiod does. The CRDs are optional: compiling their rules takes a second.
func newJudge(crdFile string) (*judge, error) {
	mux := http.NewServeMux()
	schemas := collections.PilotGatewayAPI()
	if _, err := server.New(server.Options{Schemas: schemas, DomainSuffix: "cluster.local", Mux: mux}); err != nil {
		return nil, err
	}
	judge := &judge{schemas: schemas, webhook: mux}
	if crdFile != "" {
		var err error
		if judge.crds, err = readCRDs(crdFile); err != nil {
			return nil, err
		}
	}
	return judge, nil
}

func (j *judge) verdict(line []byte) any {
	if mesh, ok := meshVerdict(line); ok {
		return mesh
	}
	said := verdict{Errors: []string{}, Warnings: []string{}}
	said.CRD = j.crds.verdict(line)
	var object crd.IstioKind
	if err := json.Unmarshal(line, &object); err != nil {
		said.Decode = err.Error()
		return said
	}
	gvk := object.GroupVersionKind()
	schema, known := j.schemas.FindByGroupKind(resource.FromKubernetesGVK(&gvk))
	if said.Known = known; !known {
		return said
	}
	response, err := j.ask(line, &object)
	if err != nil {
		said.Decode = err.Error()
		return said
	}
	said.Accepted = response.Allowed
	said.Warnings = append(said.Warnings, response.Warnings...)
	if response.Result != nil {
		said.Message = response.Result.Message
	}
	if said.Accepted {
		return said
	}
	// The webhook puts all errors into one text; asked piece by piece, its own functions say them one by one.
	config, err := crd.ConvertObject(schema, &object, "cluster.local")
	if err != nil {
		said.Decode = err.Error()
		return said
	}
	warning, err := schema.ValidateConfig(*config)
	said.Warnings = append(said.Warnings, flatten(warning)...)
	if said.Errors = append(said.Errors, flatten(err)...); len(said.Errors) == 0 {
		said.Errors = append(said.Errors, said.Message)
	}
	return said
}

// ask sends the object to the real webhook as the API server would.
func (j *judge) ask(raw []byte, object *crd.IstioKind) (*admission.AdmissionResponse, error) {
	gvk := object.GroupVersionKind()
	body, err := json.Marshal(admission.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admission.AdmissionRequest{
			UID:       "oracle",
			Kind:      metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
			Name:      object.Name,
			Namespace: object.Namespace,
			Operation: admission.Create,
			Object:    runtime.RawExtension{Raw: raw},
		},
	})
	if err != nil {
		return nil, err
	}
	request := httptest.NewRequest(http.MethodPost, "/validate", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	j.webhook.ServeHTTP(answer, request)
	var review admission.AdmissionReview
	if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil {
		return nil, fmt.Errorf("webhook: %s", strings.TrimSpace(answer.Body.String()))
	}
	if review.Response == nil {
		return nil, errors.New("webhook: no response")
	}
	return review.Response, nil
}

// flatten takes an error apart as far as it was put together.
func flatten(err error) []string {
	switch err := err.(type) {
	case nil:
		return nil
	case *multierror.Error:
		if err == nil {
			return nil
		}
		var all []string
		for _, one := range err.Errors {
			all = append(all, flatten(one)...)
		}
		return all
	case agent.Validation:
		return flatten(err.Err)
	case *agent.Validation:
		return flatten(err.Err)
	}
	return []string{err.Error()}
}
