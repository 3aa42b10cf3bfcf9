//! Every function of Sprig and Helm beside the real ones: a small template for each row, rendered by both; the same text,
//! or both refuse.
//!
//! A row is what stands between the braces; `$v` are the values below.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests; the counts are part of what they show")]

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use mizzen_template::{
    Failure, Functions, Limits, List, Map, MissingKey, Object, Run, Templates, Value, helm, injection, sprig,
};
use mizzen_testkit::{Oracle, Result, needs};
use serde_json::{Value as Json, json};

#[path = "real_functions/injection.rs"]
mod injection_rows;
#[path = "real_functions/lists.rs"]
mod lists;
#[path = "real_functions/numbers.rs"]
mod numbers;
#[path = "real_functions/rules.rs"]
mod rules;
#[path = "real_functions/strings.rs"]
mod strings;
#[path = "real_functions/texts.rs"]
mod texts;
#[path = "real_functions/values.rs"]
mod values;

type Rows = &'static [(&'static str, &'static [&'static str])];

const ALL: &[Rows] = &[strings::ROWS, values::ROWS, lists::ROWS, numbers::ROWS, texts::ROWS, rules::ROWS];

/// Known names that are refused, always.
const REFUSED: &[&str] = &[
    "ago",
    "bcrypt",
    "buildCustomCert",
    "decryptAES",
    "derivePassword",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "htpasswd",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "uuidv4",
];

