{{/* The gateway's Deployment: with the proxy in it or, with an injection template, only what the webhook does not know. */}}
{{- define "gateway.deployment" -}}
{{- $m := .Mesh -}}{{- $v := $m.values -}}{{- $g := $v.global -}}{{- $gw := $m.gateway -}}
{{- $injected := not (empty $gw.injectionTemplate) -}}
{{- $own := $injected | ternary dict (dict "istio.io/dataplane-mode" "none") -}}
{{- $platform := $v.platform | default $g.platform | default "" -}}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "gateway.metadata" (dict "at" . "labels" (merge $own $gw.labels)) | nindent 2 }}
spec:
  {{- if not $gw.autoscaleEnabled }}{{ include "mesh.present" (dict "replicas" $gw.replicaCount) | nindent 2 }}{{ end }}
  selector: {{- toYaml (dict "matchLabels" $gw.labels) | nindent 4 }}
  strategy:
    rollingUpdate: {{- toYaml (dict "maxSurge" $gw.rollingMaxSurge "maxUnavailable" $gw.rollingMaxUnavailable) | nindent 6 }}
  template:
    metadata:
      labels: {{- include "gateway.pod-labels" . | nindent 8 }}
      annotations: {{- include "gateway.pod-annotations" . | nindent 8 }}
    spec:
      serviceAccountName: {{ $m.account }}
      {{- if not $gw.runAsRoot }}
      securityContext:
        runAsNonRoot: true
        {{- if ne $platform "openshift" }}
        runAsUser: 1337
        runAsGroup: 1337{{ end }}
      {{- end }}
      {{- include "mesh.present" (dict
          "priorityClassName" $g.priorityClassName
          "nodeSelector" ($gw.nodeSelector | default $g.defaultNodeSelector)
          "tolerations" ($gw.tolerations | default $g.defaultTolerations)
          "affinity" (include "gateway.affinity" . | fromYaml)) | nindent 6 }}
      containers:
      - name: istio-proxy
        image: {{ $injected | ternary "auto" (include "mesh.image" (list . ($g.proxy).image $gw.hub $gw.tag ($g.proxy).variant)) | quote }}
        ports:
        {{- range $gw.ports }}
        - {containerPort: {{ .targetPort | default .port }}, protocol: {{ .protocol | default "TCP" }}}{{ end }}
        - {name: http-envoy-prom, containerPort: 15090, protocol: TCP}
        {{- include "mesh.present" (dict
            "imagePullPolicy" $g.imagePullPolicy
            "resources" ($gw.resources | default $g.defaultResources)) | nindent 8 }}
        {{- if not $gw.runAsRoot }}
        securityContext:
          allowPrivilegeEscalation: false
          capabilities: {drop: [ALL]}
          privileged: false
          readOnlyRootFilesystem: true
        {{- end }}
        {{- if not $injected }}
        args: {{- include "gateway.arguments" . | nindent 8 }}
        readinessProbe:
          httpGet: {path: /healthz/ready, port: 15021, scheme: HTTP}
          initialDelaySeconds: 1
          periodSeconds: 2
          failureThreshold: 30
          successThreshold: 1
          timeoutSeconds: 1
        {{- end }}
        env: {{- include "gateway.environment" . | nindent 8 }}
        volumeMounts: {{- include "gateway.mounts" . | nindent 8 }}
      {{- if $gw.additionalContainers }}{{ toYaml $gw.additionalContainers | nindent 6 }}{{ end }}
      volumes: {{- include "gateway.volumes" . | nindent 6 }}
{{- end -}}

{{/* heritage, release and chart are what dashboards and selectors of old installations look for */}}
{{- define "gateway.pod-labels" -}}
{{- $gw := .Mesh.gateway -}}{{- $injected := not (empty $gw.injectionTemplate) -}}
{{- $version := get $gw.labels "app.kubernetes.io/version" | default (get $gw.labels "version") | default .Mesh.values.revision | default "latest" -}}
{{- $labels := mergeOverwrite dict (omit .Mesh.labels.owned "release" "istio.io/rev") $gw.labels (dict
      "service.istio.io/canonical-name" $gw.name
      "service.istio.io/canonical-revision" $version
      "sidecar.istio.io/inject" ($injected | ternary "true" "false")) -}}
{{- if eq .Release.Namespace "istio-system" }}{{ $_ := mergeOverwrite $labels (dict "heritage" "Tiller" "release" "istio" "chart" "gateways") }}{{ end -}}
{{- if not $injected }}{{ $_ := set $labels "istio.io/dataplane-mode" "none" }}{{ end -}}
{{- if or .Mesh.values.revision (not $injected) }}{{ $_ := set $labels "istio.io/rev" .Mesh.rev }}{{ end -}}
{{- include "mesh.strings" $labels -}}
{{- end -}}

