//! What a release would do, object by object, before anything is written: the last release, the Spec, and what is there.

use super::{
    ledger::{Ledger, Phase},
    owner::Owner,
    record::{Found, ledgers},
    rehearse,
    strangers::{of_its_kind, strangers},
    wanted::Wanted,
};
use crate::spec::Spec;
use mizzen_cluster::{
    Action, Adoption, Cluster, Failed, Going, NotPlanned, ObjectId, Planned, Refused, Rights, Served,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Who wants a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Spec,
    /// The Spec is as it was: somebody else has changed or deleted the object.
    Others,
}

#[derive(Debug)]
pub struct PlannedStep {
    pub wanted: Wanted,
    pub planned: Planned,
    pub cause: Cause,
}

/// An object that a release before this one has made and that is not wanted any more.
#[derive(Clone, Debug)]
pub struct Leaving {
    pub id: ObjectId,
    /// Why it stays nevertheless.
    pub kept: Option<String>,
}

#[derive(Debug)]
pub struct Plan {
    /// In the order of the Spec.
    pub steps: Vec<PlannedStep>,
    pub leaving: Vec<Leaving>,
    /// Recorded, not wanted, and not there: whoever was cut off or works beside us may still make it.
    pub(super) absent: Vec<ObjectId>,
    /// Objects that cannot be brought to what they should be.
    pub failed: Vec<Failed>,
    /// Objects whose kind the server does not have.
    pub unserved: Vec<(ObjectId, String)>,
    /// Objects of which the server could not be asked, and what it said instead.
    pub(super) unasked: Vec<(ObjectId, String)>,
    /// Namespaces as they are, of those that could be read.
    pub(super) namespaces: BTreeMap<String, Option<Value>>,
    pub(super) digest: String,
    pub before: Option<Found>,
}

impl Plan {
    /// Whether everything is as it should be, and recorded so.
    pub fn changes_nothing(&self) -> bool {
        let before = self.before.as_ref().filter(|before| !before.is_recovered());
        self.does_nothing() && before.is_some_and(|before| is_recorded(&before.ledger, &self.digest))
    }

    /// Whether no object changes.
    pub fn does_nothing(&self) -> bool {
        self.steps.iter().all(|step| step.planned.step.action == Action::Unchanged) && self.leaving.is_empty()
    }

    /// What has to be allowed.
    pub fn rights(&self, owner: &Owner) -> Rights {
        let mut rights = Rights::default();
        let written = self.steps.iter().filter(|step| step.planned.step.action != Action::Unchanged);
        let written = written.map(|step| &step.wanted.desired.id);
        // What could not be planned may be for want of a right.
        for id in written.chain(self.failed.iter().map(|failed| &failed.id)) {
            rights.need(id, &["get", "create", "patch"]);
        }
        for leaving in self.leaving.iter().filter(|leaving| leaving.kept.is_none()) {
            rights.need(&leaving.id, &["delete"]);
        }
        rights.need(&owner.ledger(), &["get", "list", "create", "update", "patch", "delete"]);
        rights
    }

    /// Whether the application's own namespace has to be made first.
    pub(super) fn makes_namespace(&self, owner: &Owner) -> bool {
        self.namespaces.get(&owner.namespace).is_some_and(Option::is_none)
    }
}

fn is_recorded(ledger: &Ledger, digest: &str) -> bool {
    ledger.lock.is_none()
        && ledger.newest().is_some_and(|newest| newest.phase == Phase::Succeeded && newest.digest == digest)
}

