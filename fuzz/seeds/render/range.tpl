

{{- range $i, $c := until 5 }}{{ if eq $i 3 }}{{ break }}{{ else if gt $i 1 }}{{ continue }}{{ end }}{{ printf "%03d|%-5v|%q" $i $c "a" }}{{ else }}none{{ end }}
{{- range $k, $v := dict "b" 1 "a" (list) }}{{ $k }}={{ $v }};{{ end }}
