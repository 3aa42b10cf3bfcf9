//! The ledger in the cluster: read, taken, written over the very version that was read, and forgotten. One that somebody has deleted
//! is made again of the Specs that are still there: nobody else knows what is the application's.

use super::{
    ledger::{Ledger, Lock, Phase},
    owner::{APP, Owner, PART, RELEASE, STACK},
    pack::{Unpackable, pack, unpack, unpack_parts},
    run::now,
};
use crate::spec::Spec;
use mizzen_cluster::{Cluster, Desired, Mode, NotPlanned, ObjectId, Refused};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

const KEY: &str = "ledger";
const SPEC: &str = "spec";
/// How many Secrets a Spec takes, said by the first; nothing for one.
const PARTS_SAID: &str = "mizzen.io/parts";
/// Times that something is tried again because the server says that it has changed.
const AGAIN: u32 = 8;

/// A ledger as it was read.
#[derive(Clone, Debug)]
pub struct Found {
    pub ledger: Ledger,
    /// When it was last written, by the server's clock.
    pub heard: Option<String>,
    /// Empty where it is not there any more, and was made again of the Specs.
    pub(super) version: String,
}

impl Found {
    /// Somebody has deleted the record, and this is what the Specs of its releases say.
    pub fn is_recovered(&self) -> bool {
        self.version.is_empty()
    }
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
        None => recovered(cluster, owner).await,
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
    let entries = secret["metadata"]["managedFields"].as_array().into_iter().flatten();
    let heard = entries.filter_map(|entry| entry["time"].as_str()).max().map(str::to_owned);
    Ok(Found { ledger, heard, version: version(secret) })
}

