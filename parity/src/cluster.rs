//! The API server of a comparison: makes a scenario's objects, reads them back, and takes them away again.
//!
//! Namespaces and service accounts stay: without controllers a namespace's deletion would never end, and an empty one is
//! nothing to any control plane.

use std::{
    collections::BTreeSet,
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use http::Request;
use kube::Client;
use mizzen_testkit::ApiServer;
use serde_json::{Value, json};

use crate::{
    kinds::{KINDS, Kind, name, namespace, text},
    scenario::Scenario,
};

/// Milliseconds of a second in which a group may be begun; the rest is for making it.
const EARLY: u32 = 400;

/// Every object.
pub fn everything(_: &Value) -> bool {
    true
}

/// All but pods and nodes: a proxy runs in a pod, which is there before it and as long as it.
pub fn configuration(object: &Value) -> bool {
    !matches!(text(object, "kind"), "Pod" | "Node" | "Namespace")
}

pub struct Cluster {
    client: Client,
    namespaces: BTreeSet<String>,
    accounts: BTreeSet<(String, String)>,
    /// What is there now, in the order in which it was made.
    made: Vec<Value>,
}

impl Cluster {
    pub fn new(server: &ApiServer) -> Result<Self> {
        Ok(Self {
            client: server.client()?,
            namespaces: BTreeSet::new(),
            accounts: BTreeSet::new(),
            made: Vec::new(),
        })
    }

    /// Makes the objects of a scenario of which `wanted` says so, in their order.
    pub async fn create(&mut self, scenario: &Scenario, wanted: fn(&Value) -> bool) -> Result<()> {
        let groups = scenario.objects.iter().map(|group| group.iter().filter(|object| wanted(object)));
        let mut groups =
            groups.map(Iterator::peekable).filter_map(|mut group| group.peek().is_some().then_some(group));
        let mut next = groups.next();
        while let Some(group) = next {
            early_in_a_second().await;
            for object in group {
                self.make(object).await.with_context(|| {
                    format!("create {} {} in {}", text(object, "kind"), name(object), namespace(object))
                })?;
            }
            next = groups.next();
            if next.is_some() {
                // Past the second in which the last one was made.
                tokio::time::sleep(Duration::from_millis(1_100)).await;
            }
        }
        Ok(())
    }

    /// Takes away what [`Self::create`] has made and of which `wanted` says so, newest first.
    pub async fn delete(&mut self, wanted: fn(&Value) -> bool) -> Result<()> {
        let (gone, kept) = std::mem::take(&mut self.made).into_iter().partition(wanted);
        self.made = kept;
        let gone: Vec<Value> = gone;
        for object in gone.iter().rev() {
            let kind = Kind::of(object)?;
            let path = kind.path(text(object, "apiVersion"), Some(namespace(object)));
            let body = json!({ "gracePeriodSeconds": 0 }).to_string().into_bytes();
            let request = Request::delete(format!("{path}/{}", name(object)))
                .header("content-type", "application/json")
                .body(body)?;
            let outcome = self.client.request::<Value>(request).await;
            outcome.with_context(|| format!("delete {} {}", kind.kind, name(object)))?;
        }
        Ok(())
    }

    /// Everything of every kind, as the server has it now, without what is different each time.
    pub async fn objects(&self) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for kind in KINDS {
            let request = Request::get(kind.path(kind.api, None)).body(Vec::new())?;
            let list: Value = self.client.request(request).await.with_context(|| kind.plural.to_owned())?;
            for mut object in list["items"].as_array().cloned().unwrap_or_default() {
                object["apiVersion"] = kind.api.into();
                object["kind"] = kind.kind.into();
                if let Some(metadata) = object["metadata"].as_object_mut() {
                    metadata.retain(|key, _| {
                        !["uid", "resourceVersion", "managedFields"].contains(&key.as_str())
                    });
                }
                all.push(object);
            }
        }
        Ok(all)
    }

    async fn make(&mut self, object: &Value) -> Result<()> {
        let kind = Kind::of(object)?;
        if kind.namespaced {
            self.place(namespace(object)).await?;
        }
        if kind.kind == "Namespace" {
            return self.label_namespace(object).await;
        }
        if kind.kind == "Pod" {
            self.account(namespace(object), text(&object["spec"], "serviceAccountName")).await?;
        }
        let path = kind.path(text(object, "apiVersion"), Some(namespace(object)));
        self.post(&path, object).await?;
        self.made.push(object.clone());
        // Written by others than the rest, and so by a request of its own.
        if kind.api == "v1" && !object["status"].is_null() {
            let status = json!({ "status": object["status"] });
            self.patch(&format!("{path}/{}/status", name(object)), &status).await?;
        }
        Ok(())
    }

    async fn place(&mut self, namespace: &str) -> Result<()> {
        if self.namespaces.insert(namespace.to_owned()) {
            let object =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
            self.post_or_keep("/api/v1/namespaces", &object).await?;
        }
        Ok(())
    }

    async fn label_namespace(&mut self, object: &Value) -> Result<()> {
        self.place(name(object)).await?;
        let change = json!({ "metadata": { "labels": object["metadata"]["labels"], "annotations": object["metadata"]["annotations"] } });
        self.patch(&format!("/api/v1/namespaces/{}", name(object)), &change).await
    }

    async fn account(&mut self, namespace: &str, account: &str) -> Result<()> {
        if self.accounts.insert((namespace.to_owned(), account.to_owned())) {
            let object =
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": account } });
            self.post_or_keep(&format!("/api/v1/namespaces/{namespace}/serviceaccounts"), &object).await?;
        }
        Ok(())
    }

    async fn post(&self, path: &str, object: &Value) -> Result<(), kube::Error> {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .map_err(kube::Error::HttpError)?;
        self.client.request::<Value>(request).await.map(|_| ())
    }

    async fn post_or_keep(&self, path: &str, object: &Value) -> Result<()> {
        match self.post(path, object).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            outcome => Ok(outcome?),
        }
    }

    async fn patch(&self, path: &str, change: &Value) -> Result<()> {
        let request = Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(change.to_string().into_bytes())?;
        self.client.request::<Value>(request).await?;
        Ok(())
    }
}

/// The objects of a group are of the same age, which is noted in seconds: nothing may depend on whether one ended in between.
async fn early_in_a_second() {
    let into = UNIX_EPOCH.elapsed().unwrap_or_default().subsec_millis();
    if into > EARLY {
        tokio::time::sleep(Duration::from_millis(u64::from(1_000 - into))).await;
    }
}
