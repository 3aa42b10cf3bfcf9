a=1

{{ if }}{{ .a | }}{{ "unclosed }}{{ end }}{{- /* c */ -}}{{ $x }}{{ 0x1p4 }}{{ 'a' }}{{ `raw
line` }}
