{{/* ConfigMaps: the mesh's configuration, injection, the values themselves, and smaller ones */}}

{{- define "istiod.mesh" -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "mesh.metadata" (dict "at" . "name" (print "istio" .Mesh.suffix) "namespace" .Release.Namespace) | nindent 2 }}
data:
  meshNetworks: |- {{- toYaml (dict "networks" (.Mesh.values.global.meshNetworks | default dict)) | nindent 4 }}
  mesh: |- {{- include "istiod.mesh-config" . | nindent 4 }}
{{- end -}}

{{/* What follows from other values, under what the user's meshConfig says */}}
{{- define "istiod.mesh-config" -}}
{{- $v := .Mesh.values -}}{{- $g := $v.global -}}{{- $said := $v.meshConfig | default dict -}}
{{- /* Elsewhere or here: the Service of this revision. */ -}}
{{- $proxy := dict "discoveryAddress" (print (.Mesh.remote | default .Mesh.name) "." .Release.Namespace ".svc:15012") -}}
{{- with $g.meshID }}{{ $_ := set $proxy "meshId" . }}{{ end -}}
{{- with ($g.proxy).variant | default $g.variant }}{{ $_ := set $proxy "image" (dict "imageType" .) }}{{ end -}}
{{- with include "istiod.tracer" . | fromYaml }}{{ $_ := set $proxy "tracing" . }}{{ end -}}
{{- $mesh := dict
      "trustDomain" "cluster.local"
      "rootNamespace" ($said.rootNamespace | default $g.istioNamespace)
      "defaultConfig" $proxy -}}
{{- $v2 := ($v.telemetry).v2 -}}
{{- if and ($v.telemetry).enabled ($v2).enabled (not $said.defaultProviders) -}}
  {{- $metrics := list -}}
  {{- if (($v2).prometheus).enabled }}{{ $metrics = append $metrics "prometheus" }}{{ end -}}
  {{- if (($v2).stackdriver).enabled }}{{ $metrics = append $metrics "stackdriver" }}{{ end -}}
  {{- $providers := dict -}}
  {{- if $metrics }}{{ $_ := set $providers "metrics" $metrics }}{{ end -}}
  {{- if has "stackdriver" $metrics }}{{ $_ := set $providers "accessLogging" (list "stackdriver") }}{{ end -}}
  {{- if $providers }}{{ $_ := set $mesh "defaultProviders" $providers }}{{ end }}{{ end -}}
{{- toYaml (mustMergeOverwrite $mesh (deepCopy $said)) -}}
{{- end -}}

{{/* The older way to name a tracer, as ProxyConfig.tracing */}}
{{- define "istiod.tracer" -}}
{{- $g := .Mesh.values.global -}}{{- $kind := ($g.proxy).tracer | default "none" -}}
{{- $set := get ($g.tracer | default dict) $kind | default dict -}}
{{- $defaults := dict
      "zipkin" (dict "address" (print "zipkin." $g.istioNamespace ":9411"))
      "datadog" (dict "address" "$(HOST_IP):8126")
      "lightstep" dict
      "stackdriver" (dict "debug" false "maxNumberOfAttributes" 200 "maxNumberOfAnnotations" 200 "maxNumberOfMessageEvents" 200) -}}
{{- if hasKey $defaults $kind }}{{ toYaml (dict $kind (merge (deepCopy $set) (get $defaults $kind))) }}{{ end -}}
{{- end -}}

{{/* Templates and policy for the injector, and those values that templates may read */}}
{{- define "istiod.injector" -}}
{{- $v := .Mesh.values -}}{{- $hook := $v.sidecarInjectorWebhook -}}
{{- $templates := dict
      "sidecar" (.Files.Get "files/inject-sidecar.yaml")
      "gateway" (.Files.Get "files/inject-gateway.yaml") -}}
{{- $config := dict
      "policy" ($v.global.proxy.autoInject | default "enabled")
      "defaultTemplates" ($hook.defaultTemplates | default (list "sidecar"))
      "alwaysInjectSelector" ($hook.alwaysInjectSelector | default list)
      "neverInjectSelector" ($hook.neverInjectSelector | default list)
      "injectedAnnotations" ($hook.injectedAnnotations | default dict)
      "templates" (mergeOverwrite $templates ($hook.templates | default dict)) -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "mesh.metadata" (dict "at" . "name" (print "istio-sidecar-injector" .Mesh.suffix) "namespace" .Release.Namespace) | nindent 2 }}
data:
  config: |- {{- toYaml $config | nindent 4 }}
  values: |- {{- merge (pick $v "global" "sidecarInjectorWebhook" "revision") (dict
      "pilot" (pick $v.pilot "cni" "env")
      "gateways" (pick $v.gateways "securityContext" "seccompProfile")) | toPrettyJson | nindent 4 }}
{{- end -}}

{{/* For people and tools that ask later what was installed */}}
{{- define "istiod.values" -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "mesh.metadata" (dict "at" . "name" (print "values" .Mesh.suffix) "namespace" .Release.Namespace "annotations" (dict
  "kubernetes.io/description" "The values that this control plane was rendered from. To be read only: a change here has no effect.")) | nindent 2 }}
data:
  original-values: |- {{- toPrettyJson .Mesh.user | nindent 4 }}
  merged-values: |- {{- toPrettyJson .Mesh.values | nindent 4 }}
{{- end -}}

{{- define "istiod.extra-root" -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "mesh.metadata" (dict "at" . "name" (print "pilot-jwks-extra-cacerts" .Mesh.suffix) "namespace" .Release.Namespace) | nindent 2 }}
data: {{- toYaml (dict "extra.pem" .Mesh.values.pilot.jwksResolverExtraRootCA) | nindent 2 }}
{{- end -}}

{{- define "istiod.gateway-class" -}}
{{- $root := first . -}}{{- $class := last . -}}
apiVersion: v1
kind: ConfigMap
metadata: {{- include "mesh.metadata" (dict "at" $root "name" (print "istio-" $root.Mesh.rev "-gatewayclass-" $class) "namespace" $root.Release.Namespace
  "labels" (dict "gateway.istio.io/defaults-for-class" $class)) | nindent 2 }}
data:
  {{- range $kind, $overlay := get $root.Mesh.values.gatewayClasses $class }}
  {{ $kind }}: | {{- toYaml $overlay | nindent 4 }}{{ end }}
{{- end -}}
