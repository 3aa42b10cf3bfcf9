//! Our charts as they stand in the repository: logic of our own, copies that are copies, every value explained.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has counted"
)]

mod own_charts;

use std::{collections::BTreeMap, fs};

use mizzen_testkit::{needs, tools};
use own_charts::{
    CHARTS, chart,
    comments::unexplained,
    files,
    logic::{is_logic, shared},
    repository,
};

/// Of the lines of logic in a chart, at most this part may stand in Istio's chart of the same folder, too.
const LARGEST_SHARE: f64 = 0.2;

#[test]
fn the_logic_of_our_charts_is_our_own() {
    needs!(&["modules/istio"]);
    let istios = tools::folder("modules/istio").unwrap().join("manifests/charts");
    for folder in CHARTS {
        let (all, shared) = shared(&chart(folder), &istios.join(folder));
        let share = shared.len() as f64 / all as f64;
        let mut often = BTreeMap::<_, usize>::new();
        shared.iter().for_each(|line| *often.entry(line).or_default() += 1);
        println!(
            "{folder}: {} of {all} lines of logic are Istio's, too, {:.1} %",
            shared.len(),
            share * 100.0
        );
        assert!(all > 50, "{folder}: {all} lines of logic, which is no chart");
        assert!(share <= LARGEST_SHARE, "{folder}: {:.1} %: {often:#?}", share * 100.0);
    }
}

#[test]
fn a_line_is_logic_unless_all_it_does_is_to_insert_a_value() {
    for line in [
        "a: b",
        "a: {{ .Values.global.hub }}",
        "{{ . }}",
        "a: {{ $v.b | quote }}",
        "a: {{- toYaml .Values.a.b | nindent 4 }}",
        "- {name: {{ quote .name }}, optional: true}",
        "name: {{ $kind }}",
    ] {
        assert!(!is_logic(line), "{line}");
    }
    for line in [
        "{{- end }}",
        "{{- else }}",
        "{{/*",
        "{{/* why */}}",
        "{{- if .Values.a }}",
        "a: {{ .Values.a | default \"b\" }}",
        "a: {{ .a }}-{{ .b }}",
        "a: {{ include \"b\" . }}",
        "{{- $a := .Values.a }}",
        "{{- include \"b\" (dict",
        "a: {{ .a }} {{- include \"b\" (dict",
        "a: {{ end }}",
    ] {
        assert!(is_logic(line), "{line}");
    }
}

/// Helm has no way to share a file between charts.
#[test]
fn what_is_in_several_charts_is_the_same_in_all() {
    let gateways = &CHARTS[2..];
    for (charts, names) in [
        (&CHARTS[..], &["templates/_mesh.tpl", "files/layers.yaml"][..]),
        (&CHARTS[..2], &["templates/_admission.tpl"]),
    ] {
        for name in names {
            let first = fs::read(chart(charts[0]).join(name)).unwrap();
            for folder in &charts[1..] {
                assert!(first == fs::read(chart(folder).join(name)).unwrap(), "{folder}/{name}");
            }
        }
    }
    for part in ["templates", "files"] {
        let [ingress, egress] = [0, 1].map(|at| files(&chart(gateways[at]).join(part)));
        let names = |files: &[(String, _)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&ingress), names(&egress));
        for ((name, ingress), (_, egress)) in ingress.iter().zip(&egress) {
            assert!(ingress == egress, "{part}/{name} differs between the gateways");
        }
    }
}

#[test]
fn every_value_is_explained() {
    for folder in CHARTS {
        let text = fs::read_to_string(chart(folder).join("values.yaml")).unwrap();
        assert!(text.contains("\ndefaults:\n"), "{folder}");
        assert_eq!(unexplained(&text), [""; 0], "{folder}");
    }
}

#[test]
fn a_key_without_a_comment_is_found() {
    let text = "
top: 1
defaults:
  bare: 1
  # Explained.
  map:
    inherited: 1
    other: {}
  beside: 1  # on its line
  # Explained.
  section:
    alone: 1
    # Two of them.
    first: 1
    second:
    - name: x
      port: 1
    third:
      deep: 1

    after-a-gap: 1
    # Another.
    last:
      # Of the first inside.
      one: 1
  unexplained:
    inner: 1
";
    assert_eq!(unexplained(text), ["bare", "section.after-a-gap", "unexplained", "unexplained.inner"]);
}

/// Images are found by `hub`, which a user sets; where they are published is nobody's business here.
#[test]
fn no_registry_is_named() {
    let hosts = ["docker.io", "gcr.io", "ghcr.io", "quay.io", "pkg.dev", "amazonaws", "azurecr", "registry."];
    for folder in ["charts", "profiles"] {
        for (name, bytes) in files(&repository(folder)) {
            let text = String::from_utf8(bytes).unwrap();
            let found: Vec<_> = hosts.iter().filter(|host| text.contains(*host)).collect();
            assert!(found.is_empty(), "{folder}/{name}: {found:?}");
            for line in text.lines() {
                let value = line.trim().strip_prefix("hub:").or_else(|| line.trim().strip_prefix("image:"));
                let literal = value.map(str::trim).filter(|value| !value.contains("{{"));
                assert!(
                    literal.is_none_or(|value| !value.contains(['.', ':', '/'])),
                    "{folder}/{name}: {line}"
                );
            }
        }
    }
}
