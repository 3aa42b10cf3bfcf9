//! `profile list`, `profile dump`, `profile diff`.
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::{Folder, charts, run};
use mizzen_text::{Source, yaml};
use serde_json::Value;

const NAMES: [&str; 10] = [
    "ambient",
    "default",
    "demo",
    "empty",
    "minimal",
    "openshift",
    "openshift-ambient",
    "preview",
    "remote",
    "stable",
];

fn json(line: &str) -> Value {
    serde_json::from_str(&run(line).good()).unwrap()
}

fn yaml(text: &str) -> Value {
    yaml::load_first(&Source::new("printed", text), &yaml::Options::KUBERNETES).unwrap().unwrap()
}

#[test]
fn all_profiles_are_listed_in_order() {
    let lines: String = NAMES.iter().map(|name| format!("    {name}\n")).collect();
    let wanted = format!("Istio configuration profiles:\n{lines}");
    assert_eq!(run("mizzen profile list").good(), wanted);
    assert_eq!(run("istioctl profile list --context blue").good(), wanted);
    assert_eq!(json("mizzen profile list -o json"), Value::from(NAMES.to_vec()));
    assert_eq!(yaml(&run("mizzen profile list -o yaml").good()), Value::from(NAMES.to_vec()));
}

#[test]
fn the_profiles_of_other_charts_are_listed() {
    let folder = Folder::new("profile-list");
    charts::manifests(&folder, "own", "");
    folder.file("own/profiles/tiny.yaml", "kind: IstioOperator\n");
    let said = folder.run("profile list -d own").good();
    assert_eq!(said, "Istio configuration profiles:\n    default\n    tiny\n");
    assert!(folder.run("profile list -d /").bad(1).starts_with("error: / has neither `charts`"));
    assert!(folder.run("profile list -o flags").bad(2).contains("possible values: text, json, yaml"));
}

#[test]
fn a_dump_has_everything_and_says_the_same_in_every_form() {
    for name in ["", "default", "demo", "minimal", "remote"] {
        let (text, tree) =
            (format!("mizzen profile dump {name}"), format!("mizzen profile dump {name} -o json"));
        let tree = json(&tree);
        assert_eq!(yaml(&run(&text).good()), tree, "{name}");
        assert_eq!(tree["kind"], "IstioOperator");
        assert_eq!(tree["spec"]["profile"], if name.is_empty() { "default" } else { name });
        // Which no profile says, but a chart.
        assert!(tree["spec"]["values"]["global"]["proxy"].is_object(), "{name}");
        let flags = run(&format!("{text} -o flags")).good();
        assert!(flags.contains("\ncomponents.pilot.enabled=true\n"), "{flags}");
        assert!(flags.lines().all(|line| line.contains('=') && !line.starts_with("spec.")), "{flags}");
        assert!(flags.contains("\nvalues.global.istioNamespace=istio-system\n"), "{flags}");
    }
}

#[test]
fn a_part_of_it_is_found_by_its_path() {
    let whole = json("mizzen profile dump demo -o json");
    for (path, pointer) in [
        ("components", "/spec/components"),
        ("components.ingressGateways[0].name", "/spec/components/ingressGateways/0/name"),
        ("components.ingressGateways.[name:istio-ingressgateway]", "/spec/components/ingressGateways/0"),
        ("values.global.proxy", "/spec/values/global/proxy"),
        ("meshConfig.accessLogFile", "/spec/meshConfig/accessLogFile"),
    ] {
        let part = whole.pointer(pointer).unwrap();
        assert_eq!(json(&format!("mizzen profile dump demo -p {path} -o json")), *part, "{path}");
        let printed = run(&format!("mizzen profile dump demo --config-path {path}")).good();
        assert_eq!(yaml(&printed), *part, "{path}");
    }
    let flags = run("mizzen profile dump demo -p components.egressGateways -o flags").good();
    let wanted = "components.egressGateways[0].enabled=true\n\
                  components.egressGateways[0].name=istio-egressgateway\n";
    assert_eq!(flags, wanted);
    assert_eq!(
        run("mizzen profile dump -p values.defaultRevision -o flags").good(),
        "values.defaultRevision=\n"
    );
}

