//! The ledger in the cluster: read, taken, written over the very version that was read, and forgotten.

use super::{
    ledger::{Ledger, Lock},
    owner::{APP, Owner, RELEASE, STACK},
    pack::{Unpackable, pack, unpack},
};
use crate::spec::Spec;
use mizzen_cluster::{Cluster, Desired, Mode, NotPlanned, ObjectId, Refused};
use serde_json::{Value, json};
use std::sync::Arc;

const KEY: &str = "ledger";
const SPEC: &str = "spec";
/// Times that something is tried again because the server says that it has changed.
const AGAIN: u32 = 8;

/// A ledger as it was read.
#[derive(Clone, Debug)]
pub struct Found {
    pub ledger: Ledger,
    pub(super) version: String,
}

#[derive(Debug, thiserror::Error)]
pub enum NoRelease {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    NotPlanned(Box<NotPlanned>),
    #[error("the record of {owner}, {id}, cannot be read: {reason}")]
    Unreadable { owner: String, id: String, reason: String },
    #[error("the record of {owner}, {id}, cannot be written: {reason}")]
    Unwritable { owner: String, id: String, reason: Unpackable },
    #[error("{by} has taken over the work on {owner}")]
    Overtaken { owner: String, by: String },
    #[error("{owner} is locked by {} since {}, of whom nothing was heard for {quiet} s", .lock.who, .lock.since)]
    Stale { owner: String, lock: Box<Lock>, quiet: u64 },
    #[error("release {number} of {owner} cannot be had: {reason}")]
    NoSpec { owner: String, number: u32, reason: String },
}

impl From<NotPlanned> for NoRelease {
    fn from(reason: NotPlanned) -> Self {
        Self::NotPlanned(Box::new(reason))
    }
}

/// Nothing if nothing was ever applied.
pub async fn read(cluster: &Cluster, owner: &Owner) -> Result<Option<Found>, NoRelease> {
    match cluster.get(&owner.ledger(), Some("v1")).await? {
        Some(secret) => found(owner, &secret).map(Some),
        None => Ok(None),
    }
}

fn found(owner: &Owner, secret: &Value) -> Result<Found, NoRelease> {
    let unreadable = |reason: String| NoRelease::Unreadable {
        owner: owner.name(),
        id: owner.ledger().to_string(),
        reason,
    };
    let packed = secret["data"][KEY].as_str().ok_or_else(|| unreadable(format!("it has no {KEY}")))?;
    let ledger = unpack(packed).map_err(|error| unreadable(error.to_string()))?;
    Ok(Found { ledger, version: version(secret) })
}

