{{/*
The same file in every chart of this folder. It computes once, and keeps as `.Mesh` of the chart's root,
what all objects need:

  .Mesh.values      defaults < profile < compatibility version < platform < the user's values
  .Mesh.user        the user's values alone
  .Mesh.rev         the revision, "default" when there is none; .Mesh.suffix is "-REVISION" or nothing
  .Mesh.cluster     whether objects of the cluster's scope are asked for; .Mesh.namespaced: those in a namespace
  .Mesh.labels      three sets of labels: plain < released < owned

Helm hands out defaults and user values already mixed; a profile could not be slipped between them. That is why
values.yaml keeps the defaults under one key of its own, `defaults`, that nothing but this file reads.
Call: include "mesh" (list . APP COMPONENT)
*/}}
{{- define "mesh" -}}
{{- $root := first . -}}
{{- if not (hasKey $root "Mesh") -}}
  {{- $user := omit $root.Values "defaults" -}}
  {{- $values := deepCopy $root.Values.defaults -}}
  {{- /* A section that is only named (`pilot:` and nothing below) says nothing, it does not remove the section. */ -}}
  {{- range list (list $user $values) (list ($user.gateways | default dict) ($values.gateways | default dict)) -}}
    {{- $asked := first . -}}
    {{- range $key, $_ := last . -}}
      {{- if and (kindIs "map" .) (hasKey $asked $key) (kindIs "invalid" (get $asked $key)) }}{{ $_ := unset $asked $key }}{{ end }}{{ end }}{{ end -}}
  {{- $layers := $root.Files.Get "files/layers.yaml" | fromYaml -}}
  {{- $global := $user.global | default dict -}}
  {{- range list
        (list "profile" ($user.profile | default $global.profile))
        (list "compatibilityVersion" $user.compatibilityVersion)
        (list "platform" ($user.platform | default $global.platform)) -}}
    {{- $kind := index . 0 -}}{{- $name := index . 1 | default "" | toString -}}
    {{- if $name -}}
      {{- $known := get $layers $kind -}}
      {{- if not (hasKey $known $name) -}}
        {{- fail (printf "%s %q is not known; there are: %s" $kind $name (keys $known | sortAlpha | join ", ")) }}{{ end -}}
      {{- $_ := mustMergeOverwrite $values (get $known $name | deepCopy) }}{{ end }}{{ end -}}
  {{- /* `pilot.` may be left out, as in Istio's chart: what is a key of pilot counts there. */ -}}
  {{- with $root.Values.defaults.pilot -}}
    {{- range concat (keys .) (list "pdb" "trustedZtunnelName" "initContainers" "terminationMessagePolicy" "deploymentAnnotations"
          "sidecarInjectorWebhookAnnotations" "trafficDistribution") -}}
      {{- if hasKey $user . }}{{ $_ := mustMergeOverwrite $values (dict "pilot" (pick $user . | deepCopy)) }}{{ end }}{{ end }}{{ end -}}
  {{- $_ := mustMergeOverwrite $values (deepCopy $user) -}}
  {{- include "mesh.erase" (list $values $user $root.Values.defaults) -}}
  {{- if and (hasKey $values.global "tag") (empty $values.global.tag) }}{{ $_ := set $values.global "tag" $root.Chart.AppVersion }}{{ end -}}
  {{- $_ := set $root "Mesh" (dict "values" $values "user" $user) -}}
  {{- $scope := ($values.global).resourceScope | default "all" -}}
  {{- if not (has $scope (list "all" "cluster" "namespace")) -}}
    {{- fail (printf "global.resourceScope is %q; it can be all, cluster or namespace" $scope) }}{{ end -}}
  {{- $_ := set $root.Mesh "cluster" (ne $scope "namespace") -}}
  {{- $_ := set $root.Mesh "namespaced" (ne $scope "cluster") -}}
  {{- $_ := set $root.Mesh "rev" ($values.revision | default "default") -}}
  {{- $_ := set $root.Mesh "suffix" (empty $values.revision | ternary "" (print "-" $values.revision)) -}}
  {{- $plain := dict
        "app.kubernetes.io/name" (index . 1)
        "app.kubernetes.io/instance" $root.Release.Name
        "app.kubernetes.io/managed-by" $root.Release.Service
        "app.kubernetes.io/part-of" "istio"
        "app.kubernetes.io/version" $root.Chart.AppVersion
        "helm.sh/chart" (print $root.Chart.Name "-" $root.Chart.Version | replace "+" "_" | trunc 63) -}}
  {{- $released := merge (dict "release" $root.Release.Name) $plain -}}
  {{- $owned := merge (dict
        "istio.io/rev" $root.Mesh.rev
        "install.operator.istio.io/owning-resource" ($values.ownerName | default "unknown")
        "operator.istio.io/component" (index . 2)) $released -}}
  {{- $_ := set $root.Mesh "labels" (dict "plain" $plain "released" $released "owned" $owned) }}{{ end -}}
{{- end -}}

