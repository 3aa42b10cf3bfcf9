//! Charts that fail, do not end, or want too much: one sentence with the place, exit code 1, and an end.
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::{Ended, Folder, charts};
use std::{
    fs::File,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Far more than any of these takes on a busy machine; without an end the test would wait for ever.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs it, and ends it if it does not do so itself.
fn bounded(folder: &Folder, mut command: Command) -> Ended {
    let path = |name: &str| folder.path().join(name);
    let file = |name: &str| Stdio::from(File::create(path(name)).unwrap());
    let mut child =
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > PATIENCE => {
                child.kill().unwrap();
                panic!("{command:?} did not end");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let text = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    Ended { code: status.code().expect("ended by a signal"), out: text("stdout"), err: text("stderr") }
}

/// Template, and what is said of it; the place is that of the base chart's only template.
const TEMPLATES: &[(&str, &str, &str)] = &[
    ("a field of nothing", "a: 1\nb: {{ .Values.no.such.field }}", ":2:7: "),
    (
        "a value that is missing",
        "a: 1\nb: {{ required \"name the cluster\" .Values.cluster }}",
        ":2:7: name the cluster",
    ),
    (
        "a failure on purpose",
        "{{- if true }}\n  {{ fail \"not on a Friday\" }}\n{{ end }}",
        ":2:6: not on a Friday",
    ),
    ("no such function", "a: {{ frobnicate 1 }}", ":1:7: function \"frobnicate\" not defined"),
    ("no such template", "a: {{ include \"nowhere\" . }}", ":1:7: "),
    ("an action without an end", "a: 1\n{{ if true }}", "unexpected"),
    ("no YAML", "a: [1,", "the `[` is not closed"),
    (
        "an include of itself",
        "{{ define \"x\" }}{{ include \"x\" . }}{{ end }}a: {{ include \"x\" . }}",
        "template \"x\" includes itself too deeply: x → x",
    ),
    (
        "includes in a circle",
        "{{ define \"x\" }}{{ template \"y\" . }}{{ end }}{{ define \"y\" }}{{ include \"x\" . }}{{ end }}\
         a: {{ include \"x\" . }}",
        "includes itself too deeply",
    ),
    (
        "text that is a template of itself",
        "{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t \"Template\" .Template) }}",
        "includes itself too deeply",
    ),
    (
        "loops in loops",
        "{{ range until 100000 }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}",
        "more than 256 MiB",
    ),
    (
        "a loop that does nothing",
        "{{ $l := until 10000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}",
        "20000000",
    ),
    ("a gigabyte at once", "a: {{ repeat 1000000000 \"a\" }}", ":1:7: "),
    (
        "a gigabyte by and by",
        "{{ $x := repeat 100000 \"0123456789\" }}a: {{ range until 1000 }}{{ $x }}{{ end }}",
        "more than 256 MiB",
    ),
    (
        "a text that doubles",
        "{{ $x := \"ab\" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}",
        "more than 256 MiB",
    ),
    (
        "a list that doubles",
        "{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}",
        "more than 256 MiB",
    ),
    (
        "a map that doubles",
        "{{ $x := dict }}{{ range until 60 }}{{ $x = dict \"l\" $x \"r\" $x }}{{ end }}{{ toYaml $x }}",
        "more than 256 MiB",
    ),
    (
        "a map in itself",
        "{{ $x := dict }}{{ $_ := set $x \"x\" $x }}{{ toYaml $x }}",
        "nested too deeply, or within itself",
    ),
];

#[test]
fn a_template_that_fails_is_told_with_its_place() {
    let folder = Folder::new("hostile-generate");
    for (name, template, told) in TEMPLATES {
        charts::manifests(&folder, "own", template);
        let ended = bounded(&folder, folder.command(["manifest", "generate", "-d", "own"]));
        let said = ended.bad(1);
        assert!(said.contains("base/templates/object.yaml"), "{name}: {said}");
        assert!(said.contains(told), "{name}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{name} is told once: {said}");
        assert!(said.len() < 2000, "{name}: {said}");
    }
}

#[test]
fn a_chart_alone_is_told_of_in_the_same_way() {
    let folder = Folder::new("hostile-render");
    for (name, template, told) in TEMPLATES {
        charts::chart(&folder, "base", template);
        let said = bounded(&folder, folder.command(["chart", "render", "mesh", "base"])).bad(1);
        assert_eq!(said.lines().count(), 1, "{name} is told once: {said}");
        assert!(said.starts_with("error: ") && said.contains("base/templates/object.yaml"), "{name}: {said}");
        assert!(said.contains(told), "{name}: {said}");
        assert!(said.len() < 2000, "{name}: {said}");
    }
}

#[test]
fn an_archive_that_reaches_out_is_refused_and_nothing_is_written() {
    let folder = Folder::new("hostile-archive");
    let chart = ("base/Chart.yaml", "apiVersion: v2\nname: base\nversion: 1.0.0\n");
    for name in ["../evil.yaml", "base/../../evil.yaml", "/tmp/evil.yaml"] {
        folder.file("in/slip.tgz", charts::archive(&[chart, (name, "a: 1\n")]));
        let wanted =
            format!("error: in/slip.tgz: the archive's entry {name:?} points outside of the archive");
        for words in
            [["manifest", "generate", "-d", "in/slip.tgz"], ["chart", "render", "mesh", "in/slip.tgz"]]
        {
            let said = bounded(&folder, folder.command(words)).bad(1);
            assert!(said.starts_with(&wanted), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert!(!folder.path().join("evil.yaml").exists());
    }
}

#[test]
fn an_archive_that_is_no_archive_or_grows_too_large_is_refused() {
    let folder = Folder::new("hostile-bomb");
    let chart = ("base/Chart.yaml", "apiVersion: v2\nname: base\nversion: 1.0.0\n");
    let large = "0".repeat(30 << 20);
    folder.file("large.tgz", charts::archive(&[chart, ("base/templates/a.yaml", &large)]));
    let whole = charts::archive(&[chart]);
    folder.file("cut.tgz", &whole[..whole.len() / 2]);
    folder.file("text.tgz", "not packed");
    for (file, told) in [
        ("large.tgz", "bytes, which is as much as one file may have"),
        ("cut.tgz", "damaged or cut short"),
        ("text.tgz", "this is no gzip-compressed tar archive"),
    ] {
        let said = bounded(&folder, folder.command(["chart", "render", "mesh", file])).bad(1);
        assert!(said.starts_with(&format!("error: {file}: ")) && said.contains(told), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let said = bounded(&folder, folder.command(["chart", "render", "mesh", "/dev/zero"])).bad(1);
    assert!(said.contains("/dev/zero is neither a folder nor a file"), "{said}");
}
