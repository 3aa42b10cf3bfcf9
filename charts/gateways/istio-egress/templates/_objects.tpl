{{/* The gateway's objects but for its Deployment */}}

{{- define "gateway.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "gateway.metadata" (dict "at" . "ending" "-service-account" "labels" .Mesh.gateway.labels
  "annotations" (.Mesh.gateway.serviceAccount).annotations) | nindent 2 }}
{{- with .Mesh.values.global.imagePullSecrets }}
imagePullSecrets: {{- range . }}
- name: {{ . }}{{ end }}{{ end }}
{{- end -}}

{{/* Certificates that Gateway objects name are Secrets in this namespace */}}
{{- define "gateway.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{- include "gateway.metadata" (dict "at" . "ending" "-sds") | nindent 2 }}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get, watch, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{- include "gateway.metadata" (dict "at" . "ending" "-sds") | nindent 2 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .Mesh.gateway.name }}-sds}
subjects:
- {kind: ServiceAccount, name: {{ .Mesh.account }}}
{{- end -}}

{{- define "gateway.service" -}}
{{- $gw := .Mesh.gateway -}}
{{- $ports := $gw.ports | default list -}}
{{- range concat ($gw.ingressPorts | default list) ($gw.egressPorts | default list) }}{{ $ports = append $ports (pick . "name" "port") }}{{ end -}}
apiVersion: v1
kind: Service
metadata: {{- include "gateway.metadata" (dict "at" . "labels" $gw.labels "annotations" $gw.serviceAnnotations) | nindent 2 }}
spec:
  {{- include "mesh.present" (dict "selector" $gw.labels "ports" $ports) | nindent 2 }}
  {{- include "mesh.present" (pick $gw "type" "loadBalancerIP" "loadBalancerSourceRanges" "externalTrafficPolicy" "ipFamilyPolicy" "ipFamilies") | nindent 2 }}
{{- end -}}

{{- define "gateway.autoscaler" -}}
{{- $gw := .Mesh.gateway -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{- include "gateway.metadata" (dict "at" . "labels" $gw.labels) | nindent 2 }}
spec:
  minReplicas: {{ int $gw.autoscaleMin }}
  maxReplicas: {{ int $gw.autoscaleMax }}
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $gw.name }}}
  metrics:
  {{- range $resource := list "cpu" "memory" }}{{ with (get $gw $resource | default dict).targetAverageUtilization }}
  - type: Resource
    resource: {name: {{ $resource }}, target: {type: Utilization, averageUtilization: {{ int . }}}}{{ end }}{{ end }}
{{- end -}}

{{- define "gateway.disruption" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "gateway.metadata" (dict "at" . "labels" .Mesh.gateway.labels) | nindent 2 }}
spec:
  minAvailable: 1
  selector: {{- toYaml (dict "matchLabels" .Mesh.gateway.labels) | nindent 4 }}
{{- end -}}

{{/* In: health, metrics and the gateway's own ports. Out: anywhere, for that is what a gateway is for. */}}
{{- define "gateway.network" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "gateway.metadata" (dict "at" . "ending" .Mesh.suffix
  "labels" (dict "app" .Mesh.gateway.name "istio" (trimPrefix "istio-" .Mesh.kind))) | nindent 2 }}
spec:
  podSelector: {{- toYaml (dict "matchLabels" .Mesh.gateway.labels) | nindent 4 }}
  policyTypes: [Ingress, Egress]
  ingress:
  - ports: [{protocol: TCP, port: 15021}]
  - ports: [{protocol: TCP, port: 15020}, {protocol: TCP, port: 15090}]
  {{- range .Mesh.gateway.ports }}
  - ports: [{protocol: {{ .protocol | default "TCP" }}, port: {{ .targetPort | default .port }}}]{{ end }}
  egress: [{}]
{{- end -}}
