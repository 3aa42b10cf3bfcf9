values.a.b=1
values.c=true

{{- $d := dict "a" (dict "x" 1) "l" (list 1 2) }}
{{- $_ := mustMergeOverwrite $d .Values.spec.values }}
{{- $_ := set $ "Values" $d }}
{{- $x := set .Values "copy" (deepCopy .Values) }}
{{ toPrettyJson .Values }}{{ .Values | toYaml | fromYaml | toJson }}
