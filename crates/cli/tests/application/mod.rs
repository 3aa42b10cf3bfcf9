//! An application in a folder of its own, and a cluster of its own that it is brought into by this binary.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use crate::site::{BINARY, Ended, Site};
use mizzen_api::crd::Crd;
use mizzen_testkit::{
    Result,
    run::run,
    wait::{self, PATIENCE, Seen},
};
use mizzen_text::{Source, yaml};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::Command;

pub(crate) struct Application {
    pub(crate) site: Site,
    pub(crate) folder: PathBuf,
}

impl Application {
    /// With Istio's kinds in the cluster.
    pub(crate) async fn prepare() -> Result<Self> {
        let application = Self::without_kinds().await?;
        let list = json!({"apiVersion": "v1", "kind": "List", "items": Crd::all().map(Crd::object).collect::<Vec<_>>()});
        let server = &application.site.server;
        server.kubectl_reading(&list.to_string(), &["apply", "--server-side", "-f", "-"]).await?;
        let established = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=90s"];
        // What has no status yet is an error to kubectl.
        let established = wait::until("Istio's kinds", PATIENCE, async || {
            Seen::from_result(server.kubectl(&established).await)
        });
        established.await?;
        Ok(application)
    }

    pub(crate) async fn without_kinds() -> Result<Self> {
        let site = Site::start().await?;
        let folder = run().part_folder("application").unwrap();
        Ok(Self { site, folder })
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    pub(crate) fn write(&self, app: &Value) {
        self.file("app.yaml", format!("{app:#}"));
    }

    /// `mizzen app …` on this application.
    pub(crate) async fn app(&self, line: &str) -> Ended {
        self.through(&self.site.server.kubeconfig_file(), line).await
    }

    pub(crate) async fn through(&self, kubeconfig: &Path, line: &str) -> Ended {
        let line = format!("app {line} -C {}", self.folder.display());
        self.site.run(Path::new(BINARY), kubeconfig, &line).await
    }

    /// The same, begun by somebody.
    pub(crate) fn start(&self, who: &str, kubeconfig: &Path, line: &str) -> Running {
        let mut command = Command::new(BINARY);
        command
            .arg("app")
            .args(line.split_whitespace())
            .arg("-C")
            .arg(&self.folder)
            .arg("--kubeconfig")
            .arg(kubeconfig);
        command.env_clear().env("HOME", &self.folder).env("USER", who).kill_on_drop(true);
        Running(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// What it prints to somebody who wants colours.
    pub(crate) async fn coloured(&self, line: &str) -> String {
        let mut command = Command::new(BINARY);
        command.arg("app").args(line.split_whitespace()).arg("-C").arg(&self.folder);
        command.arg("--kubeconfig").arg(self.site.server.kubeconfig_file());
        let output = command.env_clear().env("CLICOLOR_FORCE", "1").output().await.unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The objects that it is made of, by kind, namespace and name.
    pub(crate) async fn spec(&self) -> BTreeMap<String, Value> {
        let line = format!("app build -o json -C {}", self.folder.display());
        let spec: Value = serde_json::from_str(&self.site.mizzen_alone(&line).await.well()).unwrap();
        let resources = spec["resources"].as_array().unwrap();
        resources
            .iter()
            .map(|resource| (key(&resource["attributes"]), resource["attributes"].clone()))
            .collect()
    }

    /// Everything that can be listed and that people write, without what a server says of it and without the records of releases.
    pub(crate) async fn state(&self) -> BTreeMap<String, Value> {
        let mut all = self.everything().await;
        all.retain(|key, _| !key.contains("/mizzen-app."));
        all
    }

    /// The same, with the records.
    pub(crate) async fn everything(&self) -> BTreeMap<String, Value> {
        let server = &self.site.server;
        let names = server.kubectl(&["api-resources", "--verbs=list", "-o", "name"]).await.unwrap();
        let made_by_the_cluster = [
            "events",
            "events.events.k8s.io",
            "leases.coordination.k8s.io",
            "endpoints",
            "nodes",
            "pods",
            "endpointslices.discovery.k8s.io",
            "replicasets.apps",
            "componentstatuses",
            "controllerrevisions.apps",
            "ipaddresses.networking.k8s.io",
            "apiservices.apiregistration.k8s.io",
            "podmetrics",
            "customresourcedefinitions.apiextensions.k8s.io",
        ];
        let kinds: Vec<&str> = names.lines().filter(|name| !made_by_the_cluster.contains(name)).collect();
        let text = server.kubectl(&["get", &kinds.join(","), "-A", "-o", "json"]).await.unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        let items = list["items"].as_array().unwrap();
        // Every namespace gets these two after a while.
        let own = |item: &&Value| {
            let name = &item["metadata"]["name"];
            item["kind"] == "ConfigMap" && name == "kube-root-ca.crt"
                || item["kind"] == "ServiceAccount" && name == "default"
        };
        let items = items.iter().filter(|item| !own(item));
        items.map(|item| (key(item), crate::site::cleaned(item))).collect()
    }

    /// A policy of the cluster, in force: what it refuses, and a ConfigMap in `kube-public` that it refuses, by which that is seen.
    pub(crate) async fn policy(&self, name: &str, expression: &str, refused: &Value) -> Result<()> {
        let of = |kind: &str, spec: Value| json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": name }, "spec": spec });
        let rules = json!([{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"] }]);
        let policy = json!({ "matchConstraints": { "resourceRules": rules }, "validations": [{ "expression": expression }] });
        let binding = json!({ "policyName": name, "validationActions": ["Deny"] });
        let server = &self.site.server;
        server.apply(&of("ValidatingAdmissionPolicy", policy).to_string()).await?;
        server.apply(&of("ValidatingAdmissionPolicyBinding", binding).to_string()).await?;
        let refused = refused.to_string();
        wait::until("the policy", PATIENCE, async || {
            let line = ["create", "-n", "kube-public", "--dry-run=server", "-f", "-"];
            let taken = server.kubectl_reading(&refused, &line).await;
            Seen::when(taken.is_err(), || "it refuses nothing yet".to_owned())
        })
        .await
    }

    /// What is recorded of it.
    pub(crate) async fn releases(&self) -> Value {
        serde_json::from_str(&self.app("releases -o json").await.well()).unwrap()
    }
}

pub(crate) fn key(object: &Value) -> String {
    let part = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    format!("{} {}/{}", part("/kind"), part("/metadata/namespace"), part("/metadata/name"))
}

/// `mizzen app …` at work.
pub(crate) struct Running(tokio::process::Child);

impl Running {
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.0.id().unwrap().to_string();
        Command::new("kill").args([format!("-{name}"), pid]).status().await.unwrap();
    }

    pub(crate) async fn kill(mut self) {
        self.0.kill().await.unwrap();
    }

    pub(crate) async fn ended(self) -> Ended {
        let output = self.0.wait_with_output().await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Whether everything that is wanted is there.
pub(crate) fn within(wanted: &Value, live: &Value) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => {
            wanted.iter().all(|(name, wanted)| live.get(name).is_some_and(|live| within(wanted, live)))
        }
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len() && wanted.iter().zip(live).all(|(wanted, live)| within(wanted, live))
        }
        (wanted, live) => wanted == live,
    }
}

/// An application of every kind and every attribute: the good blocks of the rows that the crate `app` is tested with, and a workload.
pub(crate) fn full() -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/tests/rows");
    let mut kinds = Map::new();
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let source = Source::new(file.display().to_string(), fs::read(&file).unwrap());
        let rows: Value = yaml::load_first(&source, &yaml::Options::OWN).unwrap().unwrap();
        let block = |row: &Value| {
            let mut block = rows["base"].as_object().unwrap().clone();
            block.extend(row[1].as_object().unwrap().clone());
            Value::Object(block.into_iter().filter(|(_, value)| !value.is_null()).collect())
        };
        let blocks = rows["rows"].as_array().unwrap().iter().enumerate();
        let blocks = blocks.map(|(number, row)| (format!("b{number}"), block(row)));
        kinds.insert(file.file_stem().unwrap().to_str().unwrap().to_owned(), blocks.collect());
    }
    json!({
        "name": "shop", "istio": kinds,
        "workload": {
            "image": "shop:1", "command": ["shop"], "args": ["--fast"], "replicas": 2,
            "ports": [{ "port": 80, "targetPort": 8080 }, { "port": 53, "protocol": "UDP" }],
            "env": { "LOG": "debug" }, "labels": { "version": "v1" },
        },
    })
}