{{/* What the user set to null goes away; a map that we have a default for becomes empty. (values, user, defaults) */}}
{{- define "mesh.erase" -}}
{{- $values := index . 0 -}}{{- $defaults := index . 2 -}}
{{- range $key, $asked := index . 1 -}}
  {{- $default := kindIs "map" $defaults | ternary $defaults dict | dig $key "" -}}
  {{- if and (kindIs "invalid" $asked) (kindIs "map" $default) -}}
    {{- $_ := set $values $key dict -}}
  {{- else if kindIs "invalid" $asked -}}
    {{- $_ := unset $values $key -}}
  {{- else if kindIs "map" $asked -}}
    {{- include "mesh.erase" (list (get $values $key) $asked $default) }}{{ end }}{{ end -}}
{{- end -}}

{{/* A table of (template, whether to render it) becomes a stream of documents; with a third column, a list, the template
     is called for each item of it, with (root, item) instead of the root. (root, table) */}}
{{- define "mesh.objects" -}}
{{- $root := first . -}}
{{- range $row := last . }}{{ if index $row 1 }}{{ range $item := len $row | eq 3 | ternary (last $row) (list $root) }}
---
{{ include (first $row) (len $row | eq 3 | ternary (list $root $item) $root) }}
{{- end }}{{ end }}{{ end }}{{ end -}}

{{/* The metadata of an object: at (root), name, and as needed namespace, set (of labels; owned unless said), labels, annotations */}}
{{- define "mesh.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ quote . }}{{ end }}
labels: {{- include "mesh.strings" (mergeOverwrite dict (get .at.Mesh.labels (.set | default "owned")) (.labels | default dict)) | nindent 2 }}
{{- with .annotations }}
annotations: {{- include "mesh.strings" . | nindent 2 }}{{ end }}
{{- end -}}

{{/* A map with every value as a string, empty ones left out: labels, annotations */}}
{{- define "mesh.strings" -}}
{{- $all := dict -}}
{{- range $key, $value := . }}{{ if not (kindIs "invalid" $value) }}{{ $_ := set $all $key (include "mesh.text" $value) }}{{ end }}{{ end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* A value as text; numbers without an exponent */}}
{{- define "mesh.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end -}}

{{/* Those fields of a map that are not empty */}}
{{- define "mesh.present" -}}
{{- $kept := dict -}}
{{- range $key, $value := . }}{{ if $value }}{{ $_ := set $kept $key $value }}{{ end }}{{ end -}}
{{- if $kept }}{{ toYaml $kept }}{{ end -}}
{{- end -}}

{{/* An environment: ours, a list of (name, text or valueFrom); then theirs (a map), then more (a list of entries).
     A name that the user sets is not set by us, too: the API server refuses doubles. (ours, theirs, more) */}}
{{- define "mesh.env" -}}
{{- $theirs := index . 1 | default dict -}}{{- $more := index . 2 | default list -}}
{{- $taken := keys $theirs -}}
{{- range $more }}{{ $taken = append $taken .name }}{{ end -}}
{{- $all := list -}}
{{- range index . 0 -}}
  {{- $field := kindIs "map" (last .) | ternary "valueFrom" "value" -}}
  {{- if not (has (first .) $taken) }}{{ $all = append $all (dict "name" (first .) $field (last .)) }}{{ end }}{{ end -}}
{{- range $name, $value := $theirs }}{{ $all = append $all (dict "name" $name "value" (include "mesh.text" $value)) }}{{ end -}}
{{- toYaml (concat $all $more) -}}
{{- end -}}

{{/* hub/name:tag-variant, or the name alone when it is a whole reference. (root, name, hub, tag, variant) */}}
{{- define "mesh.image" -}}
{{- $global := (first .).Mesh.values.global -}}{{- $name := index . 1 | default "mizzen" -}}
{{- $hub := index . 2 | default $global.hub -}}{{- $tag := index . 3 | default $global.tag -}}
{{- $variant := index . 4 | default $global.variant -}}
{{- if contains "/" $name }}{{ $name }}{{ else }}{{ $hub }}/{{ $name }}:{{ include "mesh.text" $tag }}{{ with $variant }}-{{ . }}{{ end }}{{ end -}}
{{- end -}}
