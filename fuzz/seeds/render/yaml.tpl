

{{ "a: &x [1, {b: *x}]" | fromYaml }}{{ "a: [" | fromYaml }}{{ "- 1\n- ~" | fromYamlArray }}{{ fromJson "{\"a\": 1e400}" }}{{ "a = 1\n[b]\nc = 'd'" | fromToml | toToml }}{{ dict "t" "yes" "n" "0777" "m" "a\nb\n" | toYaml }}
