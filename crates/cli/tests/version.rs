//! `version`, as text and as data.

mod common;

use common::{NAMES, run};
use serde_json::Value;

const NUMBER: &str = env!("CARGO_PKG_VERSION");

#[test]
fn json_has_the_fields_of_istioctl_and_ours_under_every_name() {
    for name in NAMES {
        let json: Value = serde_json::from_str(&run(&format!("{name} version -o json")).good()).unwrap();
        let build = json["clientVersion"].as_object().unwrap();
        let fields: Vec<_> = build.keys().map(String::as_str).collect();
        let expected =
            ["istio_version", "profile", "revision", "rust_version", "status", "tag", "target", "version"];
        assert_eq!(fields, expected);
        assert!(build.values().all(|value| value.as_str().is_some_and(|text| !text.is_empty())), "{build:?}");
        assert_eq!(build["version"], NUMBER);
        assert_eq!(build["istio_version"], "1.31");
        assert!(["Clean", "Modified", "unknown"].contains(&build["status"].as_str().unwrap()));
        assert_eq!(build["rust_version"].as_str().unwrap().split('.').count(), 3);
        assert!(build["target"].as_str().unwrap().contains(std::env::consts::ARCH));
    }
}

#[test]
fn yaml_says_the_same_as_json() {
    let json: Value = serde_json::from_str(&run("mizzen version --output json").good()).unwrap();
    let yaml = run("mizzen version --output yaml").good();
    let mut lines = yaml.lines();
    assert_eq!(lines.next(), Some("clientVersion:"));
    let build = json["clientVersion"].as_object().unwrap();
    assert_eq!(yaml.lines().count(), build.len() + 1);
    for line in lines {
        let (name, value) = line.trim_start().split_once(": ").unwrap();
        assert_eq!(value.trim_matches('"'), build[name], "{line}");
    }
    assert!(yaml.contains("\n  istio_version: \"1.31\"\n"), "a version must not be read as a number: {yaml}");
}

#[test]
fn short_is_one_line_and_the_default_of_istioctl_only() {
    let one = format!("client version: {NUMBER}\n");
    for line in ["mizzen version -s", "mizzen version --short", "istioctl version -s --remote=false"] {
        assert_eq!(run(line).good(), one, "{line}");
    }
    assert_eq!(run("istioctl version").good(), one);
    for line in ["mizzen version", "istioctl version --short=false", "pilot-discovery version"] {
        let text = run(line).good();
        assert!(text.starts_with(&one) && text.contains("compatible with: Istio 1.31"), "{line}: {text}");
    }
}

#[test]
fn a_cluster_that_is_asked_for_and_not_there_is_told_and_no_failure() {
    for line in ["istioctl version --remote", "mizzen version -s --kubeconfig nowhere.yaml"] {
        let ended = run(line);
        assert_eq!((ended.code, ended.out), (0, format!("client version: {NUMBER}\n")), "{line}");
        assert!(ended.err.starts_with("Istio is not present in the cluster: "), "{line}: {}", ended.err);
        assert_eq!(ended.err.lines().count(), 1, "{line}: {}", ended.err);
    }
}

#[test]
fn the_flag_that_everybody_tries_works_too() {
    assert_eq!(run("mizzen --version").good(), format!("mizzen {NUMBER}\n"));
}

#[test]
fn an_unknown_format_names_those_there_are() {
    let said = run("mizzen version -o xml").bad(2);
    assert!(said.contains("'xml'") && said.contains("json") && said.contains("yaml"), "{said}");
}
