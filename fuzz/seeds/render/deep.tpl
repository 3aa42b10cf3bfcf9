

{{ $d := dict }}{{ range until 500 }}{{ $d = dict "d" $d }}{{ end }}{{ $d | deepCopy | toYaml | len }}
