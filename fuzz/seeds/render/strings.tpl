

{{ trunc -3 "äöü" }}{{ abbrev 5 "hello world" }}{{ wrap 5 "a bc def ghij" }}{{ substr 0 2 "abc" }}{{ cat nil "a" 1 }}{{ list 1 "a" nil | join "-" }}{{ "aB cD" | snakecase }}{{ splitn "," 2 "a,b,c" }}{{ b64enc "a" | b64dec }}{{ dig "a" "b" "z" (dict "a" (dict "b" 1)) }}
