{{/* What the control plane may do: in the cluster, with gateways that it makes, in its own namespace; and what readers may */}}

{{- define "istiod.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.name "namespace" .Mesh.values.global.istioNamespace "set" "released"
  "labels" (dict "app" "istiod") "annotations" .Mesh.values.pilot.serviceAccountAnnotations) | nindent 2 }}
{{- with .Mesh.values.global.imagePullSecrets }}
imagePullSecrets: {{- range . }}
- name: {{ . }}{{ end }}{{ end }}
{{- end -}}

{{/* A role's head, and the binding that gives it to an account. (at, name, rules, app, account, in, namespace: of a Role) */}}
{{- define "istiod.grant" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
{{- $metadata := include "mesh.metadata" (dict "at" .at "name" .name "namespace" .namespace "set" "released"
  "labels" (dict "app" .app "app.kubernetes.io/name" .app)) | nindent 2 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata: {{- $metadata }}
rules:
{{ .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata: {{- $metadata }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name }}}
subjects:
- {kind: ServiceAccount, name: {{ .account }}, namespace: {{ quote .in }}}
{{- end -}}

{{- define "istiod.role" -}}
{{- include "istiod.grant" (dict "at" . "name" .Mesh.name "app" "istiod" "account" .Mesh.name "in" .Mesh.values.global.istioNamespace
  "namespace" .Mesh.values.global.istioNamespace "rules" (include "istiod.role-rules" .)) -}}
{{- end -}}

{{- define "istiod.clusterrole" -}}
{{- include "istiod.grant" (dict "at" . "name" (print "istiod-clusterrole" .Mesh.suffix "-" .Release.Namespace) "app" "istiod"
  "account" .Mesh.name "in" .Mesh.values.global.istioNamespace "rules" (include "istiod.cluster-rules" .)) -}}
{{- end -}}

{{- define "istiod.gateway-role" -}}
{{- include "istiod.grant" (dict "at" . "name" (print "istiod-gateway-controller" .Mesh.suffix "-" .Release.Namespace) "app" "istiod"
  "account" .Mesh.name "in" .Mesh.values.global.istioNamespace "rules" (include "istiod.gateway-rules" .)) -}}
{{- end -}}

{{- define "istiod.reader-role" -}}
{{- $account := .Mesh.values.global.readerServiceAccount -}}
{{- include "istiod.grant" (dict "at" . "name" (print "istio-reader-clusterrole" .Mesh.suffix "-" .Release.Namespace) "app" "istio-reader"
  "account" (($account).name | default "istio-reader-service-account")
  "in" (empty ($account).name | ternary .Mesh.values.global.istioNamespace (($account).namespace)) "rules" (include "istiod.reader-rules" .)) -}}
{{- end -}}

{{- define "istiod.role-rules" -}}
# A dry run that must be refused shows that the validation webhook is up.
- {apiGroups: [networking.istio.io], resources: [gateways], verbs: [create]}
# The CA's key.
- {apiGroups: [""], resources: [secrets], verbs: [create, get, watch, list, update, delete]}
- {apiGroups: [""], resources: [configmaps], verbs: [delete]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, update, patch, create]}
{{- end -}}

{{/* Objects that belong to gateways made from Gateway API objects */}}
{{- define "istiod.gateway-rules" -}}
- {apiGroups: [apps], resources: [deployments], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [""], resources: [services, serviceaccounts], verbs: [get, watch, list, update, patch, create, delete]}
{{- end -}}

{{- define "istiod.cluster-rules" -}}
{{- $g := .Mesh.values.global -}}{{- $p := .Mesh.values.pilot -}}
# Its own webhooks: the CA certificate in them.
- {apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [get, list, watch, update, patch]}
- {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [get, list, watch, update]}
# Istio objects. Old groups stay: an older control plane may share this role's name.
- apiGroups: [config.istio.io, security.istio.io, networking.istio.io, authentication.istio.io, rbac.istio.io, telemetry.istio.io, extensions.istio.io]
  resources: ["*"]
  verbs: [get, watch, list]
- {apiGroups: [networking.istio.io], resources: [workloadentries, workloadentries/status, serviceentries/status], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [security.istio.io], resources: [authorizationpolicies/status], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [""], resources: [services/status], verbs: [get, watch, list, update, patch, create, delete]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, watch]}
{{- if ($g.istiod).enableAnalysis }}
# Findings in the status of what they are about.
- apiGroups: [config.istio.io, security.istio.io, networking.istio.io, authentication.istio.io, rbac.istio.io, telemetry.istio.io, extensions.istio.io]
  resources: [authorizationpolicies/status, destinationrules/status, envoyfilters/status, gateways/status, peerauthentications/status, proxyconfigs/status,
    requestauthentications/status, serviceentries/status, sidecars/status, telemetries/status, virtualservices/status, wasmplugins/status,
    workloadentries/status, workloadgroups/status]
  verbs: [update, patch]
- {apiGroups: [extensions], resources: [ingresses], verbs: [get, list, watch]}
- {apiGroups: [extensions], resources: [ingresses/status], verbs: ["*"]}
{{- end }}
# Services and who is behind them.
- {apiGroups: [""], resources: [pods, nodes, services, namespaces, endpoints], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
- {apiGroups: ["{{ .Mesh.mcs }}"], resources: [serviceexports], verbs: [get, watch, list, create, delete]}
- {apiGroups: ["{{ .Mesh.mcs }}"], resources: [serviceimports], verbs: [get, watch, list]}
{{- if ($p.taint).enabled }}
- {apiGroups: [""], resources: [nodes], verbs: [patch]}{{ end }}
# Ingress and Gateway API.
- {apiGroups: [networking.k8s.io], resources: [ingresses, ingressclasses], verbs: [get, list, watch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: ["*"]}
- {apiGroups: [gateway.networking.k8s.io, gateway.networking.x-k8s.io], resources: ["*"], verbs: [get, watch, list]}
- {apiGroups: [gateway.networking.x-k8s.io], resources: [xbackendtrafficpolicies/status], verbs: [update, patch]}
- apiGroups: [gateway.networking.k8s.io]
  resources: [backendtlspolicies/status, gatewayclasses/status, gateways/status, grpcroutes/status, httproutes/status, listenersets/status,
    referencegrants/status, tcproutes/status, tlsroutes/status, udproutes/status]
  verbs: [update, patch]
- {apiGroups: [gateway.networking.k8s.io], resources: [gatewayclasses], verbs: [create, update, patch, delete]}
- {apiGroups: [inference.networking.k8s.io], resources: [inferencepools], verbs: [get, watch, list]}
- {apiGroups: [inference.networking.k8s.io], resources: [inferencepools/status], verbs: [update, patch]}
# The root certificate in every namespace; other clusters' credentials and gateways' certificates.
- {apiGroups: [""], resources: [configmaps], verbs: [create, get, list, watch, update]}
- {apiGroups: [""], resources: [secrets], verbs: [get, watch, list]}
# Who a proxy is, and whether it may see a gateway's certificate.
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
{{- if or (get $p.env "EXTERNAL_CA") (not (has $g.pilotCertProvider (list "istiod" "custom" "none"))) }}
# Certificates that a signer of the cluster issues.
- apiGroups: [certificates.k8s.io]
  resources: [certificatesigningrequests, certificatesigningrequests/approval, certificatesigningrequests/status]
  verbs: [update, create, get, delete, watch]
- {apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: {{ $g.certSigners | default list | toJson }}, verbs: [approve]}
{{- end }}
{{- if eq (include "istiod.switch" (list . "ENABLE_CLUSTER_TRUST_BUNDLE_API")) "true" }}
- {apiGroups: [certificates.k8s.io], resources: [clustertrustbundles], verbs: [update, create, delete, list, watch, get]}
- {apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: [istio.io/istiod-ca], verbs: [attest]}{{ end }}
{{- end -}}

{{- define "istiod.reader-rules" -}}
- apiGroups: [config.istio.io, security.istio.io, networking.istio.io, authentication.istio.io, rbac.istio.io, telemetry.istio.io, extensions.istio.io]
  resources: ["*"]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [endpoints, pods, services, nodes, replicationcontrollers, namespaces, secrets, configmaps]
  verbs: [get, list, watch]
- {apiGroups: [networking.istio.io], resources: [workloadentries], verbs: [get, list, watch]}
- {apiGroups: [networking.x-k8s.io, gateway.networking.k8s.io], resources: [gateways], verbs: [get, list, watch]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
- {apiGroups: ["{{ .Mesh.mcs }}"], resources: [serviceexports], verbs: [get, list, watch, create, delete]}
- {apiGroups: ["{{ .Mesh.mcs }}"], resources: [serviceimports], verbs: [get, list, watch]}
- {apiGroups: [apps], resources: [replicasets], verbs: [get, list, watch]}
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
{{- if .Mesh.values.istiodRemote.enabled }}
# The control plane elsewhere keeps this cluster's root certificates and webhooks with these.
- {apiGroups: [""], resources: [configmaps], verbs: [create, get, list, watch, update]}
- {apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [get, list, watch, update, patch]}
- {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [get, list, watch, update]}{{ end }}
{{- end -}}
