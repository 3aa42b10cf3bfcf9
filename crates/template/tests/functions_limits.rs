//! Functions cannot be made to fill the memory, to run without end or to overflow the stack.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_template::{Failure, Limits, Map, Run, Templates, helm};

fn render(text: &str) -> Result<String, Failure> {
    let functions = helm::functions::functions();
    let mut templates = Templates::new();
    templates.add("t", text, &functions)?;
    // Small, so that it is reached at once.
    let limits = Limits { output: 8 << 20, ..Limits::default() };
    Run::new(&templates, &functions, &limits).render("t", &Map::new().into())
}

/// Values that are small in memory and without end when they are walked through.
const BOMB: &str = r#"{{ $d := dict }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}"#;
const LISTS: &str = r#"{{ $d := list }}{{ range until 60 }}{{ $d = list $d $d }}{{ end }}"#;
const ITSELF: &str = r#"{{ $d := dict }}{{ $_ := set $d "x" $d }}"#;
const DEEP: &str = r#"{{ $d := dict }}{{ range until 20000 }}{{ $d = dict "a" $d }}{{ end }}"#;

const WALKERS: &[&str] = &[
    "toJson",
    "toPrettyJson",
    "toRawJson",
    "mustToJson",
    "toYaml",
    "mustToYaml",
    "toYamlPretty",
    "toToml",
    "toString",
    "quote",
    "squote",
    "cat",
    "deepCopy",
    "mustDeepCopy",
    "toDecimal",
];

#[test]
fn a_value_without_end_is_not_walked_through() {
    for value in [BOMB, LISTS, ITSELF, DEEP] {
        for function in WALKERS {
            let failure = render(&format!("{value}{{{{ {function} $d }}}}")).unwrap_err();
            assert!(failure.limit, "{function}: {failure}");
        }
        for call in ["join \",\" (list $d)", "toStrings (list $d)", "sortAlpha (list $d)", "dict $d 1"] {
            let failure = render(&format!("{value}{{{{ {call} }}}}")).unwrap_err();
            assert!(failure.limit, "{call}: {failure}");
        }
    }
}

#[test]
fn two_values_without_end_are_not_compared_or_merged() {
    let other = BOMB.replace("$d", "$e");
    for call in [
        "deepEqual $d $e",
        "has $d (list $e)",
        "uniq (list $d $e)",
        "without (list $d) $e",
        "merge $d $e",
        "mergeOverwrite $d $e",
    ] {
        let failure = render(&format!("{BOMB}{other}{{{{ {call} }}}}")).unwrap_err();
        assert!(failure.limit, "{call}: {failure}");
    }
    let failure = render(&format!("{ITSELF}{{{{ merge $d $d }}}}")).unwrap_err();
    assert!(failure.limit, "{failure}");
}

#[test]
fn what_is_too_long_is_not_built() {
    for call in [
        "until 1000000000",
        "until -9223372036854775808",
        "untilStep 0 9223372036854775807 1",
        "untilStep -9223372036854775808 9223372036854775807 1",
        "seq 1000000000",
        "seq -9223372036854775807 9223372036854775806",
        r#"repeat 1000000000 "x""#,
        r#"repeat 9223372036854775807 "xyz""#,
        r#"indent 9223372036854775807 "x""#,
        r#"nindent 1000000000 "x""#,
        r#"$x := repeat 100000 "x" }}{{ range until 6 }}{{ $x = replace "x" $x $x }}{{ end"#,
        r#"$x := repeat 100000 "x" }}{{ range until 6 }}{{ $x = regexReplaceAll "x" $x $x }}{{ end"#,
        r#"$x := repeat 100000 "x" }}{{ range until 6 }}{{ $x = regexReplaceAllLiteral "x" $x $x }}{{ end"#,
        r#"$x := repeat 10000000 "x" }}{{ splitList "" $x | len"#,
        r#"$x := repeat 50000000 "x" }}{{ regexFindAll "x" $x -1 | len"#,
        r#"$x := repeat 100000 " " }}{{ wrapWith 1 (repeat 100000 "y") (repeat 100000 "ab") | len"#,
        r#"$x := repeat 1000000 "x" }}{{ range until 9 }}{{ $x = join $x (splitList "" (trunc 1000 $x)) }}{{ end"#,
    ] {
        let failure = render(&format!("{{{{ {call} }}}}")).unwrap_err();
        assert!(failure.limit, "{call}: {failure}");
    }
}

#[test]
fn documents_that_nest_too_deeply_are_refused() {
    for call in [
        r#"fromJson (printf "{\"a\":%s" (repeat 1000000 "["))"#,
        r#"mustFromJson (repeat 1000000 "[")"#,
        r#"regexMatch (repeat 100000 "(") "a""#,
        r#"fromYaml (repeat 100000 "[")"#,
        r#"fromToml (printf "a = %s" (repeat 100000 "["))"#,
        r#"regexFind "((((a{100}){100}){100}){100})" "a""#,
        r#"mulf (repeat 300 "9") (repeat 300 "9") (repeat 300 "9")"#,
    ] {
        // Some say so in the value; none may break down.
        let _ = render(&format!("{{{{ {call} }}}}"));
    }
    assert!(render(r#"{{ mustFromJson (repeat 1000000 "[") }}"#).unwrap_err().limit);
    assert!(render(r#"{{ regexFind "((((a{100}){100}){100}){100})" "a" }}"#).is_err());
}

#[test]
fn a_text_that_doubles_in_every_turn_is_stopped() {
    for grow in [
        "quote $x",
        "squote $x $x",
        "cat $x $x",
        "regexQuoteMeta $x",
        "print $x $x",
        "printf \"%s%s\" $x $x",
        "toJson $x",
        "replace \"\\\\\" \"\\\\\\\\\" $x",
        "join $x (list 1 2 3)",
        "indent 4 $x | indent 8",
        "nospace (cat $x $x)",
        "list $x $x | toString",
    ] {
        let text =
            format!("{{{{ $x := \"\\\"\\\\\" }}}}{{{{ range 60 }}}}{{{{ $x = {grow} }}}}{{{{ end }}}}");
        match render(&text) {
            Err(failure) => assert!(failure.limit, "{grow}: {failure}"),
            // Some do not grow by themselves.
            Ok(_) => assert!(grow.starts_with("indent") || grow.starts_with("replace"), "{grow}"),
        }
    }
}

#[test]
fn maps_and_lists_without_end_are_stopped() {
    for text in [
        "{{ $d := dict }}{{ range $i := 3000000 }}{{ $_ := set $d (toString $i) 1 }}{{ end }}",
        "{{ $l := list }}{{ range $i := 3000000 }}{{ $l = list $l 1 2 3 }}{{ end }}",
        "{{ range $i := 3000000 }}{{ $_ := dict \"a\" 1 \"b\" 2 }}{{ end }}",
    ] {
        assert!(render(text).unwrap_err().limit, "{text}");
    }
}
