//! A cluster of a test's own, with controllers and pods that become ready, and this binary working on it.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod cut;

use mizzen_testkit::{ApiServer, Result, tools};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::Command;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mizzen");

/// Kinds that installers of a mesh make, and those that they must not touch.
const KINDS: &str = "namespaces,customresourcedefinitions,mutatingwebhookconfigurations,validatingwebhookconfigurations,\
    validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings,serviceaccounts,roles,\
    rolebindings,configmaps,secrets,services,deployments,daemonsets,horizontalpodautoscalers,poddisruptionbudgets,\
    networkpolicies,resourcequotas";

pub(crate) struct Site {
    pub(crate) server: ApiServer,
    /// What a cluster has by itself.
    own: BTreeMap<String, Value>,
}

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// It has done what was asked.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self.out
    }

    /// It has said why not.
    #[track_caller]
    pub(crate) fn badly(self) -> String {
        assert_eq!(self.code, Some(1), "{}\n{}", self.out, self.err);
        self.err
    }
}

impl Site {
    pub(crate) async fn start() -> Result<Self> {
        Self::of(ApiServer::start().await?).await
    }

    /// With a server that was started already.
    pub(crate) async fn of(server: ApiServer) -> Result<Self> {
        server.controllers().await?;
        let own = objects(&server).await;
        Ok(Self { server, own })
    }

    /// This binary with the administrator's rights.
    pub(crate) async fn mizzen(&self, line: &str) -> Ended {
        self.run(Path::new(BINARY), &self.server.kubeconfig_file(), line).await
    }

    /// The same, for what asks no cluster.
    pub(crate) async fn mizzen_alone(&self, line: &str) -> Ended {
        ended(Command::new(BINARY).args(line.split_whitespace()).env_clear()).await
    }

    /// The real one, with the charts of its release.
    pub(crate) async fn istioctl(&self, line: &str) -> Ended {
        let istioctl = tools::command("istioctl").unwrap();
        self.run(&istioctl, &self.server.kubeconfig_file(), line).await
    }

    pub(crate) async fn run(&self, program: &Path, kubeconfig: &Path, line: &str) -> Ended {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).arg("--kubeconfig").arg(kubeconfig).env_clear();
        ended(command.env("HOME", self.server.kubeconfig_file().parent().unwrap())).await
    }

    /// What is there beside what a cluster has by itself, by kind and name.
    pub(crate) async fn objects(&self) -> BTreeMap<String, Value> {
        let mut all = objects(&self.server).await;
        all.retain(|key, _| !self.own.contains_key(key));
        all
    }

    /// The same, as far as it can be the same in two clusters: without what the server says.
    pub(crate) async fn state(&self) -> BTreeMap<String, Value> {
        let mut all = self.objects().await;
        all.values_mut().for_each(clean);
        all
    }

    /// Which version of which object is there.
    pub(crate) async fn versions(&self) -> BTreeMap<String, String> {
        let all = self.objects().await;
        // A status and a lease change by themselves.
        all.into_iter().map(|(key, object)| (key, version(&object))).collect()
    }
}

async fn ended(command: &mut Command) -> Ended {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Of the part that people write: the generation where there is one.
fn version(object: &Value) -> String {
    let metadata = &object["metadata"];
    let by_controllers = [
        "Deployment",
        "DaemonSet",
        "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
        "CustomResourceDefinition",
    ];
    let counts = by_controllers.iter().any(|kind| object["kind"] == *kind);
    if counts {
        format!("generation {} labels {}", metadata["generation"], metadata["labels"])
    } else {
        metadata["resourceVersion"].to_string()
    }
}

/// Istio's own charts, out of its module.
pub(crate) fn upstream() -> PathBuf {
    tools::folder("modules/istio").unwrap().join("manifests")
}

async fn objects(server: &ApiServer) -> BTreeMap<String, Value> {
    let text = server.kubectl(&["get", KINDS, "-A", "-o", "json", "--show-managed-fields"]).await.unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    let items = list["items"].as_array().unwrap();
    let key = |item: &Value| {
        let part =
            |pointer: &str| item.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("{} {}/{}", part("/kind"), part("/metadata/namespace"), part("/metadata/name"))
    };
    // Every namespace gets these two, a moment after it was made.
    let is_a_gift = |key: &str| {
        key.ends_with("/kube-root-ca.crt")
            || (key.starts_with("ServiceAccount ") && key.ends_with("/default"))
    };
    items.iter().map(|item| (key(item), item.clone())).filter(|(key, _)| !is_a_gift(key)).collect()
}

/// An object without what the server says.
pub(crate) fn cleaned(object: &Value) -> Value {
    let mut object = object.clone();
    clean(&mut object);
    object
}

fn clean(object: &mut Value) {
    let map = object.as_object_mut().unwrap();
    map.remove("status");
    for field in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
        map["metadata"].as_object_mut().unwrap().remove(field);
    }
    if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove("deployment.kubernetes.io/revision");
        annotations.remove("mizzen.io/run");
    }
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        if let Some(spec) = object.pointer_mut("/spec").and_then(Value::as_object_mut) {
            spec.remove(field);
        }
    }
    for port in object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
        port.as_object_mut().unwrap().remove("nodePort");
    }
}

/// Objects that are new, gone or another version.
pub(crate) fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    differ.filter(|key| !key.contains("/mizzen-inventory-")).cloned().collect()
}
