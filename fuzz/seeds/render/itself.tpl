

{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d | toYaml }}{{ $d | toJson }}{{ $d }}
