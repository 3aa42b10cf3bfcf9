

{{ regexReplaceAll "(a+)+$" "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!" "${1}x" }}{{ regexFindAll "[0-9]" "1a2b3" -1 }}{{ regexSplit "," "a,b" -1 | join "+" }}{{ semverCompare "^1.2.x || >=3" "1.2.9" }}
