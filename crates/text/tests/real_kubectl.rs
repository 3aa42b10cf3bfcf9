//! The real kubectl beside us: what it reads from odd spellings, what it refuses, and how it prints.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use mizzen_testkit::{needs, tools};
use mizzen_text::{
    Source,
    yaml::{Options, load_all, to_string},
};
use serde_json::{Deserializer, Value, json};

/// What stands behind `data:`.
const READ: &[&str] = &[
    " 0644",
    " [0o17, 0b11, -0b11, 0x1F, +0x_1F, 0b-1, 08, 0o8, 0x, 00]",
    " [1_000, 1__0_, _1, 1_0.5, .5, +.5, 1., ., .e3, .5_0, .5_, 1e3, 1E-3, 1e999, 1e, -, --1]",
    " [1.0, -0.0, 1.50, 100000000000000000000, 1e20, 1e21, 0.00001, 12345678.9]",
    " [9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615]",
    " [y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE, yEs, tRue]",
    " [n, N, no, No, NO, off, Off, OFF, false, False, FALSE, oFF]",
    " [~, null, Null, NULL, nUll, '', \"\"]",
    "",
    " [12:30, 190:20:30, 1.2.3, 5s, 10Mi, 1/2, a:b, =, 2026-01-02, 2026-01-02T03:04:05Z, 2026-1-2 3:4:5]",
    "\n  on: 1\n  y: 2\n  0644: 3\n  1.50: 4\n  1e10: 5\n  0.1: 6\n  123456789.5: 7\n  -1: 8\n  2026-01-02: 9\n  .inf: 10",
    " {'on': 1, \"yes\": 2, '1': 3}",
    " [!!str 5, !!str yes, !!int '5', !!float 5, !!bool 'yes', !!null '', ! 5, ! '5', !own 5, !!own 5]",
    " [!!binary aGFsbG8=, !!binary '', !!binary gIE=, !!timestamp 2026-01-02]",
    "\n  b: !!binary |\n    aGFs\n    bG8=\n",
    " !!set {a, b}",
    " !own\n  a: !own\n  - 1",
    " {a: &x {k: 1, l: [2]}, b: *x, c: [*x, *x]}",
    "\n  a: &x 5\n  b: *x\n  c: &x 6\n  d: *x\n  *x : e",
    "\n  base: &x {k: 1, l: 2}\n  c:\n    <<: *x\n    k: 3\n  d:\n    k: 3\n    <<: *x",
    "\n  a: &x {k: 1, m: 1}\n  b: &y {k: 2, n: 2}\n  c: {<<: [*x, *y, {o: 3}]}\n  d: {<<: {k: 7}}\n  e: {'<<': 1}",
    "\n  a: 1\n  b: 2\n  a: 3",
    "\n  a: {x: 1, x: 2}\n  1: 1\n  1: 2",
    " |\n  a\n   b\n\n  c\n",
    " |-\n  a\n\n",
    " |+\n  a\n\n",
    " >\n  a\n  b\n\n  c\n   d\n  e\n",
    " >-\n\n  a\n  b\n",
    " |2\n    a\n  b\n",
    " |1-\n  a\n",
    "\n  a: |\n\n    x\n  b: >+ # why\n    y\n\n  c: 1",
    " plain words\n  on several\n\n  lines # and a comment",
    " 'it''s\n  folded\n\n  here'",
    " \"a\\tb\\x41\\u00e9\\U0001F600\\\n  \\ c\\\"\\\\\\e\\0\\N\\_\\L\\P\\a\\b\\v\\f\\r d\n  e\"",
    " \"tabs\there\"",
    " [a, b,c , 'd', \"e\",]",
    " [a: b, ? c : d, \"e\":f, g : h, [i], {j}]",
    " {a: b, \"c\":d, e, f: , ? g : h, i: {j: [k]}, l:m, n: http://o/p#q}",
    " [\n1,\n2]\n",
    " {a: [1,\n  2], # comment\n  b: 3\n}",
    "\n- a\n- - b\n  - c\n-\n  d: e\n  f: g\n- h: i\n  j:\n  - k\n  l: m\n-\n- ''",
    "\n  - indented\n  - more",
    "\n  a:\n  - 1\n  b:\n    - 2\n  c:\n\n  # comment\n  d:",
    "\n  ? a\n  : b\n  ? c\n  ? |\n    d\n  : - e",
    "\n  a b: 1\n  \"c: d\" : 2\n  'e' : 3\n  f\t: 4\n  -g: 5\n  ?h: 6\n  :i: 7\n  j#k: 8",
    "\n  a: -x\n  b: ?y\n  c: :z\n  d: a:b\n  e: a#b\n  f: '#'\n  g: a\tb",
    "\n  a: &anchor\n  b: !!str\n  c: ! \n  d: !!null",
    "\n  é: ü\n  漢: 字\n  😀: \"😀\"",
    " a\u{a0}b",
    " \"a\u{2028}b\"",
    " 'x'#comment",
];