/// Rows that differ, and why we let them.
const DIFFERENT: &[(&str, &str)] =
    &[(r#"abbrev 6 "äöüäöü""#, "half a character is no text: we refuse, Go writes its bytes")];

const NAMED: &str =
    r#"{{ define "boat" }}<{{ . }}>{{ end }}{{ define "loop" }}{{ include "loop" . }}{{ end }}"#;

fn values() -> Json {
    json!({
        "text": "hello world", "empty": "", "none": null, "yes": true, "no": false,
        "zero": 0, "one": 1, "three": 3, "half": 0.5, "million": 1_000_000, "huge": 1.5e22, "tiny": 1e-7,
        "list": ["b", "a", "c"], "numbers": [3, 1, 2], "mixed": [1, "a", null, true, {"k": "v"}],
        "map": {"a": 1, "b": {"c": "d"}},
        "nested": {"z": [1, [2, {"y": null}], {}], "a": {"b": {"c": "<tag> & 'q'"}, "e": []}, "m": "x\ny\n", "t": true},
    })
}

fn template(row: &str) -> String {
    format!("{{{{ $v := .Values }}}}{{{{ {row} }}}}")
}

fn ours(row: &str, functions: &Functions) -> std::result::Result<String, Failure> {
    let mut templates = Templates::new();
    templates.add("boat/templates/_named.tpl", NAMED, functions)?;
    templates.add("boat/templates/a.yaml", &template(row), functions)?;
    let version = Map::from_iter([("GitVersion", Value::text("v1.32.0"))]);
    let capabilities = Map::from_iter([
        ("KubeVersion", Value::from(version)),
        ("APIVersions", Value::from(List::texts(["v1", "apps/v1"]))),
    ]);
    let root = Map::from_iter([
        ("Values", Value::from(&values())),
        ("Capabilities", capabilities.into()),
        ("Template", Map::from_iter([("BasePath", Value::text("boat/templates"))]).into()),
    ]);
    let text =
        Run::new(&templates, functions, &Limits::default()).render("boat/templates/a.yaml", &root.into())?;
    // Helm takes it out.
    Ok(text.replace("<no value>", ""))
}

fn question(row: &str) -> Json {
    let chart = json!({
        "Chart.yaml": "apiVersion: v2\nname: boat\nversion: 0.1.0\n",
        "templates/_named.tpl": NAMED,
        "templates/a.yaml": template(row),
    });
    json!({ "chart": chart, "values": values() })
}

#[test]
fn every_function_gives_what_the_real_one_gives() -> Result<()> {
    needs!(Oracle::NEEDS);
    let functions = helm::functions::functions();
    let rows: Vec<&str> =
        ALL.iter().flat_map(|part| part.iter()).flat_map(|(_, rows)| rows.iter().copied()).collect();
    let questions: Vec<Json> = rows.iter().map(|row| question(row)).collect();
    let answers = Oracle::shared().templates(&questions)?;
    let excused: BTreeMap<_, _> = DIFFERENT.iter().copied().collect();
    let (mut equal, mut texts) = (0, 0);
    let mut wrong = Vec::new();
    for (row, theirs) in rows.iter().zip(answers) {
        let ours = ours(row, &functions);
        let refusal = theirs.error.or(theirs.panic);
        let theirs = theirs.files.get("boat/templates/a.yaml").filter(|_| refusal.is_none());
        let same = ours.as_ref().ok() == theirs;
        equal += usize::from(same);
        texts += usize::from(same && theirs.is_some());
        if same == excused.contains_key(row) {
            wrong.push(format!("{row}\n  ours:   {ours:?}\n  theirs: {theirs:?} {refusal:?}"));
        }
    }
    println!(
        "functions: {equal} / {} rows equal, {texts} of them texts, {} excused",
        rows.len(),
        excused.len()
    );
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn no_function_is_without_rows() {
    let table = sprig::TABLE.iter().chain(helm::functions::TABLE).map(|(name, _)| *name);
    let known: BTreeSet<&str> = table.collect();
    let rows: BTreeMap<&str, usize> =
        ALL.iter().flat_map(|part| part.iter()).map(|(name, rows)| (*name, rows.len())).collect();
    let without: Vec<&&str> = known
        .iter()
        .filter(|name| !REFUSED.contains(name) && rows.get(**name).is_none_or(|count| *count < 3))
        .collect();
    assert!(without.is_empty(), "fewer than three rows: {without:?}");
    let unknown: Vec<_> = rows.keys().filter(|name| !known.contains(**name)).collect();
    assert!(unknown.is_empty(), "rows of no function: {unknown:?}");
    println!("functions: {} names, {} of them refused", known.len(), REFUSED.len());
}

#[test]
fn what_cannot_be_repeated_is_refused_by_name() {
    let functions = helm::functions::functions();
    for name in REFUSED {
        let failure = ours(name, &functions).unwrap_err();
        assert!(failure.message.contains(&format!("`{name}` is not supported")), "{failure}");
    }
}

/// A sidecar's data, as far as functions look at it.
fn sidecar() -> Json {
    json!({
        "ObjectMeta": {"annotations": {"a": "1", "b": "2"}, "labels": {"app": "x"}},
        "Spec": {"containers": [
            {"name": "app", "image": "registry:5000/nginx:1.21@sha256:abc", "ports": [
                {"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}, {"containerPort": 443, "protocol": "TCP"},
            ]},
            {"name": "istio-proxy", "image": "proxy", "ports": [{"containerPort": 15090}]},
        ]},
        "ProxyConfig": {
            "configPath": "./etc/istio/proxy", "binaryPath": "/usr/local/bin/envoy", "serviceCluster": "istio-proxy",
            "drainDuration": "45s", "terminationDrainDuration": "90s", "discoveryAddress": "istiod.other.svc:15012",
            "proxyAdminPort": 15000, "controlPlaneAuthPolicy": "MUTUAL_TLS", "statNameLength": 189, "statusPort": 15020,
        },
        "MeshConfig": {"extensionProviders": [
            {"name": "o", "opentelemetry": {
                "service": "s", "port": 1, "serviceAttributeEnrichment": "OTEL_SEMANTIC_CONVENTIONS",
            }},
        ]},
        "Values": {"a": 1, "none": null, "list": [1, null]},
    })
}

/// A protobuf message: fields by their Go names, data by those of its JSON.
#[derive(Debug)]
struct Message(Value);

impl Object for Message {
    fn type_name(&self) -> &'static str {
        "*v1alpha1.ProxyConfig"
    }

    fn field(&self, name: &str, _: &[Value]) -> std::result::Result<Option<Value>, Failure> {
        let Value::Map(fields) = &self.0 else { return Ok(None) };
        Ok(fields.get(&format!("{}{}", name[..1].to_lowercase(), &name[1..])))
    }

    fn plain(&self) -> Value {
        self.0.clone()
    }
}

/// The same for our engine: fields that templates name have Go's names, maps of strings their type.
fn sidecar_value() -> Value {
    let json = sidecar();
    let texts = |json: &Json| {
        let map = Map::texts();
        json.as_object()
            .unwrap()
            .iter()
            .for_each(|(key, text)| map.insert(key.as_str(), text.as_str().unwrap()));
        Value::from(map)
    };
    let meta = Map::from_iter([
        ("Annotations", texts(&json["ObjectMeta"]["annotations"])),
        ("Labels", texts(&json["ObjectMeta"]["labels"])),
    ]);
    let spec = Map::from_iter([
        ("Containers", Value::from(&json["Spec"]["containers"])),
        ("InitContainers", List::new(Vec::new()).into()),
    ]);
    let proxy = Value::Object(Rc::new(Message(Value::from(&json["ProxyConfig"]))));
    let data = Map::from_iter([
        ("ObjectMeta", Value::from(meta)),
        ("Spec", spec.into()),
        ("ProxyConfig", proxy),
        ("MeshConfig", Value::from(&json["MeshConfig"])),
        ("Values", Value::from(&json["Values"])),
    ]);
    data.into()
}

fn our_injection(row: &str, functions: &Functions) -> std::result::Result<String, Failure> {
    let mut templates = Templates::new();
    templates.add("inject", &format!("{{{{ {row} }}}}"), functions)?;
    let mut run = Run::new(&templates, functions, &Limits::default()).missing_key(MissingKey::Invalid);
    run.render("inject", &sidecar_value())
}

#[test]
fn every_function_of_injection_gives_what_the_real_one_gives() -> Result<()> {
    needs!(Oracle::NEEDS);
    let functions = injection::functions();
    let known: BTreeSet<&str> = injection::TABLE.iter().map(|(name, _)| *name).collect();
    let named: BTreeSet<&str> = injection_rows::ROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, named, "rows and functions");
    let rows: Vec<&str> = injection_rows::ROWS.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let question =
        |row: &&str| json!({ "template": format!("{{{{ {row} }}}}"), "data": sidecar(), "typed": true });
    let answers = Oracle::shared().injection(&rows.iter().map(question).collect::<Vec<_>>())?;
    let mut wrong = Vec::new();
    for (row, theirs) in rows.iter().zip(answers) {
        let ours = our_injection(row, &functions);
        let refusal = theirs.error.or(theirs.panic);
        let text = Some(&theirs.output).filter(|_| refusal.is_none());
        if ours.as_ref().ok() != text {
            wrong.push(format!("{row}\n  ours:   {ours:?}\n  theirs: {text:?} {refusal:?}"));
        }
    }
    println!("injection: {} / {} rows equal", rows.len() - wrong.len(), rows.len());
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
