{{/* A CRD, with this release's labels instead of its own unless it shall stay as it is. (root, text) */}}
{{- define "base.crd" -}}
{{- $root := first . -}}{{- $base := $root.Mesh.values.base -}}
{{- if not $base.enableCRDTemplates }}{{ last . }}{{ else -}}
{{- $crd := last . | fromYaml -}}
{{- $_ := set $crd.metadata "labels" (omit $root.Mesh.labels.plain "app.kubernetes.io/name") -}}
{{- if not (has $crd.metadata.name ($base.excludedCRDs | default list)) }}{{ toYaml $crd }}{{ end }}{{ end -}}
{{- end -}}

{{/* The account that other clusters' control planes read this cluster with */}}
{{- define "base.reader" -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "mesh.metadata" (dict "at" . "name" "istio-reader-service-account" "namespace" .Mesh.values.global.istioNamespace
  "set" "released" "labels" (dict "app" "istio-reader" "app.kubernetes.io/name" "istio-reader")) | nindent 2 }}
{{- with .Mesh.values.global.imagePullSecrets }}
imagePullSecrets: {{- range . }}
- name: {{ . }}{{ end }}{{ end }}
{{- end -}}

{{- define "base.validator" -}}
{{- $v := .Mesh.values -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{- include "mesh.metadata" (dict "at" . "name" "istiod-default-validator" "set" "released"
  "labels" (dict "app" "istiod" "istio" "istiod" "istio.io/rev" $v.defaultRevision)) | nindent 2 }}
webhooks:
{{ include "mesh.validation" (list . "validation.istio.io" (eq $v.defaultRevision "default" | ternary "istiod" (print "istiod-" $v.defaultRevision))) }}
{{- end -}}

{{- define "base.policy" -}}
{{- include "mesh.stable" (dict "policy" "stable-channel-default-policy.istio.io" "binding" "stable-channel-default-policy-binding.istio.io"
  "metadata" (include "mesh.metadata" (dict "at" . "name" "stable-channel-default-policy.istio.io" "set" "released"
    "labels" (dict "istio" "istiod" "istio.io/rev" .Mesh.values.defaultRevision)))) -}}
{{- end -}}
