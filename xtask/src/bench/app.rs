//! `mizzen app build` of many DestinationRules beside a KCL program that does the same: a front end for the rules, a
//! backend that renders them, and the backbone imported. What both print is compared as data before anything counts.
//!
//! KCL runs as its own engine inside Python, the only form in which it is packaged for every machine: so the start of both
//! processes is measured apart, and there is a ratio without it.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use super::side::{Side, build, in_turn};
use crate::{result, root, tools};

/// How the engine is asked; the tests ask the same way.
const SCRIPT: &str = include_str!("../../../crates/testkit/src/kcl.py");

const RULES: usize = 2_000;
const CURVE: [usize; 6] = [10, 100, 1_000, RULES, 5_000, 10_000];

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    if let Some(lack) = tools::ensure(|tool| tool == "python/kcl", false)?.first() {
        bail!("not installed: {lack}");
    }
    let place = Place::prepare(quick)?;
    let start = in_turn(&place.ours(&place.files(0)?, "yaml"), &place.engine()?, if quick { 2 } else { 21 })?;
    let sizes: &[usize] = if quick { &[10, 20] } else { &CURVE };
    let mut curve = Map::new();
    for size in sizes {
        let rounds = match size {
            _ if quick => 2,
            &RULES => 11,
            _ => 3,
        };
        let files = place.files(*size)?;
        let mut row = place.compared(&files, rounds)?;
        row["withoutStart"] = without(&row, &start);
        curve.insert(size.to_string(), row);
    }
    let most = sizes.iter().filter(|size| **size <= RULES).max().context("no size")?;
    let row = json!({
        "rules": most,
        "ratio": curve[&most.to_string()]["ratio"],
        "start": start,
        "curve": curve,
        "kcl": place.version,
    });
    println!("{row:#}");
    if save {
        result::save("app", &row)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The programs, and a folder for what they are given.
struct Place {
    mizzen: PathBuf,
    folder: PathBuf,
    python: PathBuf,
    version: String,
}

impl Place {
    fn prepare(quick: bool) -> anyhow::Result<Self> {
        let mizzen = build(quick)?;
        let folder = root().join("target/bench/app");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("kcl.py"), SCRIPT)?;
        let definition = folder.join("crds.yaml");
        fs::write(&definition, Side::new(&mizzen, words(&["crd", "print", "DestinationRule"])).output()?)?;
        // What kcl-openapi writes, and not a rule more.
        let packages = folder.join("packages");
        let _ = fs::remove_dir_all(&packages);
        let generate = words(&["backbone", "generate", "--crd", "--exact", "-f"]);
        let paths = [definition.as_os_str(), "-t".as_ref(), packages.as_os_str()];
        Side::new(&mizzen, generate.into_iter().chain(paths)).output()?;
        fs::write(packages.join("models/kcl.mod"), "[package]\nname = \"models\"\n")?;
        let python = tools::cache_folder()?.join("python/kcl");
        let version = version(&python)?;
        Ok(Self { mizzen, folder, python, version })
    }

    /// A folder with the rules, for both.
    fn files(&self, rules: usize) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(rules.to_string());
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("app.yaml"), app(rules))?;
        fs::write(folder.join("main.k"), program(rules))?;
        Ok(folder)
    }

    fn ours(&self, folder: &Path, form: &str) -> Side {
        let task = words(&["app", "build", "-o", form, "-C"]);
        Side::new(&self.mizzen, task.into_iter().chain([folder.as_os_str()]))
    }

    fn theirs(&self, file: &Path, form: &str) -> Side {
        let path = format!("PYTHONPATH={}", self.python.display());
        let form = format!("KCL_FORM={form}");
        let models = format!("models={}", self.folder.join("packages/models").display());
        let script = self.folder.join("kcl.py");
        let program =
            [OsStr::new(&path), OsStr::new(&form), "python3".as_ref(), script.as_os_str(), file.as_os_str()];
        let arguments: Vec<&OsStr> = program.into_iter().chain([OsStr::new(&models)]).collect();
        Side::new(Path::new("/usr/bin/env"), arguments).named("kcl")
    }

    /// The engine with nothing to do.
    fn engine(&self) -> anyhow::Result<Side> {
        let file = self.folder.join("nothing.k");
        fs::write(&file, "resources = []\n")?;
        Ok(self.theirs(&file, "yaml"))
    }

    fn compared(&self, folder: &Path, rounds: usize) -> anyhow::Result<Value> {
        let main = folder.join("main.k");
        let read = |side: &Side| -> anyhow::Result<Value> { Ok(serde_json::from_slice(&side.output()?)?) };
        let (ours, theirs) = (read(&self.ours(folder, "json"))?, read(&self.theirs(&main, "json"))?);
        if ours != theirs {
            bail!("the two sides do not print the same of {}", folder.display());
        }
        let mut row = in_turn(&self.ours(folder, "yaml"), &self.theirs(&main, "yaml"), rounds)?;
        row["equalObjects"] = json!(ours["resources"].as_array().map_or(0, Vec::len));
        Ok(row)
    }
}