/// What the Specs say that are there without a ledger. One that cannot be read is no reason not to know the others.
async fn recovered(cluster: &Cluster, owner: &Owner) -> Result<Option<Found>, NoRelease> {
    let selector = format!("{},{RELEASE},!{PART}", owner.selector());
    let secrets = match cluster.list_in("", "Secret", &owner.namespace, &selector).await {
        Ok(secrets) => secrets,
        // Whether this user may work here at all is asked elsewhere.
        Err(Refused::Forbidden { .. }) => return Ok(None),
        Err(refused) => return Err(refused.into()),
    };
    let mut specs = BTreeMap::new();
    for secret in &secrets {
        let text = |pointer: &str| secret.pointer(pointer).and_then(Value::as_str);
        let number = text("/metadata/labels/mizzen.io~1release").and_then(|number| number.parse().ok());
        let Some(number) = number else { continue };
        match spec_of(cluster, owner, number).await {
            Ok(spec) => {
                let made = text("/metadata/creationTimestamp").unwrap_or_default().to_owned();
                specs.insert(number, (spec, made));
            }
            Err(NoRelease::NoSpec { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    if specs.is_empty() {
        return Ok(None);
    }
    let of = specs.iter().map(|(&number, (spec, made))| (number, spec, made.as_str()));
    Ok(Some(Found { ledger: Ledger::of_specs(of), heard: None, version: String::new() }))
}

/// All that there are, in one namespace or in all, with their owners.
pub async fn ledgers(
    cluster: &Cluster,
    namespace: &str,
) -> Result<Vec<(Owner, Result<Found, NoRelease>)>, Refused> {
    let secrets = cluster.list_in("", "Secret", namespace, &format!("{APP},{STACK},!{RELEASE}")).await?;
    let read = |secret: &Value| {
        let owner = owner_of(secret);
        let found = found(&owner, secret);
        (owner, found)
    };
    Ok(secrets.iter().map(read).collect())
}

/// Applications whose record is gone, but not the Specs of their releases.
pub async fn orphans(cluster: &Cluster, namespace: &str, known: &[Owner]) -> Result<Vec<Owner>, Refused> {
    let selector = format!("{APP},{STACK},{RELEASE},!{PART}");
    let mut orphans: Vec<Owner> = Vec::new();
    for secret in cluster.list_in("", "Secret", namespace, &selector).await? {
        let owner = owner_of(&secret);
        if !known.contains(&owner) && !orphans.contains(&owner) {
            orphans.push(owner);
        }
    }
    Ok(orphans)
}

fn owner_of(secret: &Value) -> Owner {
    let label = |name: &str| secret["metadata"]["labels"][name].as_str().unwrap_or_default().to_owned();
    let namespace = secret["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    Owner { app: label(APP), stack: label(STACK), namespace }
}

/// The Spec of a release that succeeded.
pub async fn spec_of(cluster: &Cluster, owner: &Owner, number: u32) -> Result<Spec, NoRelease> {
    let missing = |reason: String| NoRelease::NoSpec { owner: owner.name(), number, reason };
    let (mut packed, mut of) = (Vec::new(), 1);
    while packed.len() < of {
        let id = owner.spec_part(number, packed.len() + 1);
        let secret =
            cluster.get(&id, Some("v1")).await?.ok_or_else(|| missing(format!("there is no {id}")))?;
        let part = secret["data"][SPEC].as_str().ok_or_else(|| missing(format!("{id} has no {SPEC}")))?;
        packed.push(part.to_owned());
        if let Some(said) = secret["metadata"]["annotations"][PARTS_SAID].as_str() {
            of = said.parse().map_err(|_| missing(format!("{id} has {said} parts")))?;
        }
    }
    unpack_parts(&packed).map_err(|error| missing(error.to_string()))
}

pub(super) fn unwritable(owner: &Owner, reason: Unpackable) -> NoRelease {
    NoRelease::Unwritable { owner: owner.name(), id: owner.ledger().to_string(), reason }
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
        // What was made again is not there.
        let before = before.filter(|before| !before.is_recovered());
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
                Some(_) => cluster.replace(&owner.ledger(), &held.secret()?.value).await,
            };
            match written {
                Ok(Some(secret)) => {
                    held.version = version(&secret);
                    return Ok(Some(held));
                }
                Ok(None) => return Ok(None),
                Err(Refused::Conflict { .. }) => {
                    let there = read(cluster, owner).await?.filter(|there| !there.is_recovered());
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
            "data": { KEY: pack(&self.ledger).map_err(|reason| unwritable(&self.owner, reason))? },
        });
        if !self.version.is_empty() {
            value["metadata"]["resourceVersion"] = self.version.as_str().into();
        }
        Ok(Desired { id: self.owner.ledger(), version: "v1".to_owned(), value: value.into() })
    }

    /// As it is now. Whoever has lost the lock learns it here.
    pub(super) async fn write(&mut self) -> Result<(), NoRelease> {
        let id = self.owner.ledger();
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.cluster.replace(&id, &self.secret()?.value).await {
                Ok(Some(secret)) => {
                    self.version = version(&secret);
                    return Ok(());
                }
                Ok(None) => return Err(self.overtaken(None)),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {
                    let there = read(&self.cluster, &self.owner).await?.filter(|there| !there.is_recovered());
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

    /// Work that cannot go on is recorded as failed, so that nobody waits for it, if the record is still ours and somebody answers.
    pub(super) async fn give_up(&mut self, why: &NoRelease) {
        let nobody_hears =
            matches!(why, NoRelease::Overtaken { .. } | NoRelease::Refused(Refused::Unreachable { .. }));
        if !nobody_hears && self.ledger.lock.is_some() {
            self.ledger.end(Phase::Failed, Some(why.to_string()), &now());
            // What is told is why it cannot go on; that this could not be written either is no news.
            let _ = self.write().await;
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

    /// What the running release is made of, so that it can be had again. The first part is the last that is written: it says that the
    /// others are there.
    pub(super) async fn keep_spec(&self, number: u32, parts: &[String]) -> Result<(), NoRelease> {
        for (index, packed) in parts.iter().enumerate().rev() {
            let part = index + 1;
            let mut labels = self.owner.labels();
            labels[RELEASE] = number.to_string().into();
            let id = self.owner.spec_part(number, part);
            let mut metadata = json!({ "name": id.name, "namespace": id.namespace });
            if part > 1 {
                labels[PART] = part.to_string().into();
            } else if parts.len() > 1 {
                metadata["annotations"] = json!({ PARTS_SAID: parts.len().to_string() });
            }
            metadata["labels"] = labels;
            let value = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "mizzen.io/release",
                "metadata": metadata, "data": { SPEC: packed },
            });
            self.keep(&Desired { id, version: "v1".to_owned(), value: value.into() }).await?;
        }
        Ok(())
    }

    async fn keep(&self, desired: &Desired) -> Result<(), NoRelease> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.cluster.apply(desired, Mode { dry_run: false, force: true }).await {
                Ok(_) => return Ok(()),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Takes away all Specs but those of these releases.
    pub(super) async fn drop_specs(&self, keep: &[u32]) -> Result<(), NoRelease> {
        let selector = format!("{},{RELEASE}", self.owner.selector());
        for secret in self.cluster.list_in("", "Secret", &self.owner.namespace, &selector).await? {
            let number =
                secret["metadata"]["labels"][RELEASE].as_str().and_then(|number| number.parse().ok());
            if let Ok(id) = ObjectId::of(&secret)
                && !number.is_some_and(|number| keep.contains(&number))
            {
                delete(&self.cluster, &id).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn forget(&self) -> Result<(), NoRelease> {
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
