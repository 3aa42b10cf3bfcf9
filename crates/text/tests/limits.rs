//! Input that means harm: each is refused with a diagnostic at its place, in bounded time and memory.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use std::fmt::Write;

use mizzen_text::{
    Code, Diagnostic, Source,
    yaml::{Document, Duplicates, Options, load_all},
};

type Read = Result<Document, Box<Diagnostic>>;

fn read(text: impl AsRef<[u8]>) -> Vec<Read> {
    load_all(&Source::new("in", text.as_ref()), &Options::KUBERNETES).collect()
}

/// The code of the only thing that is read, which is a refusal, and its place.
fn refused(text: impl AsRef<[u8]>) -> (Code, String) {
    let mut read = read(text);
    assert_eq!(read.len(), 1);
    let diagnostic = read.pop().unwrap().unwrap_err();
    (diagnostic.code, diagnostic.place.unwrap().to_string())
}

#[test]
fn an_input_that_is_too_large_is_told_and_not_read() {
    let options = Options { max_bytes: 2 << 20, ..Options::KUBERNETES };
    let source = Source::new("in", format!("a: {}", "x".repeat(2 << 20)));
    let read: Vec<_> = load_all(&source, &options).collect();
    let [Err(diagnostic)] = read.as_slice() else { panic!("{read:?}") };
    assert_eq!(diagnostic.code, Code::TooLarge);
    assert!(diagnostic.message.contains("more than 2 MiB"), "{}", diagnostic.message);
}

#[test]
fn what_is_nested_too_deep_is_refused_where_it_gets_too_deep() {
    for text in
        ["[".repeat(1_000_000), "{a: ".repeat(1_000_000), "- ".repeat(1_000_000), "? ".repeat(1_000_000)]
    {
        assert_eq!(refused(text).0, Code::TooDeep);
    }
    let mut steps = String::new();
    for depth in 0..2000 {
        let _ = writeln!(steps, "{}a:", " ".repeat(depth));
    }
    assert_eq!(refused(steps), (Code::TooDeep, "in:257:257".to_owned()));
    assert!(read("[".repeat(256) + &"]".repeat(256))[0].is_ok());
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut lists = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        let _ = writeln!(lists, "a{level}: &a{level} [{}]", [alias.as_str(); 10].join(", "));
    }
    assert_eq!(refused(lists).0, Code::Expansion);

    let long = "x".repeat(1 << 20);
    assert_eq!(refused(format!("a: &a {long}\nb: [{}]", "*a, ".repeat(1000))).0, Code::Expansion);
    assert_eq!(refused(format!("a: &a {long}\nb:\n{}", "- {*a : 1}\n".repeat(1000))).0, Code::Expansion);

    let mut merges = "a0: &a0 {x0: 1}\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        let _ = writeln!(merges, "a{level}: &a{level} {{<<: [{}]}}", [alias.as_str(); 10].join(", "));
    }
    assert_eq!(refused(merges).0, Code::Expansion);
}

#[test]
fn a_chain_of_aliases_is_not_deeper_than_a_document_may_be() {
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for level in 1..1000 {
        let _ = writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert!(matches!(refused(chain).0, Code::TooDeep | Code::Expansion));
}

#[test]
fn only_so_many_documents_are_read() {
    let options = Options { max_documents: 3, ..Options::KUBERNETES };
    let source = Source::new("in", "a: 1\n---\n".repeat(10));
    let read: Vec<_> = load_all(&source, &options).collect();
    assert_eq!(read.len(), 4);
    assert!(read[..3].iter().all(Result::is_ok));
    assert_eq!(read[3].as_ref().unwrap_err().code, Code::TooManyDocuments);
}

#[test]
fn bytes_that_are_no_text_are_told_and_leave_the_other_documents_alone() {
    for (bytes, place) in [
        (&b"a: 1\n---\nb: \0\n---\nc: 1\n"[..], "in:3:4"),
        (b"a: 1\n---\nb: \xff\n---\nc: 1\n", "in:3:4"),
        (b"a: 1\n---\nb: \x7f\n---\nc: 1\n", "in:3:4"),
        (b"a: 1\n---\nb: \xc2\x80\n---\nc: 1\n", "in:3:4"),
    ] {
        let read = read(bytes);
        assert_eq!(read.len(), 3);
        assert!(read[0].is_ok() && read[2].is_ok());
        let diagnostic = read[1].as_ref().unwrap_err();
        assert_eq!(diagnostic.code, Code::NotText);
        assert_eq!(diagnostic.place.as_ref().unwrap().to_string(), place);
    }
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain("a: 1".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let read = read(utf16);
    assert!(read[0].as_ref().unwrap_err().hint.as_ref().unwrap().contains("UTF-16"));
}

#[test]
fn a_document_cut_short_anywhere_does_no_harm() {
    let text = "a: &x {b: [1, \"c\\u00e9\", 'd''e'], f: !!binary aGk=}\ng:\n- |2-\n    h\n- >\n  i\n- *x\n? j\n: <<: *x\n";
    assert_eq!(read(text).len(), 1);
    for end in 0..text.len() {
        assert!(read(&text.as_bytes()[..end]).len() <= 1);
    }
}

#[test]
fn many_equal_keys_are_told_a_hundred_times_and_not_more() {
    let text = "a: 1\n".repeat(200_000);
    let document = read(&text).pop().unwrap().unwrap();
    assert_eq!(document.warnings.len(), 100);
    let options = Options { duplicates: Duplicates::Refuse, ..Options::KUBERNETES };
    let source = Source::new("in", text);
    assert!(load_all(&source, &options).next().unwrap().is_err());
}

/// Each would take minutes if any step looked at the same text again and again.
#[test]
fn the_work_grows_with_the_input_and_not_faster() {
    let n = 60_000;
    let many_keys = (0..n).fold(String::new(), |mut text, key| {
        let _ = writeln!(text, "k{key}: 1");
        text
    });
    let anchors = (0..n).fold(String::new(), |mut text, key| {
        let _ = writeln!(text, "- &a{key} x\n- *a{key}");
        text
    });
    for (text, documents) in [
        (many_keys, 1),
        (anchors, 1),
        ("{}".repeat(n), n),
        ("{\"a\": {}}\n".repeat(n), n),
        ("a: 'b\n".to_owned() + &"\n".repeat(n), 1),
        ("a: b\n".to_owned() + &" c\n\n".repeat(n), 1),
        (format!("a: b{}# c\nd: \"{}\"", " ".repeat(n), " x".repeat(n)), 1),
        (format!("a: |\n{}", "  x\n\n".repeat(n)), 1),
        (format!("[{}]", "a b , ".repeat(n)), 1),
        (format!("a: [{}]", "\"a\" , ".repeat(n)), 1),
        ("- a: b\n  c: d\n".repeat(n), 1),
        ("#\n".repeat(n) + "a: b", 1),
        ("--- #\n".repeat(n), 0),
        ("&a ".repeat(n), 1),
        ("!a ".repeat(n), 1),
    ] {
        assert_eq!(read(&text).len(), documents, "{}", &text[..40]);
    }
}