/// All that there are, in one namespace or in all, with their owners.
pub async fn ledgers(
    cluster: &Cluster,
    namespace: &str,
) -> Result<Vec<(Owner, Result<Ledger, NoRelease>)>, Refused> {
    let secrets = cluster.list_in("", "Secret", namespace, &format!("{APP},{STACK},!{RELEASE}")).await?;
    let read = |secret: &Value| {
        let label = |name: &str| secret["metadata"]["labels"][name].as_str().unwrap_or_default().to_owned();
        let namespace = secret["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let owner = Owner { app: label(APP), stack: label(STACK), namespace };
        let ledger = found(&owner, secret).map(|found| found.ledger);
        (owner, ledger)
    };
    Ok(secrets.iter().map(read).collect())
}

/// The Spec of a release that succeeded.
pub async fn spec_of(cluster: &Cluster, owner: &Owner, number: u32) -> Result<Spec, NoRelease> {
    let missing = |reason: String| NoRelease::NoSpec { owner: owner.name(), number, reason };
    let id = owner.spec(number);
    let secret = cluster.get(&id, Some("v1")).await?.ok_or_else(|| missing(format!("there is no {id}")))?;
    let packed = secret["data"][SPEC].as_str().ok_or_else(|| missing(format!("{id} has no {SPEC}")))?;
    unpack(packed).map_err(|error| missing(error.to_string()))
}

fn version(object: &Value) -> String {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The ledger while it is ours.
pub(super) struct Held {
    pub(super) cluster: Arc<Cluster>,
    pub(super) owner: Owner,
    pub(super) ledger: Ledger,
    version: String,
    process: String,
}

impl Held {
    /// Writes a ledger in the place of the one that was found, if it is still that. Nothing if somebody was quicker.
    pub(super) async fn take(
        cluster: &Arc<Cluster>,
        owner: &Owner,
        before: Option<&Found>,
        ledger: Ledger,
        process: &str,
    ) -> Result<Option<Self>, NoRelease> {
        let mut held = Self {
            cluster: Arc::clone(cluster),
            owner: owner.clone(),
            ledger,
            version: before.map(|before| before.version.clone()).unwrap_or_default(),
            process: process.to_owned(),
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let written = match before {
                None => match cluster.create(&held.secret()?).await {
                    Ok(None) => return Err(Refused::NoNamespace { id: owner.ledger() }.into()),
                    written => written,
                },
                Some(_) => cluster.replace(&owner.ledger(), held.secret()?.value).await,
            };
            match written {
                Ok(Some(secret)) => {
                    held.version = version(&secret);
                    return Ok(Some(held));
                }
                Ok(None) => return Ok(None),
                Err(Refused::Conflict { .. }) => {
                    let there = read(cluster, owner).await?;
                    let same =
                        there.as_ref().map(|there| &there.version) == before.map(|before| &before.version);
                    match there {
                        // It was written, and only the answer was lost.
                        Some(there) if there.ledger == held.ledger => {
                            held.version = there.version;
                            return Ok(Some(held));
                        }
                        // The server says so, and it is not so.
                        _ if same && attempt < AGAIN => {}
                        _ => return Ok(None),
                    }
                }
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    fn secret(&self) -> Result<Desired, NoRelease> {
        let mut value = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "mizzen.io/app",
            "metadata": {
                "name": self.owner.ledger().name, "namespace": self.owner.namespace, "labels": self.owner.labels(),
            },
            "data": { KEY: self.packed(&self.ledger)? },
        });
        if !self.version.is_empty() {
            value["metadata"]["resourceVersion"] = self.version.as_str().into();
        }
        Ok(Desired { id: self.owner.ledger(), version: "v1".to_owned(), value })
    }

    fn packed(&self, value: &impl serde::Serialize) -> Result<String, NoRelease> {
        let unwritable = |reason| NoRelease::Unwritable {
            owner: self.owner.name(),
            id: self.owner.ledger().to_string(),
            reason,
        };
        pack(value).map_err(unwritable)
    }

    /// As it is now. Whoever has lost the lock learns it here.
    pub(super) async fn write(&mut self) -> Result<(), NoRelease> {
        let id = self.owner.ledger();
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.cluster.replace(&id, self.secret()?.value).await {
                Ok(Some(secret)) => {
                    self.version = version(&secret);
                    return Ok(());
                }
                Ok(None) => return Err(self.overtaken(None)),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {
                    let there = read(&self.cluster, &self.owner).await?;
                    let lock = there.as_ref().and_then(|there| there.ledger.lock.as_ref());
                    match (&there, lock) {
                        (Some(there), Some(lock)) if lock.process == self.process => {
                            self.version.clone_from(&there.version);
                        }
                        // Our last word, whose answer was lost.
                        (Some(there), None) if there.ledger == self.ledger => return Ok(()),
                        (_, lock) => return Err(self.overtaken(lock)),
                    }
                }
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// So that others see that we are at work.
    pub(super) async fn beat(&mut self) -> Result<(), NoRelease> {
        self.ledger.beat();
        self.write().await
    }

    fn overtaken(&self, lock: Option<&Lock>) -> NoRelease {
        let by = lock.map_or("somebody".to_owned(), |lock| lock.who.clone());
        NoRelease::Overtaken { owner: self.owner.name(), by }
    }

    /// What the running release is made of, so that it can be had again.
    pub(super) async fn keep_spec(&self, number: u32, spec: &Spec) -> Result<(), NoRelease> {
        let mut labels = self.owner.labels();
        labels[RELEASE] = number.to_string().into();
        let id = self.owner.spec(number);
        let value = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "mizzen.io/release",
            "metadata": { "name": id.name, "namespace": id.namespace, "labels": labels },
            "data": { SPEC: self.packed(spec)? },
        });
        let desired = Desired { id, version: "v1".to_owned(), value };
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.cluster.apply(&desired, Mode { dry_run: false, force: true }).await {
                Ok(_) => return Ok(()),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Takes away all Specs but those of these releases.
    pub(super) async fn drop_specs(&self, keep: &[u32]) -> Result<(), NoRelease> {
        let selector = format!("{},{RELEASE}", self.owner.selector());
        let kept: Vec<String> = keep.iter().map(|&number| self.owner.spec(number).name).collect();
        for secret in self.cluster.list_in("", "Secret", &self.owner.namespace, &selector).await? {
            if let Ok(id) = ObjectId::of(&secret)
                && !kept.contains(&id.name)
            {
                delete(&self.cluster, &id).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn forget(self) -> Result<(), NoRelease> {
        delete(&self.cluster, &self.owner.ledger()).await
    }
}

/// Somebody may change it at the same moment: a deletion does not mind.
async fn delete(cluster: &Cluster, id: &ObjectId) -> Result<(), NoRelease> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match cluster.delete(id, None).await {
            Ok(_) => return Ok(()),
            Err(Refused::Conflict { .. }) if attempt < AGAIN => {}
            Err(refused) => return Err(refused.into()),
        }
    }
}