/// Whole inputs.
const INPUTS: &[&str] = &[
    "\u{feff}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mark}\n",
    "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: lines\r\ndata:\r\n  a: |\r\n    x\r\n    y\r\n",
    "# only a comment\n---\n---\n# and\n--- # here\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: empty}\n---\nnull\n---\n",
    "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"json\"},\n\t\"data\": {\"a\": \"\\/\\ud83d\\ude00\", \"b\": 1.0, \"c\": 1e3}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: end}\n...\nnot: [read\n",
];

const REFUSED: &[&str] = &[
    " .inf",
    " {.nan: 1, a: .NaN}",
    " {~: 1}",
    " {[a]: 1}",
    " {18446744073709551615: 1}",
    " *unknown",
    " &a [*a]",
    " {<<: 5}",
    " !!int x",
    " !!binary '***'",
    " !e!x 5",
    " [a, b",
    " 'open",
    " \"\\/\"",
    " a: b",
    " - a",
    "\n\ta: 1",
    "\n  a: 1\n b: 2",
    "\n  a: 1\n   b: 2",
    "\n  - a\n  b: 1",
    " [a,,b]",
    " @a",
    " `a`",
    " |0\n  a",
    " \"\\q\"",
    " {a: b}: c",
    "\n--- a: 1",
    " \u{1}",
    " [a?b]",
];

fn document(data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: row\ndata:{data}\n")
}

fn kubectl(input: &str, format: &str) -> Output {
    let mut child = Command::new(tools::command("kubectl").unwrap())
        .args(["patch", "--local", "--type=merge", "--patch={}", "--filename=-", "--output", format])
        .env("KUBECONFIG", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn kubectl_json(input: &str) -> Vec<Value> {
    let output = kubectl(input, "json");
    assert!(output.status.success(), "{input}\n{}", String::from_utf8_lossy(&output.stderr));
    Deserializer::from_slice(&output.stdout).into_iter().map(Result::unwrap).collect()
}

fn ours(input: &str) -> Vec<Value> {
    load_all(&Source::new("in", input), &Options::KUBERNETES)
        .map(|document| document.unwrap().value)
        .collect()
}

/// We keep all of the digits of numbers with 64 bits, kubectl keeps 53 bits of those that do not fit an `int64`.
fn lossy(value: Value) -> Value {
    match value {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) => json!(float),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(lossy).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, lossy(value))).collect(),
        other => other,
    }
}

#[test]
fn odd_spellings_are_read_alike() {
    needs!(&["kubectl"]);
    let input: Vec<_> = READ.iter().map(|data| document(data)).collect();
    let theirs = kubectl_json(&input.join("---\n"));
    assert_eq!(theirs.len(), READ.len());
    for ((row, text), theirs) in READ.iter().zip(&input).zip(theirs) {
        let ours: Vec<_> = ours(text).into_iter().map(lossy).collect();
        assert_eq!(ours, [lossy(theirs)], "{row}");
    }
}

#[test]
fn whole_inputs_are_split_and_read_alike() {
    needs!(&["kubectl"]);
    for input in INPUTS {
        assert_eq!(ours(input), kubectl_json(input), "{input}");
    }
}

#[test]
fn what_kubectl_refuses_is_refused() {
    needs!(&["kubectl"]);
    for row in REFUSED {
        let input = document(row);
        assert!(!kubectl(&input, "json").status.success(), "kubectl reads {input}");
        let read: Vec<_> = load_all(&Source::new("in", input), &Options::KUBERNETES).collect();
        assert!(read.iter().any(Result::is_err), "{row}: {read:?}");
    }
}

