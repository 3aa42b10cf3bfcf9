{{/* Where the gateway's pods run, and what is mounted in them */}}

{{/* What global.arch and the anti-affinity lists mean, in Kubernetes' words */}}
{{- define "gateway.affinity" -}}
{{- $must := list -}}{{- $should := list -}}{{- $names := list -}}{{- $weighted := list -}}
{{- range $arch, $weight := .Mesh.values.global.arch }}{{ if gt (int $weight) 0 -}}
  {{- $names = append $names $arch -}}
  {{- $weighted = append $weighted (dict "weight" (int $weight) "preference" (dict "matchExpressions" (list (dict "key" "kubernetes.io/arch" "operator" "In" "values" (list $arch))))) -}}
{{- end }}{{ end -}}
{{- range .Mesh.gateway.podAntiAffinityLabelSelector }}{{ $must = append $must (include "gateway.apart" . | fromYaml) }}{{ end -}}
{{- range .Mesh.gateway.podAntiAffinityTermLabelSelector }}{{ $should = append $should (dict "weight" 100 "podAffinityTerm" (include "gateway.apart" . | fromYaml)) }}{{ end -}}
{{- if $names }}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions:
      - {key: kubernetes.io/arch, operator: In, values: {{ toJson $names }}}
  preferredDuringSchedulingIgnoredDuringExecution: {{- toYaml $weighted | nindent 2 }}{{ end }}
{{- if or $must $should }}
podAntiAffinity: {{- include "mesh.present" (dict
    "requiredDuringSchedulingIgnoredDuringExecution" $must
    "preferredDuringSchedulingIgnoredDuringExecution" $should) | nindent 2 }}{{ end }}
{{- end -}}

{{/* One term: pods that match are kept apart by topologyKey */}}
{{- define "gateway.apart" -}}
{{- $split := dict -}}
{{- range $field := list "values" "namespaces" }}{{ with get $ $field }}{{ $_ := set $split $field (kindIs "string" . | ternary (toString . | splitList ",") .) }}{{ end }}{{ end -}}
labelSelector:
  matchExpressions:
  - {{ include "mesh.present" (dict "key" .key "operator" .operator "values" $split.values) | nindent 4 | trim }}
{{ include "mesh.present" (dict "topologyKey" .topologyKey "namespaces" $split.namespaces) }}
{{- end -}}

{{- define "gateway.mounts" -}}
{{- $g := .Mesh.values.global -}}{{- $gw := .Mesh.gateway -}}{{- $all := list -}}
{{- if not $gw.injectionTemplate -}}
  {{- $paths := dict
        "workload-socket" "/var/run/secrets/workload-spiffe-uds"
        "credential-socket" "/var/run/secrets/credential-uds"
        "workload-certs" "/var/run/secrets/workload-spiffe-credentials"
        "istio-envoy" "/etc/istio/proxy"
        "istio-data" "/var/lib/istio/data"
        "config-volume" "/etc/istio/config"
        "podinfo" "/etc/istio/pod" -}}
  {{- if eq $g.pilotCertProvider "istiod" }}{{ $_ := set $paths "istiod-ca-cert" "/var/run/secrets/istio" }}{{ end -}}
  {{- range $name, $path := $paths }}{{ $all = append $all (dict "name" $name "mountPath" $path) }}{{ end -}}
  {{- $all = append $all (dict "name" "istio-token" "mountPath" "/var/run/secrets/tokens" "readOnly" true) -}}
  {{- if $g.mountMtlsCerts }}{{ $all = append $all (dict "name" "istio-certs" "mountPath" "/etc/certs" "readOnly" true) }}{{ end }}{{ end -}}
{{- range concat ($gw.secretVolumes | default list) ($gw.configVolumes | default list) -}}
  {{- if .mountPath }}{{ $all = append $all (dict "name" .name "mountPath" .mountPath "readOnly" true) }}{{ end }}{{ end -}}
{{- toYaml $all -}}
{{- end -}}

{{- define "gateway.volumes" -}}
{{- $v := .Mesh.values -}}{{- $g := $v.global -}}{{- $gw := .Mesh.gateway -}}
{{- if not $gw.injectionTemplate -}}
{{- range list "workload-socket" "credential-socket" "workload-certs" "istio-envoy" "istio-data" }}
- {name: {{ . }}, emptyDir: {}}{{ end }}
{{- if eq $g.pilotCertProvider "istiod" }}
- name: istiod-ca-cert
  {{- if eq (toString (($v.pilot).env).ENABLE_CLUSTER_TRUST_BUNDLE_API) "true" }}
  projected:
    sources:
    - clusterTrustBundle: {name: "istio.io:istiod-ca:{{ $g.trustBundleName | default `root-cert` }}", path: root-cert.pem}
  {{- else }}
  configMap: {name: {{ $g.trustBundleName | default "istio-ca-root-cert" }}}{{ end }}{{ end }}
- name: podinfo
  downwardAPI:
    items:
    - {path: labels, fieldRef: {fieldPath: metadata.labels}}
    - {path: annotations, fieldRef: {fieldPath: metadata.annotations}}
- name: istio-token
  projected:
    sources:
    - serviceAccountToken: {audience: {{ (($g.sds).token).aud | default "istio-ca" }}, expirationSeconds: 43200, path: istio-token}
- name: config-volume
  configMap: {name: istio{{ .Mesh.suffix }}, optional: true}
{{- if $g.mountMtlsCerts }}
- name: istio-certs
  secret: {secretName: istio.{{ .Mesh.account }}, optional: true}{{ end }}
{{- end }}
{{- range $gw.secretVolumes }}
- name: {{ .name }}
  secret: {secretName: {{ quote .secretName }}, optional: true}{{ end }}
{{- range $gw.configVolumes }}
- name: {{ .name }}
  configMap: {name: {{ quote .configMapName }}, optional: true}{{ end }}
{{- end -}}
