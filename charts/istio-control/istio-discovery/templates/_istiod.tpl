{{/*
What every object of this chart asks, added to `.Mesh` (see _mesh.tpl):

  .Mesh.name     istiod, with the revision's suffix
  .Mesh.runs     a control plane runs in this cluster
  .Mesh.guards   Istio objects are written to this cluster: they must be validated and read here
  .Mesh.remote   name of the Service for a control plane elsewhere, empty if there is none
  .Mesh.mcs      API group of multi-cluster services
  .Mesh.selects  labels that select the control plane's pods
*/}}
{{- define "istiod" -}}
{{- include "mesh" (list . "istiod" "Pilot") -}}
{{- if not (hasKey .Mesh "name") -}}
{{- $v := .Mesh.values -}}
{{- $_ := mustMergeOverwrite $v.istiodRemote ($v.pilot.istiodRemote | default dict) -}}
{{- $away := $v.istiodRemote.enabled -}}{{- $both := and $away $v.istiodRemote.enabledLocalInjectorIstiod -}}
{{- $name := print "istiod" .Mesh.suffix -}}
{{- $_ := set .Mesh "name" $name -}}
{{- $_ := set .Mesh "runs" (or (not $away) $both) -}}
{{- $_ := set .Mesh "guards" (or .Mesh.runs $v.global.configCluster) -}}
{{- $_ := set .Mesh "remote" (and $away $v.global.remotePilotAddress | empty | ternary "" (print $name (empty $both | ternary "" "-remote"))) -}}
{{- $_ := set .Mesh "mcs" (get $v.pilot.env "MCS_API_GROUP" | default "multicluster.x-k8s.io") -}}
{{- $_ := set .Mesh "selects" (empty $v.revision | ternary (dict "app" "istiod" "istio" "pilot") (dict "app" "istiod" "istio.io/rev" .Mesh.rev)) -}}
{{- if eq $v.global.pilotCertProvider "kubernetes" -}}
  {{- fail "global.pilotCertProvider: kubernetes is no longer there; use istiod, custom, none or k8s.io/SIGNER" }}{{ end }}{{ end -}}
{{- end -}}

{{/* Whether a switch of pilot.env is on, written as text or not. (root, name) */}}
{{- define "istiod.switch" -}}
{{- get (first .).Mesh.values.pilot.env (last .) | toString -}}
{{- end -}}
