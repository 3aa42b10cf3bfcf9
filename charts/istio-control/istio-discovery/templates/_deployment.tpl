{{/* The control plane's Deployment */}}
{{- define "istiod.deployment" -}}
{{- $m := .Mesh -}}{{- $v := $m.values -}}{{- $p := $v.pilot -}}{{- $g := $v.global -}}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "mesh.metadata" (dict "at" . "name" $m.name "namespace" .Release.Namespace "annotations" $p.deploymentAnnotations
  "labels" (mergeOverwrite (dict "app" "istiod" "istio" "pilot") $p.deploymentLabels)) | nindent 2 }}
spec:
  {{- if not $p.autoscaleEnabled }}{{ include "mesh.present" (dict "replicas" $p.replicaCount) | nindent 2 }}{{ end }}
  strategy:
    rollingUpdate: {{- toYaml (dict "maxSurge" $p.rollingMaxSurge "maxUnavailable" $p.rollingMaxUnavailable) | nindent 6 }}
  selector:
    matchLabels: {{- toYaml (empty $v.revision | ternary (dict "istio" "pilot") $m.selects) | nindent 6 }}
  template:
    metadata:
      labels: {{- include "mesh.strings" (mergeOverwrite dict (omit $m.labels.owned "release") (dict
          "app" "istiod"
          "istio" (empty $v.revision | ternary "pilot" "istiod")
          "istio.io/dataplane-mode" "none"
          "sidecar.istio.io/inject" "false") $p.podLabels) | nindent 8 }}
      annotations: {{- include "mesh.strings" (mergeOverwrite (dict
          "prometheus.io/port" "15014"
          "prometheus.io/scrape" "true"
          "sidecar.istio.io/inject" "false") $p.podAnnotations) | nindent 8 }}
    spec:
      serviceAccountName: {{ $m.name }}
      tolerations: {{- toYaml (concat (list (dict "key" "cni.istio.io/not-ready" "operator" "Exists")) ($p.tolerations | default list)) | nindent 6 }}
      {{- include "mesh.present" (dict
          "affinity" $p.affinity
          "nodeSelector" $p.nodeSelector
          "priorityClassName" $g.priorityClassName
          "topologySpreadConstraints" $p.topologySpreadConstraints
          "initContainers" (tpl (toYaml ($p.initContainers | default list)) (dict "Values" $v "Release" .Release "Chart" .Chart "Template" .Template) | fromYamlArray)) | nindent 6 }}
      containers:
      - name: discovery
        image: {{ include "mesh.image" (list . $p.image $p.hub $p.tag $p.variant) | quote }}
        args: {{- include "istiod.arguments" . | nindent 8 }}
        ports:
        - {name: http-debug, containerPort: 8080, protocol: TCP}
        - {name: grpc-xds, containerPort: 15010, protocol: TCP}
        - {name: tls-xds, containerPort: 15012, protocol: TCP}
        - {name: https-webhooks, containerPort: 15017, protocol: TCP}
        - {name: http-monitoring, containerPort: 15014, protocol: TCP}
        readinessProbe:
          httpGet: {path: /ready, port: 8080}
          initialDelaySeconds: 1
          periodSeconds: 3
          timeoutSeconds: 5
        env: {{- include "istiod.environment" . | nindent 8 }}
        {{- include "mesh.present" (dict
            "imagePullPolicy" $g.imagePullPolicy
            "resources" ($p.resources | default $g.defaultResources)
            "terminationMessagePolicy" $p.terminationMessagePolicy) | nindent 8 }}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          runAsNonRoot: true
          capabilities: {drop: [ALL]}
          {{- include "mesh.present" (dict "seccompProfile" $p.seccompProfile) | nindent 10 }}
        volumeMounts:
        - {name: istio-token, mountPath: /var/run/secrets/tokens, readOnly: true}
        - {name: local-certs, mountPath: /var/run/secrets/istio-dns}
        - {name: cacerts, mountPath: /etc/cacerts, readOnly: true}
        - {name: istio-kubeconfig, mountPath: /var/run/secrets/remote, readOnly: true}
        - {name: istio-csr-dns-cert, mountPath: /var/run/secrets/istiod/tls, readOnly: true}
        - {name: istio-csr-ca-configmap, mountPath: /var/run/secrets/istiod/ca, readOnly: true}
        {{- if $p.jwksResolverExtraRootCA }}
        - {name: extracacerts, mountPath: /cacerts}{{ end }}
        {{- if $p.volumeMounts }}{{ toYaml $p.volumeMounts | nindent 8 }}{{ end }}
      volumes:
      - name: local-certs
        emptyDir: {medium: Memory}
      - name: istio-token
        projected:
          sources:
          - serviceAccountToken: {audience: {{ (($g.sds).token).aud | default "istio-ca" }}, expirationSeconds: 43200, path: istio-token}
      # A root of the user's own; the API of another cluster; certificates from cert-manager's istio-csr.
      - name: cacerts
        secret: {secretName: cacerts, optional: true}
      - name: istio-kubeconfig
        secret: {secretName: istio-kubeconfig, optional: true}
      - name: istio-csr-dns-cert
        secret: {secretName: istiod-tls, optional: true}
      - name: istio-csr-ca-configmap
        {{- if eq (include "istiod.switch" (list . "ENABLE_CLUSTER_TRUST_BUNDLE_API")) "true" }}
        projected:
          sources:
          - clusterTrustBundle: {name: "istio.io:istiod-ca:{{ $g.trustBundleName | default `root-cert` }}", path: root-cert.pem, optional: true}
        {{- else }}
        configMap: {name: {{ $g.trustBundleName | default "istio-ca-root-cert" }}, defaultMode: 420, optional: true}{{ end }}
      {{- if $p.jwksResolverExtraRootCA }}
      - name: extracacerts
        configMap: {name: pilot-jwks-extra-cacerts{{ $m.suffix }}}{{ end }}
      {{- if $p.volumes }}{{ toYaml $p.volumes | nindent 6 }}{{ end }}
{{- end -}}

