//! The IstioOperator that an `Istio` resource becomes, beside files that were written from the tables of the reference: whole trees
//! are compared, every row of the tables is in a file, and the defaults are those of the project that the resource comes from.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how much of the tables is covered is what this test is for")]

use mizzen_api::istio::Spec;
use mizzen_install::{Input, generate, source::BuiltIn};
use mizzen_operator::istio::{
    features::Features,
    images::Images,
    merge::{Surroundings, merged},
    profile::{Size, profile},
    provider::Provider,
};
use mizzen_testkit::compared_with;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The rows of the tables: inputs of the merge, providers, and settings by size (each of which is needed for both sizes).
const INPUTS: [&str; 24] = [
    "numTrustedProxies",
    "forwardClientCertDetails",
    "prometheusMerge",
    "trustDomain",
    "enableDNSProxying",
    "proxyStatsMatcher",
    "authorizers",
    "gatewayExternalTrafficPolicy",
    "dual stack",
    "enableAmbient",
    "enableAlphaGatewayAPI",
    "enableMultiNetworkDiscoverGatewayAPI",
    "components.pilot",
    "components.ingressGateway",
    "components.egressGateway",
    "egressGateway.enabled",
    "components.proxy",
    "components.cni",
    "disableCni",
    "enableControlPlaneVPA",
    "compatibilityMode",
    "images",
    "pull secret",
    "none",
];
const PROVIDERS: [&str; 6] = ["GKE", "K3d", "AWS", "AWS dual stack", "AWS ELB", "OpenStack"];
const SIZES: [&str; 9] = [
    "size istiod resources",
    "size istiod autoscaler",
    "size ingress resources",
    "size ingress autoscaler",
    "size egress",
    "size sidecar",
    "size cni",
    "size budget",
    "size spread",
];

struct Case {
    name: String,
    file: Value,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/merged");
    let mut all: Vec<Case> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| Case { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), file: read(&path) })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn read(path: &Path) -> Value {
    let source = Source::new(path.display().to_string(), fs::read(path).unwrap());
    yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap()
}

impl Case {
    fn size(&self) -> Size {
        match self.file["size"].as_str().unwrap() {
            "production" => Size::Production,
            "evaluation" => Size::Evaluation,
            other => panic!("{}: no size {other}", self.name),
        }
    }

    fn surroundings(&self) -> Surroundings {
        let node = |node: &Value| {
            json!({ "spec": { "providerID": node["provider"] },
                    "status": { "nodeInfo": { "kubeletVersion": node["kubelet"], "osImage": node["os"] } } })
        };
        let nodes: Vec<Value> = self.file["nodes"].as_array().into_iter().flatten().map(node).collect();
        let service =
            self.file.get("ingressService").map(|all| json!({ "metadata": { "annotations": all } }));
        let yes = |key: &str| self.file[key] == true;
        let features =
            self.file.get("features").map(|features| json!({ "data": { "features": features.to_string() } }));
        Surroundings {
            size: self.size(),
            provider: Provider::of(&nodes, yes("elbDeprecated"), service.as_ref()),
            features: Features::of(features.as_ref()).unwrap(),
            images: Images::read(|name| self.file["images"][name].as_str().map(str::to_owned)).unwrap(),
            pull_secret: self.file["pullSecret"].as_str().map(str::to_owned),
            experimental: yes("experimental"),
            dual_stack: yes("dualStack"),
            minor: None,
        }
    }

    fn merged(&self) -> Value {
        merged(&Spec::of(&self.file).unwrap(), &self.surroundings()).unwrap()
    }

    fn rows(&self) -> impl Iterator<Item = &str> {
        self.file["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap())
    }
}

/// Puts a value at a pointer; the last step may be new, also as the next item of a list.
fn put(tree: &mut Value, pointer: &str, value: &Value) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let last = last.replace("~1", "/");
    match tree.pointer_mut(parent).unwrap_or_else(|| panic!("there is no {parent}")) {
        Value::Array(items) if last.parse() == Ok(items.len()) => items.push(value.clone()),
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = value.clone(),
        Value::Object(map) => drop(map.insert(last, value.clone())),
        other => panic!("{parent} is {other}"),
    }
}

