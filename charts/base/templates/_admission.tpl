{{/* What decides whether an Istio object is let in; the same file in the charts base and istiod. */}}

{{/* The webhook that validates Istio objects. Nobody serves it yet: a failure must not keep objects out. (root, name, service) */}}
{{- define "mesh.validation" -}}
{{- $v := (first .).Mesh.values -}}
- name: {{ index . 1 }}
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig:
    {{- if ($v.base).validationURL }}
    url: {{ quote $v.base.validationURL }}
    {{- else }}
    service: {name: {{ last . }}, namespace: {{ quote $v.global.istioNamespace }}, path: /validate}{{ end }}
    {{- include "mesh.present" (dict "caBundle" ($v.base).validationCABundle) | nindent 4 }}
  rules:
  - operations: [CREATE, UPDATE]
    apiGroups: [security.istio.io, networking.istio.io, telemetry.istio.io, extensions.istio.io]
    apiVersions: ["*"]
    resources: ["*"]
{{- end -}}

{{/* The policy of the stable channel and its binding; the API server itself applies it. (policy, binding, metadata, rev) */}}
{{- define "mesh.stable" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{- .metadata | nindent 2 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - operations: [CREATE, UPDATE]
      apiGroups: [security.istio.io, networking.istio.io, telemetry.istio.io, extensions.istio.io]
      apiVersions: ["*"]
      resources: ["*"]
    {{- with .rev }}
    objectSelector:
      matchExpressions:
      - {key: istio.io/rev, operator: In, values: [{{ quote . }}]}
    {{- end }}
  variables:
  - name: spec
    expression: "has(object.spec) ? object.spec : {}"
  validations:
  - expression: "!(object.kind in ['EnvoyFilter', 'WasmPlugin', 'ProxyConfig'])"
    message: this kind is not in the stable channel
  - expression: >-
      object.kind != 'Telemetry' || !has(variables.spec.tracing) ||
      variables.spec.tracing.all(t, !has(t.useRequestIdForTraceSampling))
    message: tracing.useRequestIdForTraceSampling is not in the stable channel
  - expression: >-
      object.kind != 'Telemetry' || !has(variables.spec.metrics) ||
      variables.spec.metrics.all(m, !has(m.reportingInterval))
    message: metrics.reportingInterval is not in the stable channel
  - expression: >-
      object.kind != 'Telemetry' || !has(variables.spec.accessLogging) ||
      variables.spec.accessLogging.all(l, !has(l.filter))
    message: accessLogging.filter is not in the stable channel
  - expression: >-
      object.kind != 'AuthorizationPolicy' || !has(variables.spec.rules) ||
      variables.spec.rules.all(r, !has(r.from) ||
      r.from.all(f, !has(f.source) || !(has(f.source.trustDomains) || has(f.source.notTrustDomains))))
    message: source.trustDomains and source.notTrustDomains are not in the stable channel
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .binding }}
spec:
  policyName: {{ .policy }}
  validationActions: [Deny]
{{- end -}}
