text=x

{{ $t := "{{ .a }}{{ tpl .b . }}" }}{{ tpl $t (dict "a" 1 "b" "{{ .a }}") }}{{ (.Values.nothing).below }}{{ coalesce nil "" 0 "y" }}