fn differences(path: &str, theirs: &Value, ours: &Value, found: &mut BTreeMap<String, (Value, Value)>) {
    match (theirs, ours) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let value = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                differences(&format!("{path}/{key}"), &value(one), &value(other), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&format!("{path}/{place}"), one, other, found);
            }
        }
        (one, other) if one == other => {}
        (one, other) => drop(found.insert(path.to_owned(), (one.clone(), other.clone()))),
    }
}

#[test]
fn a_resource_becomes_what_the_tables_say_and_nothing_else() {
    for case in cases() {
        let mut expected = profile(case.size());
        for (pointer, value) in case.file["changes"].as_object().unwrap() {
            put(&mut expected, pointer, value);
        }
        let found = case.merged();
        let mut wrong = BTreeMap::new();
        differences("", &expected, &found, &mut wrong);
        assert!(wrong.is_empty(), "{}: (expected, found) {wrong:#?}", case.name);
        for (pointer, value) in case.file["facts"].as_object().into_iter().flatten() {
            assert_eq!(found.pointer(pointer).unwrap_or(&Value::Null), value, "{}: {pointer}", case.name);
        }
        if let Some(expected) = case.file.get("proxyProtocol") {
            let around = case.surroundings();
            let found = around.provider.needs_proxy_protocol(around.experimental && around.dual_stack);
            assert_eq!(*expected, found, "{}: proxy protocol", case.name);
        }
    }
}

#[test]
fn every_row_of_the_tables_is_in_a_file() {
    let cases = cases();
    let known: BTreeSet<&str> = INPUTS.iter().chain(&PROVIDERS).chain(&SIZES).copied().collect();
    let mut covered: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for case in &cases {
        for row in case.rows() {
            assert!(known.contains(row), "{}: there is no row {row:?}", case.name);
            covered.entry(row).or_default().insert(case.file["size"].as_str().unwrap());
        }
    }
    let missing: Vec<&&str> = known.iter().filter(|row| !covered.contains_key(**row)).collect();
    let half: Vec<&&str> =
        SIZES.iter().filter(|row| covered.get(**row).is_none_or(|sizes| sizes.len() < 2)).collect();
    println!(
        "{} files: {} of {} rows, {} of {} settings for both sizes",
        cases.len(),
        covered.len(),
        known.len(),
        SIZES.len() - half.len(),
        SIZES.len()
    );
    assert!(missing.is_empty() && half.is_empty(), "{missing:?} {half:?}");
}

#[test]
fn the_defaults_are_those_of_the_resources_first_home() {
    // Ours do not say which images and where: the charts do, or the environment of the process.
    let allowed = BTreeSet::from([
        "/spec/hub",
        "/spec/tag",
        "/spec/values/global/proxy/image",
        "/spec/values/global/proxy_init/image",
        "/spec/values/pilot/image",
    ]);
    for (name, size) in [("production", Size::Production), ("evaluation", Size::Evaluation)] {
        let theirs = read(&compared_with!(&format!("kyma-istio/profile-{name}.yaml")));
        let mut found = BTreeMap::new();
        differences("", &theirs, &profile(size), &mut found);
        println!("{name}: {} leaves differ: {:?}", found.len(), found.keys().collect::<Vec<_>>());
        let paths: BTreeSet<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(paths, allowed, "{name}: (theirs, ours) {found:#?}");
    }
}

/// What is merged is a file that the installer takes; our own charts have no node agents.
#[test]
fn the_installer_takes_what_was_merged() {
    for case in cases() {
        let mut tree = case.merged();
        tree["spec"]["components"]["cni"]["enabled"] = false.into();
        tree["spec"]["components"].as_object_mut().unwrap().remove("ztunnel");
        let files = vec![Source::new(case.name.clone(), tree.to_string())];
        let generated = generate(&Input { files, ..Input::default() }, &BuiltIn);
        let generated = generated.unwrap_or_else(|refused| panic!("{}: {refused}", case.name));
        for warning in &generated.warnings {
            println!("{}: {}", case.name, warning.message);
        }
        assert!(generated.components.len() >= 3, "{}", case.name);
    }
}
