hub=mesh/images
values.global.proxy.resources.requests.cpu=10m

{{- define "labels" -}}
app: {{ .app | quote }}
{{- end }}
{{- with .Values.spec }}
hub: {{ .hub | default "none" }}
{{ toYaml .values | nindent 2 }}
{{- end }}
{{ include "labels" (dict "app" "x") | indent 4 }}