fn words<'w>(words: &[&'w str]) -> Vec<&'w OsStr> {
    words.iter().map(|word| OsStr::new(*word)).collect()
}

/// The engine's version, as pip notes it.
fn version(python: &Path) -> anyhow::Result<String> {
    let names = fs::read_dir(python)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let noted = names.into_iter().find(|name| name.starts_with("kcl_lib-") && name.ends_with(".dist-info"));
    let noted = noted.context("the engine does not say its version")?;
    Ok(noted.trim_end_matches(".dist-info").replace("kcl_lib-", "kcl_lib "))
}

/// Medians less those of a start, and their ratio.
fn without(row: &Value, start: &Value) -> Value {
    let median = |of: &Value, side: &str, what: &str| of[side][what].as_f64().unwrap_or_default();
    let ratio = |what: &str| {
        let rest = |side: &str| median(row, side, what) - median(start, side, what);
        rest("mizzen") / rest("kcl")
    };
    json!({"ratio": {"seconds": ratio("medianSeconds"), "cpuSeconds": ratio("medianCpuSeconds")}})
}

fn app(rules: usize) -> String {
    let mut text = "name: shop\nistio:\n  destinationRules:\n".to_owned();
    for number in 0..rules {
        let _ = write!(
            text,
            "    rule-{number:05}:
      host: service-{number:05}
      subsets:
        - {{ name: v1, labels: {{ version: v1 }} }}
        - {{ name: v2, labels: {{ version: v2 }} }}
      namespaces: [front, back]
      trafficPolicy:
        loadBalancerSettings: {{ strategy: ROUND_ROBIN }}
        ejectionSettings: {{ consecutiveErrors: 5, interval: 10s, minimumEjectionTime: 30s }}
"
        );
    }
    if rules == 0 {
        text.push_str("    {}\n");
    }
    text
}

fn program(rules: usize) -> String {
    let mut text = HEAD.to_owned();
    for number in 0..rules {
        let _ = write!(
            text,
            "    Rule {{
        name = \"rule-{number:05}\"
        host = \"service-{number:05}\"
        subsets = [
            {{name = \"v1\", labels = {{version = \"v1\"}}}}
            {{name = \"v2\", labels = {{version = \"v2\"}}}}
        ]
        namespaces = [\"front\", \"back\"]
        trafficPolicy = {{
            loadBalancerSettings = {{strategy = \"ROUND_ROBIN\"}}
            ejectionSettings = {{consecutiveErrors = 5, interval = \"10s\", minimumEjectionTime = \"30s\"}}
        }}
    }}
"
        );
    }
    text + TAIL
}

/// The front end and the backend. The rules are a list: as a map they take KCL twice as long.
const HEAD: &str = r#"import models.networking_istio_io_v1_destination_rule as istio

schema Subset:
    name: str
    labels?: {str:str}

schema LoadBalancerSettings:
    strategy?: "ROUND_ROBIN" | "LEAST_REQUEST" | "LEAST_CONN" | "PASSTHROUGH" | "RANDOM"

schema EjectionSettings:
    consecutiveErrors?: int
    interval?: str
    minimumEjectionTime?: str

    check:
        consecutiveErrors >= 0 if consecutiveErrors not in [None, Undefined]

schema TrafficPolicy:
    loadBalancerSettings?: LoadBalancerSettings
    ejectionSettings?: EjectionSettings

schema Rule:
    name: str
    host: str
    subsets?: [Subset]
    namespaces?: [str]
    trafficPolicy?: TrafficPolicy

    check:
        len(host) >= 1

_app = "shop"
_env = "default"

_render = lambda rule: Rule -> istio.DestinationRule {
    _policy = rule.trafficPolicy
    istio.DestinationRule {
        metadata = {
            name = "${_app}-${rule.name}"
            namespace = _app
            labels = {
                "app.kubernetes.io/component" = _app
                "app.kubernetes.io/env" = _env
                "app.kubernetes.io/instance" = "${_app}-${_env}"
                "app.kubernetes.io/name" = _app
            }
        }
        spec = {
            host = rule.host
            exportTo = rule.namespaces
            subsets = [{name = subset.name, labels = subset.labels} for subset in rule.subsets]
            trafficPolicy = {
                loadBalancer = {simple = _policy.loadBalancerSettings.strategy}
                outlierDetection = {
                    consecutive5xxErrors = _policy.ejectionSettings.consecutiveErrors
                    interval = _policy.ejectionSettings.interval
                    baseEjectionTime = _policy.ejectionSettings.minimumEjectionTime
                }
            }
        }
    }
}

_rules: [Rule] = [
"#;

const TAIL: &str = r#"]

resources = [
    {
        id = "${object.apiVersion}:${object.kind}:${object.metadata.namespace}:${object.metadata.name}"
        $type = "Kubernetes"
        attributes = object
    } for object in [_render(rule) for rule in _rules]
]
"#;