/// Strings whose quoting is not plain to see. (Not U+0085: kubectl takes that for a line end on its way from JSON to
/// YAML, and loses it.)
const STRINGS: &[&str] = &[
    "",
    " ",
    " a",
    "a ",
    "a",
    "plain words",
    "true",
    "True",
    "y",
    "Y",
    "yes",
    "on",
    "off",
    "n",
    "null",
    "Null",
    "~",
    "nUll",
    "0",
    "1",
    "-1",
    "+1",
    "0x1",
    "0o7",
    "0b1",
    "0644",
    "08",
    "1_000",
    "1e3",
    "1.",
    ".5",
    ".",
    "-",
    "--",
    "---",
    "--- a",
    "...",
    "....",
    ".inf",
    "-.inf",
    ".nan",
    "inf",
    "nan",
    "12:30",
    "12:60",
    "1:2:3",
    "190:20:30.15",
    "1:1:",
    "=",
    "<<",
    "2026-01-02",
    "2026-1-2",
    "2026-01-02T03:04:05Z",
    "2026-01-02T03:04:05",
    "2026-13-01",
    "1.2.3",
    "5s",
    "10%",
    "%a",
    "@a",
    "`a",
    "a`",
    "!a",
    "&a",
    "*a",
    "*",
    "|",
    "|a",
    ">",
    ">=1",
    "'",
    "'a'",
    "it's",
    "\"",
    "\"a\"",
    "a\"b",
    "\\",
    "a\\b",
    "#",
    "#a",
    "a#b",
    "a #b",
    "a# b",
    ":",
    ":a",
    "a:",
    "a:b",
    "a: b",
    "a :b",
    "http://a:80/b?c=d#e",
    "?",
    "? a",
    "?a",
    "- a",
    "-a",
    "[",
    "[a]",
    "a]",
    "{",
    "{a}",
    "{{ .Values.a }}",
    ",",
    "a,b",
    ",a",
    "\t",
    "a\tb",
    "\ta",
    "\n",
    "\n\n",
    "a\n",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "a\n\nb",
    "\na",
    " a\nb",
    "a\n b",
    "a \nb",
    "a\nb ",
    "a\tb\nc",
    "a\n#b",
    "a\r\nb",
    "a\rb",
    "\u{1}",
    "\u{1b}[0m",
    "é",
    "漢字",
    "😀",
    "\u{a0}",
    "a\u{2028}b",
    "a\u{2028}b\nc",
    "\u{feff}",
    "\u{feff}ab",
    "a\u{feff}",
    "\u{fffd}",
    "\u{e000}",
    "<script>&amp;",
    "$(A)",
    "${A}",
    "a very long line of words that would be folded by printers that care about eighty columns, as go-yaml does",
    "a very long line: of words that would be folded by printers that care about eighty columns, it's that simple",
    "a very long line\twith a tab  and  double  blanks  that would be folded by printers  that care about  eighty columns",
    " a very long line with blanks at both ends that would be folded by printers that care about eighty columns ",
    "a/path/without/any/blank/that/is/longer/than/eighty/columns/and/stays/on/its/line/because/it/has/to and then goes on",
];

#[test]
fn strings_and_keys_are_printed_byte_for_byte_alike() {
    needs!(&["kubectl"]);
    // Go leaves this one key bare, and nobody could read it back.
    let keys = STRINGS.iter().filter(|key| **key != "<<");
    let value = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "strings"},
        "data": {
            "list": STRINGS,
            // One to a map: go-yaml's order of keys contradicts itself for some of them.
            "keys": keys.map(|key| json!({*key: 1})).collect::<Value>(),
            "nested": {"a": [["x\ny", ["z\n"]], {"b": "c\nd", "e": []}, {}], "k".repeat(129): [{"a": 1}], "l".repeat(128): 1},
            "order": {"a1": 0, "a10": 0, "a2": 0, "a01": 0, "A": 0, "_": 0, "-": 0, "a-b": 0, "aB": 0, "ab": 0, "é": 0},
            "numbers": [0, -1, 9_223_372_036_854_775_807_i64, 0.1, 1.5, 123_456.5, 1_234_567.5, 1e-5, 0.0001, 1e20, 1e21, 1.5e300, 2_213_282_627_934_807.2, 1000.0],
            "others": [null, true, false],
        }
    });
    let output = kubectl(&value.to_string(), "yaml");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (theirs, ours) = (String::from_utf8(output.stdout).unwrap(), to_string(&value));
    for (line, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}", line + 1);
    }
    assert_eq!(ours, theirs);
}