{{- define "istiod.arguments" -}}
{{- $p := .Mesh.values.pilot -}}{{- $g := .Mesh.values.global -}}
- discovery
- --monitoringAddr=:15014
{{- with ($g.logging).level }}
- --log_output_level={{ . }}{{ end }}
{{- if $g.logAsJson }}
- --log_as_json{{ end }}
- --domain
- {{ ($g.proxy).clusterDomain | default "cluster.local" }}
{{- with ($p.taint).namespace }}
- --cniNamespace={{ . }}{{ end }}
- --keepaliveMaxServerConnectionAge
- {{ $p.keepaliveMaxServerConnectionAge | default "30m" | quote }}
{{- range $p.extraContainerArgs }}
- {{ toYaml . }}{{ end }}
{{- end -}}

{{/* The contract with whatever reads a control plane's environment; what the user sets wins. */}}
{{- define "istiod.environment" -}}
{{- $m := .Mesh -}}{{- $p := $m.values.pilot -}}{{- $g := $m.values.global -}}
{{- $field := dict -}}
{{- range $path := list "metadata.name" "metadata.namespace" "spec.serviceAccountName" -}}
  {{- $_ := set $field $path (dict "fieldRef" (dict "apiVersion" "v1" "fieldPath" $path)) }}{{ end -}}
{{- $ours := list
      (list "REVISION" $m.rev)
      (list "PILOT_CERT_PROVIDER" $g.pilotCertProvider)
      (list "POD_NAME" (get $field "metadata.name"))
      (list "POD_NAMESPACE" (get $field "metadata.namespace"))
      (list "SERVICE_ACCOUNT" (get $field "spec.serviceAccountName"))
      (list "KUBECONFIG" "/var/run/secrets/remote/config")
      (list "CA_TRUSTED_NODE_ACCOUNTS" (print ($p.trustedZtunnelNamespace | default .Release.Namespace) "/" ($p.trustedZtunnelName | default "ztunnel")))
      (list "PILOT_ENABLE_ANALYSIS" (($g.istiod).enableAnalysis | default false | toString))
      (list "CLUSTER_ID" (($g.multiCluster).clusterName | default "Kubernetes"))
      (list "GOMAXPROCS" (dict "resourceFieldRef" (dict "resource" "limits.cpu" "divisor" "1")))
      (list "PLATFORM" ($g.platform | default $m.values.platform | default "")) -}}
{{- with $p.traceSampling }}{{ $ours = append $ours (list "PILOT_TRACE_SAMPLING" (include "mesh.text" .)) }}{{ end -}}
{{- if ($p.taint).enabled -}}
  {{- $ours = append $ours (list "PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS" "true") -}}
  {{- $ours = append $ours (list "PILOT_NODE_UNTAINT_CONTROLLERS_TAINT_NAME" $p.taint.name) }}{{ end -}}
{{- if $g.externalIstiod }}{{ $ours = append $ours (list "EXTERNAL_ISTIOD" "true") }}{{ end -}}
{{- with $g.trustBundleName }}{{ $ours = append $ours (list "PILOT_CA_CERT_CONFIGMAP" .) }}{{ end -}}
{{- with $p.crlConfigMapName }}{{ $ours = append $ours (list "PILOT_CRL_CONFIGMAP" .) }}{{ end -}}
{{- include "mesh.env" (list $ours $p.env $p.envVarFrom) -}}
{{- end -}}