pub(crate) fn digest(spec: &Spec) -> String {
    Sha256::digest(spec.to_yaml()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `prior` is the Spec of the release that is in force.
pub async fn plan(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    spec: &Spec,
    wanted: Vec<Wanted>,
    before: Option<Found>,
    prior: Option<&Spec>,
    adoption: &Adoption,
) -> Result<Plan, Refused> {
    let wanted = placed(&cluster.served(), wanted);
    let namespaces = namespaces(cluster, owner, &wanted).await?;
    let made: BTreeSet<String> = wanted
        .iter()
        .filter(|one| one.desired.id.kind == "Namespace")
        .map(|one| one.desired.id.name.clone())
        .collect();
    let mut plan = Plan {
        steps: Vec::new(),
        leaving: Vec::new(),
        absent: Vec::new(),
        failed: unusable(owner, &namespaces, &made, &wanted),
        unserved: unserved(cluster, &wanted),
        unasked: Vec::new(),
        namespaces,
        digest: digest(spec),
        before,
    };
    if !plan.failed.is_empty() {
        return Ok(plan);
    }
    let ids: BTreeSet<ObjectId> = wanted.iter().map(|one| one.desired.id.clone()).collect();
    let adoption = recorded(adoption, plan.before.as_ref().map(|before| &before.ledger));
    // Of those that the release makes.
    let absent: BTreeSet<String> =
        made.iter().filter(|name| plan.namespaces.get(*name).is_some_and(Option::is_none)).cloned().collect();
    let (adoption, made, absent) = (Arc::new(adoption), Arc::new(made), Arc::new(absent));
    let planned = cluster.for_all(
        wanted,
        |one| one.desired.id.clone(),
        |cluster, one| {
            let (adoption, made, absent) = (Arc::clone(&adoption), Arc::clone(&made), Arc::clone(&absent));
            async move {
                let planned = cluster.plan(&one.desired, &adoption).await?;
                let unasked = if absent.contains(&one.desired.id.namespace) {
                    rehearse::elsewhere(&cluster, &one.desired).await?
                } else {
                    cluster.rehearse(&planned, &made).await?;
                    None
                };
                Ok((one, planned, unasked))
            }
        },
    );
    let planned = planned.await;
    plan.failed = planned.failed;
    let ledger = plan.before.as_ref().map(|before| before.ledger.clone()).unwrap_or_default();
    let unchanged = unchanged(prior, spec, &cluster.served());
    for (wanted, planned, unasked) in planned.done {
        let id = &wanted.desired.id;
        plan.unasked.extend(unasked.map(|reason| (id.clone(), reason)));
        let was_there = ledger.object(id).is_some_and(|recorded| recorded.release.is_some());
        let by_others = unchanged.contains(id) && was_there && planned.step.action != Action::Unchanged;
        let cause = if by_others { Cause::Others } else { Cause::Spec };
        plan.steps.push(PlannedStep { wanted, planned, cause });
    }
    let surplus: Vec<ObjectId> =
        ledger.objects.iter().map(|recorded| &recorded.id).filter(|id| !ids.contains(id)).cloned().collect();
    let lived_in: BTreeSet<String> =
        ids.iter().map(|id| id.namespace.clone()).chain([owner.namespace.clone()]).collect();
    let looked = look(cluster, owner, surplus, &lived_in).await?;
    (plan.leaving, plan.absent) = (looked.leaving, looked.absent);
    Ok(plan)
}

/// With everything that the ledger names.
pub(super) fn recorded(adoption: &Adoption, ledger: Option<&Ledger>) -> Adoption {
    let objects = ledger.into_iter().flat_map(|ledger| &ledger.objects);
    Adoption { recorded: objects.map(|recorded| recorded.id.clone()).collect(), ..adoption.clone() }
}

/// Objects that the last release wanted exactly so.
fn unchanged(prior: Option<&Spec>, spec: &Spec, served: &Served) -> BTreeSet<ObjectId> {
    let prior = prior.into_iter().flat_map(|prior| &prior.resources);
    let prior: BTreeMap<&str, &Value> =
        prior.map(|resource| (resource.id.as_str(), &resource.attributes)).collect();
    let same = spec.resources.iter().filter(|one| prior.get(one.id.as_str()) == Some(&&one.attributes));
    let ids = same.filter_map(|resource| ObjectId::of(&resource.attributes).ok());
    ids.map(|id| lives(served, id)).collect()
}

/// What lives in no namespace, as the server says, is in none, whatever was written.
fn placed(served: &Served, wanted: Vec<Wanted>) -> Vec<Wanted> {
    let place = |mut one: Wanted| {
        one.desired.id = lives(served, one.desired.id);
        if one.desired.id.namespace.is_empty()
            && let Some(metadata) = one.desired.value_mut().get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("namespace");
        }
        one.needs = one.needs.into_iter().map(|id| lives(served, id)).collect();
        one
    };
    wanted.into_iter().map(place).collect()
}

fn lives(served: &Served, id: ObjectId) -> ObjectId {
    match served.find(&id.group, &id.kind, None) {
        Some(kind) if !kind.namespaced => ObjectId { namespace: String::new(), ..id },
        _ => id,
    }
}

/// The namespaces of all objects; those that nobody may read are taken for there.
async fn namespaces(
    cluster: &Cluster,
    owner: &Owner,
    wanted: &[Wanted],
) -> Result<BTreeMap<String, Option<Value>>, Refused> {
    let named = wanted.iter().map(|one| one.desired.id.namespace.clone()).filter(|name| !name.is_empty());
    let names: BTreeSet<String> = named.chain([owner.namespace.clone()]).collect();
    let mut all = BTreeMap::new();
    for name in names {
        let id = ObjectId { name: name.clone(), ..owner.namespace_id() };
        match cluster.get(&id, Some("v1")).await {
            Ok(live) => {
                all.insert(name, live);
            }
            Err(Refused::Forbidden { .. }) => {}
            Err(refused) => return Err(refused),
        }
    }
    Ok(all)
}

/// Namespaces in which nothing can be made.
fn unusable(
    owner: &Owner,
    namespaces: &BTreeMap<String, Option<Value>>,
    made: &BTreeSet<String>,
    wanted: &[Wanted],
) -> Vec<Failed> {
    let mut failed = Vec::new();
    for (name, live) in namespaces {
        let id = ObjectId { name: name.clone(), ..owner.namespace_id() };
        let reason = match live {
            Some(live) => Going::of(live).map(|going| NotPlanned::Going { id: id.clone(), going }),
            None if made.contains(name) => None,
            // The first that would be there; if there is none, it is the record that has no place.
            None => {
                let first = wanted.iter().map(|one| &one.desired.id).find(|id| id.namespace == *name);
                let id = first.cloned().unwrap_or_else(|| owner.ledger());
                Some(NotPlanned::Refused(Refused::NoNamespace { id }))
            }
        };
        failed.extend(reason.map(|reason| Failed { id, reason }));
    }
    failed
}

/// Objects whose kind neither the server has nor a definition among them.
fn unserved(cluster: &Cluster, wanted: &[Wanted]) -> Vec<(ObjectId, String)> {
    let served = cluster.served();
    let definitions = wanted.iter().filter(|one| one.desired.id.kind == "CustomResourceDefinition");
    let defined: BTreeSet<(&str, &str)> = definitions
        .filter_map(|one| {
            let text = |pointer: &str| one.desired.value.pointer(pointer).and_then(Value::as_str);
            Some((text("/spec/group")?, text("/spec/names/kind")?))
        })
        .collect();
    let unknown = wanted.iter().map(|one| &one.desired).filter(|desired| {
        let id = &desired.id;
        served.find(&id.group, &id.kind, Some(&desired.version)).is_none()
            && !defined.contains(&(id.group.as_str(), id.kind.as_str()))
    });
    unknown.map(|desired| (desired.id.clone(), desired.api_version())).collect()
}

pub(super) struct Looked {
    pub(super) leaving: Vec<Leaving>,
    pub(super) absent: Vec<ObjectId>,
}

/// Which of these are there, and which of those are ours to delete.
pub(super) async fn look(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    ids: Vec<ObjectId>,
    lived_in: &BTreeSet<String>,
) -> Result<Looked, Refused> {
    let going: BTreeSet<ObjectId> = ids.iter().cloned().collect();
    let looked = cluster.for_all(ids, ObjectId::clone, |cluster, id| async move {
        let live = cluster.get(&id, None).await?;
        Ok((id, live))
    });
    let looked = looked.await;
    if let Some(failed) = looked.failed.into_iter().next() {
        return Err(match failed.reason {
            NotPlanned::Refused(refused) => refused,
            other => {
                Refused::Other { what: "looking at it".to_owned(), status: 0, message: other.to_string() }
            }
        });
    }
    let (mut leaving, mut absent) = (Vec::new(), Vec::new());
    for (id, live) in looked.done {
        let Some(live) = live else {
            absent.push(id);
            continue;
        };
        let kept = match cluster.is_ours(&live, &Adoption::default()) {
            Err(why) => Some(why),
            Ok(()) if is_definition(&id) => of_its_kind(cluster, &live, &going).await?,
            Ok(()) if id.kind == "Namespace" => inhabited(cluster, owner, &id.name, lived_in).await?,
            Ok(()) => None,
        };
        leaving.push(Leaving { id, kept });
    }
    Ok(Looked { leaving, absent })
}

pub(super) fn is_definition(id: &ObjectId) -> bool {
    id.group == "apiextensions.k8s.io" && id.kind == "CustomResourceDefinition"
}

/// A namespace goes with everything in it: not while an application lives there, or somebody else has something there.
pub(super) async fn inhabited(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    name: &str,
    lived_in: &BTreeSet<String>,
) -> Result<Option<String>, Refused> {
    if lived_in.contains(name) {
        return Ok(Some("the application lives in it".to_owned()));
    }
    let others = ledgers(cluster, name).await?;
    let mut others = others.into_iter().map(|(other, _)| other).filter(|other| other != owner);
    match others.next() {
        Some(other) => Ok(Some(format!("{} lives in it, too", other.name()))),
        None => strangers(cluster, owner, name).await,
    }
}
