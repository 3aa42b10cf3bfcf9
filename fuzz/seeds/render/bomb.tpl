

{{ repeat 1000000 "abcdefgh" | repeat 1000 }}{{ until 100000000 }}{{ indent 1000000 (repeat 1000 "a\n") }}
