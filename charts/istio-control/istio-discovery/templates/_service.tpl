{{/* Services under which the control plane is found, here or elsewhere */}}

{{- define "istiod.service" -}}
apiVersion: v1
kind: Service
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.name "namespace" .Release.Namespace "annotations" .Mesh.values.pilot.serviceAnnotations
  "labels" (dict "app" "istiod" "istio" "pilot")) | nindent 2 }}
spec: {{- include "istiod.ports" . | nindent 2 }}
  {{- include "mesh.present" (pick .Mesh.values.pilot "trafficDistribution") | nindent 2 }}
{{- end -}}

{{- define "istiod.tag-service" -}}
{{- $root := first . -}}
apiVersion: v1
kind: Service
metadata: {{- include "mesh.metadata" (dict "at" $root "name" (print "istiod-revision-tag-" (last .)) "namespace" $root.Release.Namespace
  "annotations" $root.Mesh.values.pilot.serviceAnnotations "labels" (dict "app" "istiod" "istio" "pilot" "istio.io/tag" (last .))) | nindent 2 }}
spec: {{- include "istiod.ports" $root | nindent 2 }}
{{- end -}}

{{- define "istiod.ports" -}}
ports:
- {name: grpc-xds, port: 15010, protocol: TCP}
- {name: https-dns, port: 15012, protocol: TCP}
- {name: https-webhook, port: 443, targetPort: 15017, protocol: TCP}
- {name: http-monitoring, port: 15014, protocol: TCP}
selector: {{- toYaml .Mesh.selects | nindent 2 }}
{{ include "mesh.present" (pick .Mesh.values.pilot "ipFamilyPolicy" "ipFamilies") }}
{{- end -}}

{{/* IPv4 or IPv6 if the remote address is one; nothing if it is a name */}}
{{- define "istiod.remote-family" -}}
{{- $address := .Mesh.values.global.remotePilotAddress | default "" -}}
{{- if regexMatch `^[0-9]+(\.[0-9]+){3}$` $address }}IPv4{{ else if regexMatch `^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$` $address }}IPv6{{ end -}}
{{- end -}}

{{- define "istiod.remote-service" -}}
{{- $g := .Mesh.values.global -}}
apiVersion: v1
kind: Service
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.remote "namespace" .Release.Namespace "set" "plain"
  "labels" (dict "istio.io/rev" .Mesh.rev)) | nindent 2 }}
spec:
  {{- if not (include "istiod.remote-family" .) }}
  type: ExternalName
  externalName: {{ quote $g.remotePilotAddress }}{{ end }}
  ports:
  - {name: tcp-istiod, port: 15012, protocol: TCP}
  - {name: tcp-webhook, port: 443, targetPort: 15017, protocol: TCP}
  {{- include "mesh.present" (pick $g "ipFamilyPolicy" "ipFamilies") | nindent 2 }}
{{- end -}}

{{- define "istiod.remote-endpoints" -}}
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{- include "mesh.metadata" (dict "at" . "name" .Mesh.remote "namespace" .Release.Namespace "set" "plain" "labels" (dict
  "kubernetes.io/service-name" .Mesh.remote "endpointslice.kubernetes.io/managed-by" .Release.Service)) | nindent 2 }}
addressType: {{ include "istiod.remote-family" . }}
endpoints:
- addresses: [{{ quote .Mesh.values.global.remotePilotAddress }}]
ports:
- {name: tcp-istiod, port: 15012, protocol: TCP}
- {name: tcp-webhook, port: 15017, protocol: TCP}
{{- end -}}
