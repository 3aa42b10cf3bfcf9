{{/*
Both gateway charts have the same templates: the chart's name says which gateway it is. Added to `.Mesh` (see _mesh.tpl):

  .Mesh.gateway    its values: gateways.istio-ingressgateway or gateways.istio-egressgateway
  .Mesh.kind       istio-ingressgateway or istio-egressgateway
  .Mesh.account    name of its account
*/}}
{{- define "gateway" -}}
{{- $kind := print .Chart.Name "gateway" -}}
{{- include "mesh" (list . $kind (eq $kind "istio-ingressgateway" | ternary "IngressGateways" "EgressGateways")) -}}
{{- if not (hasKey .Mesh "gateway") -}}
{{- $gateway := get .Mesh.values.gateways $kind -}}
{{- $_ := set $gateway "name" ($gateway.name | default $kind) -}}
{{- $_ := set .Mesh "gateway" $gateway -}}
{{- $_ := set .Mesh "kind" $kind -}}
{{- $_ := set .Mesh "account" (print $gateway.name "-service-account") }}{{ end -}}
{{- end -}}

{{/* Name (with an ending), namespace and labels of one of the gateway's objects. (at, and as needed ending, labels, annotations) */}}
{{- define "gateway.metadata" -}}
{{- include "mesh.metadata" (dict "at" .at "name" (print .at.Mesh.gateway.name (.ending | default "")) "namespace" .at.Release.Namespace
  "labels" (.labels | default dict) "annotations" .annotations) -}}
{{- end -}}
