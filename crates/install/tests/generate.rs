//! From files and flags to objects, on a profile and charts of a few lines: what is said where something is wrong.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]

use mizzen_install::{
    Charts, ChartsError, Generated, Images, Input, Refused, generate, get_path, merge, package_path, printed,
};
use mizzen_template::helm::Chart;
use mizzen_text::{Severity, Source};
use serde_json::{Value, json};

const DEFAULT: &str = "
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {namespace: istio-system}
spec:
  hub: example.com/hub
  tag: latest
  components:
    base: {enabled: true}
    pilot: {enabled: true, k8s: {replicaCount: 2}}
    ingressGateways: [{name: istio-ingressgateway, enabled: false}]
    egressGateways: [{name: istio-egressgateway, enabled: false}]
  values:
    global: {istioNamespace: istio-system}
";

const ISTIOD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: istiod, namespace: {{ .Release.Namespace }}}
spec: {template: {spec: {containers: [{name: discovery, image: \"{{ .Values.global.hub }}:{{ .Values.global.tag }}\"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: values}
data: {values: {{ toJson .Values | quote }}}
";

/// A profile, a chart of nothing, and one of a Deployment and its values.
struct Small {
    istiod: &'static str,
    notes: &'static str,
}

impl Charts for Small {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        match name {
            "default" => Ok(Source::new("profiles/default.yaml", DEFAULT)),
            "minimal" => {
                Ok(Source::new("profiles/minimal.yaml", "spec: {components: {base: {enabled: false}}}"))
            }
            _ => Err(ChartsError::no_profile(name, self)),
        }
    }

    fn profiles(&self) -> Vec<String> {
        vec!["default".to_owned(), "minimal".to_owned()]
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let about = |name: &str| {
            ("Chart.yaml".to_owned(), format!("{{apiVersion: v2, name: {name}, version: 1.0.0}}"))
        };
        let files = match folder {
            "base" => vec![about("base")],
            "istio-control/istio-discovery" => vec![
                about("istiod"),
                ("templates/all.yaml".to_owned(), self.istiod.to_owned()),
                ("templates/NOTES.txt".to_owned(), self.notes.to_owned()),
            ],
            _ => {
                return Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.describe() });
            }
        };
        Chart::from_files(files).map_err(|error| ChartsError::Unreadable(error.to_string()))
    }

    fn describe(&self) -> String {
        "the small charts".to_owned()
    }
}

const SMALL: Small = Small { istiod: ISTIOD, notes: "" };

fn input(file: &str, sets: &[&str]) -> Input {
    let file = Source::new("mesh.yaml", format!("kind: IstioOperator\n{file}"));
    Input { files: vec![file], sets: sets.iter().map(|set| (*set).to_owned()).collect(), ..Input::default() }
}

fn run(file: &str, sets: &[&str]) -> Result<Generated, Refused> {
    generate(&input(file, sets), &SMALL)
}

fn merged(file: &str, sets: &[&str], path: &str) -> Option<Value> {
    get_path(&merge(&input(file, sets), &SMALL).unwrap().tree, path).cloned()
}

#[test]
fn the_weakest_is_the_profile_and_the_strongest_a_flag() {
    for (file, sets, tag) in [
        ("", &[][..], "latest"),
        ("spec: {tag: file}", &[], "file"),
        ("spec: {tag: file}", &["tag=1.0"], "1.0"),
        ("spec: {tag: file, values: {global: {tag: value}}}", &["tag=flag"], "value"),
        ("", &["values.global.tag=2", "tag=flag"], "2"),
    ] {
        assert_eq!(merged(file, sets, "spec.values.global.tag"), Some(json!(tag)), "{file} {sets:?}");
    }
    let images = Some(Images { hub: "own".to_owned(), tag: "built-in".to_owned() });
    let tree = merge(&Input { images, ..input("", &["hub=flag"]) }, &SMALL).unwrap().tree;
    assert_eq!(
        get_path(&tree, "spec.values.global"),
        Some(&json!({"hub": "flag", "istioNamespace": "istio-system", "tag": "built-in"}))
    );
}

#[test]
fn null_in_a_flag_removes_what_the_profile_says() {
    assert_eq!(
        merged("", &["components.pilot.k8s.replicaCount=null"], "spec.components.pilot.k8s"),
        Some(json!({}))
    );
    assert_eq!(
        merged("", &["components.pilot.k8s=null"], "spec.components.pilot"),
        Some(json!({"enabled": true}))
    );
    assert_eq!(
        merged(
            "",
            &["components.pilot.k8s=null", "components.pilot.k8s.replicaCount=3"],
            "spec.components.pilot.k8s"
        ),
        Some(json!({"replicaCount": 3}))
    );
    assert_eq!(
        merged(
            "spec: {components: {egressGateways: [{name: a}, {name: b}]}}",
            &["components.egressGateways[0]=null"],
            "spec.components.egressGateways"
        ),
        Some(json!([{"name": "b"}]))
    );
    // A chart's own default goes only by null.
    assert_eq!(merged("", &["values.pilot.env=null"], "spec.values.pilot.env"), Some(Value::Null));
    assert_eq!(
        merged("", &["values=null"], "spec.values.global.istioNamespace"),
        Some(json!("istio-system"))
    );
}

#[test]
fn a_value_may_have_an_equals_sign() {
    assert_eq!(merged("", &["values.pilot.env.A=b=c"], "spec.values.pilot.env.A"), Some(json!("b=c")));
}

#[test]
fn what_is_wrong_is_told_where_it_was_written() {
    for (file, sets, message) in [
        ("spec:\n  values:\n    pilto: {}", &[][..], "mesh.yaml:4:5: spec.values.pilto: "),
        ("", &["values.pilto.x=1"], "--set values.pilto.x=1: spec.values.pilto: "),
        ("spec: {values: {pilot: {nosuch: 1}}}", &["values.pilot.env.A=b"], "mesh.yaml:2:"),
        (
            "",
            &["profile=minimale"],
            "--set profile=minimale: spec.profile: there is no profile `minimale` in the small charts; did you mean `minimal`?",
        ),
        (
            "spec: {profile: xyz}",
            &[],
            "mesh.yaml:2:8: spec.profile: there is no profile `xyz` in the small charts; there are default, minimal",
        ),
        ("spec: {profile: [a]}", &[], "mesh.yaml:2:8: spec.profile: the name of a profile is a text"),
        (
            "",
            &["components.ingressGateways[name:x].enabled=true"],
            "--set components.ingressGateways[name:x].enabled=true: ",
        ),
        ("", &["=x"], "--set =x: there is no path in front of `=`"),
        ("spec: [", &[], "mesh.yaml:"),
    ] {
        let refused = run(file, sets).unwrap_err().to_string();
        assert!(refused.starts_with(message), "{file} {sets:?}: {refused}");
    }
}

#[test]
fn all_flags_that_are_wrong_are_told_at_once() {
    assert_eq!(run("", &["a[x]=1", "b[y]=1", "tag=ok"]).unwrap_err().0.len(), 2);
}

#[test]
fn a_file_of_another_kind_is_the_wrong_file() {
    for (text, message) in [
        ("kind: IstioOperater", "the kind is `IstioOperater`; did you mean `IstioOperator`?"),
        ("kind: Deployment", "the kind is `Deployment`; it must be `IstioOperator`"),
        ("spec: {}", "`kind` is missing: it must be `IstioOperator`"),
        ("[1]", "the file is no IstioOperator: it has no fields"),
        ("kind: IstioOperator\n---\nkind: IstioOperator", "only one per file is supported"),
    ] {
        let input = Input { files: vec![Source::new("f", text)], ..Input::default() };
        let refused = merge(&input, &SMALL).unwrap_err().to_string();
        assert!(refused.contains(message), "{text}: {refused}");
    }
    let empty = Input { files: vec![Source::new("f", "# nothing\n")], ..Input::default() };
    merge(&empty, &SMALL).unwrap();
}

#[test]
fn a_component_without_a_chart_says_where_there_is_one() {
    for (set, field) in
        [("components.cni.enabled=true", "cni"), ("components.ztunnel.enabled=true", "ztunnel")]
    {
        let refused = run("", &[set]).unwrap_err();
        let expected = format!(
            "--set {set}: spec.components.{field}: `components.{field}` is switched on, but there is no chart"
        );
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        assert!(refused.0[0].hint.as_ref().unwrap().contains("Istio's own charts"));
    }
}

#[test]
fn force_turns_what_is_wrong_into_a_warning() {
    let forced = Input { force: true, ..input("", &["values.pilto.x=1"]) };
    let generated = generate(&forced, &SMALL).unwrap();
    assert!(generated.warnings.iter().all(|warning| warning.severity == Severity::Warning));
    assert!(generated.warnings.iter().any(|warning| warning.path.to_string() == "spec.values.pilto"));
    assert!(printed(&generated).contains("pilto"));
}

#[test]
fn a_template_that_fails_is_told_with_its_place() {
    let charts = Small { istiod: "a: 1\nb: {{ fail \"not so\" }}", notes: "" };
    let refused = generate(&input("", &[]), &charts).unwrap_err().to_string();
    assert!(refused.contains("istiod/templates/all.yaml:2:") && refused.contains("not so"), "{refused}");
}

#[test]
fn text_that_is_no_object_is_refused() {
    for (istiod, message) in
        [("a: 1", "it has no `kind`"), ("kind: A\n b: [", "istiod/templates/all.yaml (rendered):2:")]
    {
        let refused = generate(&input("", &[]), &Small { istiod, notes: "" }).unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn warnings_of_a_chart_are_passed_on() {
    let charts = Small { istiod: "", notes: "Thanks.\nWARNING: old value\n" };
    let generated = generate(&input("", &[]), &charts).unwrap();
    let messages: Vec<_> = generated.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(messages, ["old value"]);
}

#[test]
fn an_overlay_that_finds_nothing_is_a_warning() {
    let overlay = |kind: &str, path: &str| {
        format!(
            "spec: {{components: {{pilot: {{k8s: {{overlays: [{{kind: {kind}, name: istiod, patches: [{{path: {path}, value: 1}}]}}]}}}}}}}}"
        )
    };
    for (file, message) in [
        (overlay("Service", "spec.x"), "there is no Service istiod among the rendered objects"),
        (
            overlay("Deployment", "\"spec.template.spec.containers.[name:x].y\""),
            "Deployment istiod is not patched: ",
        ),
    ] {
        let generated = run(&file, &[]).unwrap();
        let warning = &generated.warnings[0];
        assert!(warning.message.starts_with(message), "{warning:?}");
        assert_eq!(warning.path.to_string(), "spec.components.pilot.k8s.overlays[0]");
        assert!(warning.place.is_some());
    }
}

#[test]
fn kubernetes_settings_reach_the_objects_and_the_values() {
    let generated =
        run("", &["components.pilot.k8s.replicaCount=5", "components.pilot.k8s.nodeSelector.a=b"]).unwrap();
    let objects = &generated.components[1].objects;
    assert_eq!(get_path(objects[0].object(), "spec.replicas"), Some(&json!(5)));
    assert_eq!(get_path(objects[0].object(), "spec.template.spec.nodeSelector"), Some(&json!({"a": "b"})));
    let values = get_path(objects[1].object(), "data.values").unwrap().as_str().unwrap();
    assert!(values.contains("\"replicaCount\":5"), "{values}");
}

#[test]
fn the_package_is_found_in_files_and_flags() {
    assert_eq!(package_path(&input("", &[])).unwrap(), None);
    assert_eq!(package_path(&input("spec: {installPackagePath: /a}", &[])).unwrap().as_deref(), Some("/a"));
    let flag = Input { manifests: Some("/b".to_owned()), ..input("", &["installPackagePath=/c"]) };
    assert_eq!(package_path(&flag).unwrap().as_deref(), Some("/b"));
}

#[test]
fn the_default_revision_is_none() {
    let revision = |name: &str| {
        let input = Input { revision: Some(name.to_owned()), ..input("", &[]) };
        get_path(&merge(&input, &SMALL).unwrap().tree, "spec.values.revision").cloned()
    };
    assert_eq!(revision("default"), None);
    assert_eq!(revision("100"), Some(json!("100")));
}
