{{/* How many replicas there are, how many must stay, and who may talk to them */}}

{{- define "istiod.autoscaler" -}}
{{- $p := .Mesh.values.pilot -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.name "namespace" .Release.Namespace "labels" (dict "app" "istiod")) | nindent 2 }}
spec:
  minReplicas: {{ int $p.autoscaleMin }}
  maxReplicas: {{ int $p.autoscaleMax }}
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .Mesh.name }}}
  metrics:
  {{- range $resource := list "cpu" "memory" }}{{ with (get $p $resource | default dict).targetAverageUtilization }}
  - type: Resource
    resource: {name: {{ $resource }}, target: {type: Utilization, averageUtilization: {{ int . }}}}{{ end }}{{ end }}
  {{- include "mesh.present" (dict "behavior" $p.autoscaleBehavior) | nindent 2 }}
{{- end -}}

{{- define "istiod.disruption" -}}
{{- $pdb := mergeOverwrite (dict "minAvailable" 1) (.Mesh.values.pilot.pdb | default dict) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.name "namespace" .Release.Namespace
  "labels" (dict "app" "istiod" "istio" "pilot")) | nindent 2 }}
spec:
  {{- include "mesh.present" (omit $pdb (hasKey $pdb "maxUnavailable" | ternary "minAvailable" "maxUnavailable")) | nindent 2 }}
  selector:
    matchLabels: {{- toYaml .Mesh.selects | nindent 6 }}
{{- end -}}

{{/* In: webhooks, discovery (15011 is its old port), debug and metrics. Out: anywhere, since JWKS and other clusters may be. */}}
{{- define "istiod.network" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.name "namespace" .Release.Namespace
  "labels" (dict "app" "istiod" "istio" "pilot")) | nindent 2 }}
spec:
  podSelector:
    matchLabels: {app: istiod, istio.io/rev: {{ quote .Mesh.rev }}}
  policyTypes: [Ingress, Egress]
  ingress:
  - ports: [{protocol: TCP, port: 15017}]
  - ports:
    {{- range list 15010 15011 15012 8080 15014 }}
    - {protocol: TCP, port: {{ . }}}{{ end }}
  egress: [{}]
{{- end -}}