{{- define "gateway.pod-annotations" -}}
{{- $gw := .Mesh.gateway -}}
{{- $all := dict "sidecar.istio.io/inject" "false" "istio.io/rev" .Mesh.rev -}}
{{- with $gw.injectionTemplate }}{{ $all = dict "sidecar.istio.io/inject" "true" "inject.istio.io/templates" . }}{{ end -}}
{{- if .Mesh.values.meshConfig.enablePrometheusMerge -}}
  {{- $_ := mergeOverwrite $all (dict "prometheus.io/port" "15020" "prometheus.io/scrape" "true" "prometheus.io/path" "/stats/prometheus") }}{{ end -}}
{{- include "mesh.strings" (mergeOverwrite $all ($gw.podAnnotations | default dict)) -}}
{{- end -}}

{{- define "gateway.arguments" -}}
{{- $g := .Mesh.values.global -}}
- proxy
- router
- --domain
- $(POD_NAMESPACE).svc.{{ ($g.proxy).clusterDomain | default "cluster.local" }}
{{- range $flag, $value := dict "proxyLogLevel" ($g.proxy).logLevel "proxyComponentLogLevel" ($g.proxy).componentLogLevel
    "log_output_level" ($g.logging).level "stsPort" ($g.sts).servicePort }}{{ if $value }}
- --{{ $flag }}={{ $value }}{{ end }}{{ end }}
{{- if $g.logAsJson }}
- --log_as_json{{ end }}
{{- end -}}

{{- define "gateway.environment" -}}
{{- $v := .Mesh.values -}}{{- $g := $v.global -}}{{- $gw := .Mesh.gateway -}}{{- $mesh := $v.meshConfig -}}
{{- $ours := list -}}
{{- $theirs := $gw.env | default dict -}}
{{- if not $gw.injectionTemplate -}}
  {{- $theirs = mergeOverwrite dict (($mesh.defaultConfig).proxyMetadata | default dict) $theirs -}}
  {{- $ours = list
        (list "PILOT_CERT_PROVIDER" $g.pilotCertProvider)
        (list "CA_ADDR" ($g.caAddress | default (print "istiod" .Mesh.suffix "." $g.istioNamespace ".svc:15012"))) -}}
  {{- range list "NODE_NAME=spec.nodeName" "POD_NAME=metadata.name" "POD_NAMESPACE=metadata.namespace" "INSTANCE_IP=status.podIP"
        "HOST_IP=status.hostIP" "SERVICE_ACCOUNT=spec.serviceAccountName" "ISTIO_META_NODE_NAME=spec.nodeName" -}}
    {{- $pair := splitList "=" . -}}
    {{- $ours = append $ours (list (first $pair) (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" (last $pair)))) }}{{ end -}}
  {{- $ours = concat $ours (list
        (list "ISTIO_CPU_LIMIT" (dict "resourceFieldRef" (dict "resource" "limits.cpu" "divisor" "1")))
        (list "ISTIO_META_WORKLOAD_NAME" $gw.name)
        (list "ISTIO_META_OWNER" (printf "kubernetes://apis/apps/v1/namespaces/%s/deployments/%s" .Release.Namespace $gw.name))
        (list "ISTIO_META_CLUSTER_ID" (($g.multiCluster).clusterName | default "Kubernetes"))) -}}
  {{- with $g.meshID | default $mesh.trustDomain }}{{ $ours = append $ours (list "ISTIO_META_MESH_ID" .) }}{{ end -}}
  {{- with $mesh.trustDomain }}{{ $ours = append $ours (list "TRUST_DOMAIN" .) }}{{ end -}}
  {{- with $g.network }}{{ $ours = append $ours (list "ISTIO_META_NETWORK" .) }}{{ end }}{{ end -}}
{{- if not $gw.runAsRoot }}{{ $ours = append $ours (list "ISTIO_META_UNPRIVILEGED_POD" "true") }}{{ end -}}
{{- include "mesh.env" (list $ours $theirs list) -}}
{{- end -}}
