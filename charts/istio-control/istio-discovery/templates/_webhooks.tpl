{{/*
Webhooks: injection, for the revision and for each of its tags, and validation. Nobody serves them yet, hence Ignore.

Which pod goes to which injection webhook is a table of (key, operator, values…) for the namespace and for the pod; rows
exclude each other, so that a pod is injected once. By revision: the namespace names it, or only the pod does. The
default revision also listens to the older labels, istio-injection and sidecar.istio.io/inject.
*/}}
{{- define "istiod.injection" -}}
{{- include "istiod.injector-webhooks" (dict "at" . "name" (print "istio-sidecar-injector" .Mesh.suffix) "labels" dict
  "answers" .Mesh.rev "default" (empty .Mesh.values.revision)) -}}
{{- end -}}

{{- define "istiod.tag-injection" -}}
{{- $tag := last . -}}
{{- include "istiod.injector-webhooks" (dict "at" (first .) "name" (print "istio-revision-tag-" $tag) "labels" (dict "istio.io/tag" $tag)
  "answers" $tag "default" (eq $tag "default")) -}}
{{- end -}}

{{/* (at, name, labels, answers: the revision or tag that pods ask for, default: whether it serves the older labels) */}}
{{- define "istiod.injector-webhooks" -}}
{{- $root := .at -}}{{- $m := .at.Mesh -}}{{- $v := $m.values -}}
{{- $unlabelled := list (list "istio.io/rev" "DoesNotExist") (list "istio-injection" "DoesNotExist") -}}
{{- $willing := list "sidecar.istio.io/inject" "NotIn" "false" -}}
{{- $asks := list "istio.io/rev" "In" .answers -}}
{{- $rows := list
      (list "rev.namespace." (list $asks (last $unlabelled)) (list $willing))
      (list "rev.object." $unlabelled (list $willing $asks)) -}}
{{- if .default -}}
  {{- $rows = append $rows (list "namespace." (list (list "istio-injection" "In" "enabled")) (list $willing)) -}}
  {{- $rows = append $rows (list "object." $unlabelled (list (list "sidecar.istio.io/inject" "In" "true") (first $unlabelled))) -}}
  {{- if $v.sidecarInjectorWebhook.enableNamespacesByDefault -}}
    {{- $system := list "kubernetes.io/metadata.name" "NotIn" "kube-system" "kube-public" "kube-node-lease" "local-path-storage" -}}
    {{- $rows = append $rows (list "auto." (append $unlabelled $system) (list (list "sidecar.istio.io/inject" "DoesNotExist") (first $unlabelled))) }}{{ end }}{{ end -}}
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {{- include "mesh.metadata" (dict "at" .at "name" (print .name (eq .at.Release.Namespace "istio-system" | ternary "" (print "-" .at.Release.Namespace)))
  "labels" (merge (dict "app" "sidecar-injector") .labels) "annotations" $v.pilot.sidecarInjectorWebhookAnnotations) | nindent 2 }}
webhooks:
{{- range $rows }}
- name: {{ first . }}sidecar-injector.istio.io
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  reinvocationPolicy: {{ $v.sidecarInjectorWebhook.reinvocationPolicy | default "Never" }}
  clientConfig:
    {{- if $v.istiodRemote.injectionURL }}
    url: {{ quote $v.istiodRemote.injectionURL }}
    {{- else }}
    service: {name: {{ $m.name }}, namespace: {{ quote $root.Release.Namespace }}, path: {{ $v.istiodRemote.injectionPath | default "/inject" | quote }}, port: 443}{{ end }}
    {{- include "mesh.present" (dict "caBundle" $v.istiodRemote.injectionCABundle) | nindent 4 }}
  rules:
  - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}
  namespaceSelector: {{- include "istiod.selector" (index . 1) | nindent 4 }}
  objectSelector: {{- include "istiod.selector" (index . 2) | nindent 4 }}
{{- end }}{{ end -}}

{{- define "istiod.selector" -}}
matchExpressions:
{{- range . }}
- {{ include "mesh.present" (dict "key" (index . 0) "operator" (index . 1) "values" (slice . 2)) | nindent 2 | trim }}
{{- end }}{{ end -}}

{{- define "istiod.validation" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{- include "mesh.metadata" (dict "at" . "name" (print "istio-validator" .Mesh.suffix "-" .Mesh.values.global.istioNamespace) "set" "released"
  "labels" (dict "app" "istiod" "istio" "istiod" "istio.io/rev" .Mesh.rev)) | nindent 2 }}
webhooks:
{{ include "mesh.validation" (list . "rev.validation.istio.io" .Mesh.name) }}
  objectSelector:
    matchExpressions:
    - {key: istio.io/rev, operator: In, values: [{{ quote .Mesh.rev }}]}
{{- end -}}

{{- define "istiod.policy" -}}
{{- $of := print .Mesh.suffix "-" .Mesh.values.global.istioNamespace ".istio.io" -}}
{{- include "mesh.stable" (dict "policy" (print "stable-channel-policy" $of) "binding" (print "stable-channel-policy-binding" $of) "rev" .Mesh.rev
  "metadata" (include "mesh.metadata" (dict "at" . "name" (print "stable-channel-policy" $of) "set" "plain"))) -}}
{{- end -}}