#[test]
fn a_path_to_nothing_is_told() {
    for path in
        ["nothing.here", "spec.components", "components.pilot.enabled.more", "components[", "values[3]"]
    {
        let said = run(&format!("mizzen profile dump demo --config-path {path}")).bad(2);
        let wanted = format!(
            "error: the profile `demo` has nothing at `{path}`\n\
             hint: the path starts below spec, for instance `components.pilot`\n"
        );
        assert_eq!(said, wanted);
    }
}

#[test]
fn the_file_itself_is_printed_as_it_is_written() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/demo.yaml");
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(run("mizzen profile dump demo --raw").good(), written);
    assert_eq!(json("mizzen profile dump demo --raw -o json"), yaml(&written));
    assert_eq!(run("mizzen profile dump demo --raw -p values -o flags").good(), "values.profile=demo\n");
    let said = run("mizzen profile dump demo --raw --set hub=a").bad(2);
    assert!(said.contains("'--raw' cannot be used with '--set"), "{said}");
}

#[test]
fn files_and_flags_are_laid_over_the_profile() {
    let folder = Folder::new("profile-dump");
    folder.file("mesh.yaml", "kind: IstioOperator\nspec: {profile: demo, tag: one}\n");
    let dump = |words: &str| folder.run(&format!("profile dump {words}"));
    assert_eq!(dump("-f mesh.yaml -p tag").good(), "one\n");
    assert_eq!(dump("-f mesh.yaml -p profile").good(), "demo\n");
    assert_eq!(dump("demo --set tag=two -p tag").good(), "two\n");
    assert_eq!(dump("--revision canary -p values.revision").good(), "canary\n");
    let said = dump("demo -f mesh.yaml").bad(2);
    let wanted = "error: a profile and -f cannot both be given\n\
                  hint: a file names its profile itself, as spec.profile\n";
    assert_eq!(said, wanted);
    assert!(dump("-f nowhere.yaml").bad(1).contains("--> nowhere.yaml"));
}

#[test]
fn an_unknown_profile_is_told_as_it_was_typed() {
    for line in ["profile dump dmo", "profile diff dmo default", "profile diff default dmo"] {
        let said = run(&format!("mizzen {line}")).bad(1);
        let wanted =
            "error: there is no profile `dmo` in the charts that are built in; did you mean `demo`?\n";
        assert_eq!(said, wanted, "{line}");
    }
    for line in
        ["profile dump ../default", "profile dump /etc/passwd", "profile dump --set profile=../default"]
    {
        let said = run(&format!("mizzen {line}")).bad(1);
        assert!(said.contains("there is no profile `"), "{said}");
    }
}

#[test]
fn profiles_are_compared() {
    for name in ["default", "demo", "empty"] {
        assert_eq!(run(&format!("istioctl profile diff {name} {name}")).good(), "Profiles are identical\n");
    }
    let ended = run("istioctl profile diff default demo");
    assert_eq!((ended.code, ended.err.as_str()), (1, ""));
    let (first, rest) = ended.out.split_once('\n').unwrap();
    assert_eq!(first, "The difference between profiles:");
    for told in [
        "  spec.components.egressGateways[0].enabled: false -> true\n",
        "  spec.meshConfig.accessLogFile: <absent> -> /dev/stdout\n",
        "  spec.profile: default -> demo\n",
    ] {
        assert!(rest.contains(told), "{told}: {rest}");
    }
    let back = run("istioctl profile diff demo default").out;
    assert!(back.contains("  spec.profile: demo -> default\n"), "{back}");
}

#[test]
fn a_wrong_number_of_words_is_wrong_usage() {
    for (line, told) in [
        ("profile diff", "<OLD>"),
        ("profile diff default", "<NEW>"),
        ("profile diff default demo empty", "unexpected argument 'empty'"),
        ("profile dump default demo", "unexpected argument 'demo'"),
        ("profile list default", "unexpected argument 'default'"),
        ("profile", "Usage: mizzen profile"),
        ("profile dump -o text", "possible values: yaml, json, flags"),
    ] {
        let said = run(&format!("mizzen {line}")).bad(2);
        assert!(said.contains(told), "{line}: {said}");
    }
}
