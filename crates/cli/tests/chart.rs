//! `chart render`: a chart as `helm template` prints it.
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::{Folder, charts, ended, fed, run};

const OBJECT: &str = "\
kind: ConfigMap
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
data:
  port: {{ .Values.port | quote }}
  name: {{ .Values.deep.name | quote }}
  upgrade: {{ .Release.IsUpgrade | quote }}
  install: {{ .Release.IsInstall | quote }}
  kubernetes: {{ .Capabilities.KubeVersion | quote }}
  gateways: {{ .Capabilities.APIVersions.Has \"gateway.example/v1\" | quote }}
";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    charts::chart(&folder, "shop", OBJECT);
    folder.file("shop/values.yaml", "port: 80\ndeep: {name: own, other: 1}\n");
    folder.file("shop/templates/NOTES.txt", "{{ .Release.Name }} listens at {{ .Values.port }}.\n");
    folder.file("shop/crds/things.yaml", "kind: CustomResourceDefinition\n");
    let hook = "kind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n";
    folder.file("shop/templates/hook.yaml", hook);
    folder
}

fn has(printed: &str, lines: &[&str]) {
    for line in lines {
        assert!(printed.lines().any(|printed| printed.trim() == *line), "{line} is not in {printed}");
    }
}

#[test]
fn a_chart_is_rendered_with_its_own_values() {
    let folder = folder("chart-plain");
    let printed = folder.run("chart render mine shop").good();
    assert!(printed.starts_with("---\n# Source: shop/templates/object.yaml\nkind: ConfigMap\n"), "{printed}");
    has(&printed, &["metadata: {name: mine, namespace: default}", "port: \"80\"", "name: \"own\""]);
    has(&printed, &["upgrade: \"false\"", "install: \"true\"", "gateways: \"false\"", "kind: Job"]);
    assert!(!printed.contains("CustomResourceDefinition") && !printed.contains("listens"), "{printed}");
}

#[test]
fn a_release_is_what_it_is_said_to_be() {
    let folder = folder("chart-release");
    let printed = folder.run("chart render mine shop -n mesh --is-upgrade --kube-version 1.31.2").good();
    has(&printed, &["metadata: {name: mine, namespace: mesh}", "upgrade: \"true\"", "install: \"false\""]);
    has(&printed, &["kubernetes: \"v1.31.2\""]);
    has(&folder.run("chart render mine shop -a gateway.example/v1").good(), &["gateways: \"true\""]);
    assert!(!folder.run("chart render mine shop --no-hooks").good().contains("kind: Job"));
    has(&folder.run("chart render mine shop --include-crds").good(), &["kind: CustomResourceDefinition"]);
}

#[test]
fn values_files_are_laid_over_each_other_and_flags_over_them() {
    let folder = folder("chart-values");
    folder.file("a.yaml", "port: 1\ndeep: {name: a}\n");
    folder.file("b.yaml", "deep: {name: b}\n");
    folder.file("nothing.yaml", "");
    for (words, port, name) in [
        ("-f a.yaml", "1", "a"),
        ("-f a.yaml -f b.yaml", "1", "b"),
        ("-f b.yaml --values a.yaml", "1", "a"),
        ("-f a.yaml,b.yaml,nothing.yaml --set port=2", "2", "b"),
        ("--set deep.name=x=y", "80", "x=y"),
        ("-s port=1 -s port=3", "3", "own"),
    ] {
        let printed = folder.run(&format!("chart render mine shop {words}")).good();
        has(&printed, &[&format!("port: {port:?}"), &format!("name: {name:?}")]);
    }
    // Nothing is not even quoted.
    has(&folder.run("chart render mine shop --set port=null").good(), &["port:", "name: \"own\""]);
    let mut asked = folder.command("chart render mine shop -f -".split(' '));
    has(&fed(&mut asked, "port: 7\n").good(), &["port: \"7\""]);
}

#[test]
fn notes_are_printed_alone() {
    let folder = folder("chart-notes");
    let printed = folder.run("chart render mine shop --notes --set port=81").good();
    assert_eq!(printed, "mine listens at 81.\n");
    charts::chart(&folder, "silent", "a: 1\n");
    assert_eq!(folder.run("chart render mine silent --notes").good(), "");
}

#[test]
fn an_archive_is_the_same_as_its_folder() {
    let folder = folder("chart-archive");
    charts::chart(&folder, "one", OBJECT);
    let text = "apiVersion: v2\nname: one\nversion: 1.2.3\n";
    let values = "port: 80\ndeep: {name: own}\n";
    folder.file("one/values.yaml", values);
    let files =
        [("one/Chart.yaml", text), ("one/templates/object.yaml", OBJECT), ("one/values.yaml", values)];
    folder.file("one.tgz", charts::archive(&files));
    let printed = folder.run("chart render mine one.tgz").good();
    assert_eq!(printed, folder.run("chart render mine one").good());
}

#[test]
fn the_charts_of_this_repository_can_be_looked_into() {
    let folder = Folder::new("chart-own");
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/base");
    let printed = ended(&mut folder.command(["chart", "render", "mesh", base])).done();
    assert!(printed.contains("kind: ServiceAccount"), "{printed:.300}");
}

#[test]
fn what_is_wrong_is_told_once() {
    let folder = folder("chart-wrong");
    folder.file("list.yaml", "- 1\n");
    folder.file("broken.yaml", "a: [\n");
    folder.file("typed/Chart.yaml", "apiVersion: v2\nname: typed\nversion: 1.0.0\n");
    folder.file("typed/values.schema.json", "{\"properties\": {\"port\": {\"type\": \"integer\"}}}");
    charts::chart(&folder, "fails", "a: 1\nb: {{ fail \"no\" }}\n");
    for (words, told) in [
        ("shop -f nowhere.yaml", "error[MZ0001]: cannot be read: No such file or directory"),
        ("shop -f list.yaml", "error: list.yaml holds no values: it is no map\n"),
        ("shop -f broken.yaml", "--> broken.yaml:1:4"),
        ("nowhere", "error: nowhere cannot be read\n  cause: No such file or directory (os error 2)\n"),
        (".", "error: . has no Chart.yaml, so it is no chart: give the folder or the .tgz of one\n"),
        ("list.yaml", "error: list.yaml: this is no gzip-compressed tar archive"),
        ("fails", "error: fails/templates/object.yaml:2:7: no\n"),
        ("typed --set port=x", "error: the values do not fit the schema of chart typed: "),
        ("shop --set deep=null --strict", "error: shop/templates/object.yaml:5:"),
    ] {
        let said = folder.run(&format!("chart render mine {words}")).bad(1);
        assert!(said.contains(told), "{words}: {said}");
        assert_eq!(said.matches("error").count() - said.matches("os error").count(), 1, "{words}: {said}");
    }
    for (words, told) in [
        ("shop --kube-version new", "error: `new` is no version of Kubernetes: write it like `v1.33.4`\n"),
        ("shop --set port", "error: --set port is not PATH=VALUE\n"),
        ("shop --set =1", "error: --set =1 is not PATH=VALUE\n"),
        ("shop --set a[=1", "error: --set a[=1: `[` selects nothing"),
        ("", "<CHART>"),
        ("shop more", "unexpected argument 'more'"),
    ] {
        let said = folder.run(&format!("chart render mine {words}")).bad(2);
        assert!(said.contains(told), "{words}: {said}");
    }
    assert!(run("mizzen chart").bad(2).contains("Usage: mizzen chart"));
}
