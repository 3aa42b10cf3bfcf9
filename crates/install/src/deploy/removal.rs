//! Taking a mesh out of a cluster: one revision, or everything.
//!
//! What belongs to it is known by labels, as istioctl knows it, so that what istioctl installed can be removed, too; and by the lists of
//! our own, which know kinds that istioctl forgets.

use super::{
    Facts, labels,
    progress::{Event, Progress},
};
use mizzen_cluster::{
    Cluster, Deletion, Desired, Going, Inventory, NoInventory, ObjectId, Owner, Refused, Rights,
    order::rank_of_deletion, wait::Waiting,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// What istioctl removes, and looks at when it prunes.
pub(crate) const KINDS: [(&str, &str); 16] = [
    ("apps", "Deployment"),
    ("apps", "DaemonSet"),
    ("", "Service"),
    ("", "ConfigMap"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("policy", "PodDisruptionBudget"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("networking.istio.io", "EnvoyFilter"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
];

/// And only with everything else: deleting a definition deletes what people have made of it.
const PURGED: [(&str, &str); 2] = [
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
];

/// Components of a revision; `Base` is everybody's.
const COMPONENTS: &str = "(Pilot,IngressGateways,EgressGateways,Cni,Ztunnel)";

/// For the next of what was deleted to be gone; what takes longer is told.
const GONE: Duration = Duration::from_secs(30);
/// For the server itself to clean up behind a definition of which nobody holds anything: a busy one takes its time.
const CLEANED_UP: Duration = Duration::from_secs(120);
/// By this it holds a definition meanwhile.
const CLEANS_UP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Until it is told what is waited for, and between two looks.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// What is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    Revision { revision: String, name: Option<String>, namespace: Option<String> },
    Everything,
}

#[derive(Debug)]
pub struct Removal {
    /// In the order in which they go.
    pub objects: Vec<ObjectId>,
    /// In a list of ours, and somebody has taken the labels from them by which they would go.
    pub kept: Vec<ObjectId>,
    lists: Vec<Owner>,
}

impl Removal {
    pub fn gateways(&self) -> impl Iterator<Item = &ObjectId> {
        self.objects.iter().filter(|id| id.kind == "Deployment" && id.name.contains("gateway"))
    }

    /// What has to be allowed.
    pub fn rights(&self) -> Rights {
        let mut rights = Rights::default();
        for id in &self.objects {
            rights.need(id, &["get", "delete"]);
        }
        for list in &self.lists {
            let id = ObjectId::new("", "ConfigMap", &list.namespace, "");
            rights.need(&id, &["delete"]);
        }
        rights
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.lists.is_empty()
    }
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Removed {
    pub deleted: Vec<ObjectId>,
    pub failed: Vec<(ObjectId, String)>,
    /// Deleted, and held by somebody.
    pub going: Vec<(ObjectId, String)>,
}

impl Facts {
    /// Whether a revision is there, as far as its injector or a list of ours says.
    pub fn has_revision(&self, revision: &str) -> bool {
        self.revisions().contains(revision)
    }

    /// Tags that somebody has set: they stay when their control plane goes, and point at nothing.
    pub fn tags_left(&self, removal: &Removal) -> Vec<&str> {
        let goes = |plane: &&Value| {
            let name = plane["metadata"]["name"].as_str().unwrap_or_default();
            removal.objects.iter().any(|id| id.kind == "Deployment" && id.name == name)
        };
        let going = self.control_planes.iter().filter(goes);
        let going: BTreeSet<&str> = going.filter_map(|plane| labels::of(plane, labels::REVISION)).collect();
        let is_going = |webhook: &&Value| {
            labels::of(webhook, labels::REVISION).is_some_and(|revision| going.contains(revision))
        };
        let of_revision = self.webhooks.iter().filter(is_going);
        let stays = |webhook: &&Value| {
            let name = webhook["metadata"]["name"].as_str().unwrap_or_default();
            !removal.objects.iter().any(|id| id.kind == "MutatingWebhookConfiguration" && id.name == name)
        };
        of_revision.filter(stays).filter_map(|webhook| labels::of(webhook, labels::TAG)).collect()
    }

    /// Where control planes are.
    pub fn namespaces(&self) -> BTreeSet<&str> {
        self.control_planes
            .iter()
            .filter_map(|plane| plane.pointer("/metadata/namespace")?.as_str())
            .collect()
    }

    pub fn revisions(&self) -> BTreeSet<&str> {
        let webhooks = self.webhooks.iter().filter_map(|webhook| labels::of(webhook, labels::REVISION));
        let planes = self.control_planes.iter().filter_map(|plane| labels::of(plane, labels::REVISION));
        let lists = self.inventories.iter().map(|(owner, _)| revision_of(owner));
        webhooks.chain(planes).chain(lists).collect()
    }
}

/// A list has the name of its revision, and behind a dot that of its IstioOperator.
fn revision_of(owner: &Owner) -> &str {
    owner.name.split_once('.').map_or(owner.name.as_str(), |(revision, _)| revision)
}

pub async fn plan_removal(cluster: &Cluster, facts: &Facts, which: &Which) -> Result<Removal, Refused> {
    let (selector, kinds): (String, Vec<(&str, &str)>) = match which {
        Which::Everything => (labels::COMPONENT.to_owned(), [KINDS.as_slice(), PURGED.as_slice()].concat()),
        Which::Revision { revision, name, namespace } => {
            let mut selector =
                format!("{}={revision},{} in {COMPONENTS}", labels::REVISION, labels::COMPONENT);
            for (label, value) in [(labels::OWNER, name), (labels::OWNER_NAMESPACE, namespace)] {
                if let Some(value) = value {
                    selector.push_str(&format!(",{label}={value}"));
                }
            }
            (selector, KINDS.to_vec())
        }
    };
    let mut objects: BTreeSet<ObjectId> = BTreeSet::new();
    // A name that is too long for a label is on no object.
    let is_label = |name: &Option<String>| name.as_ref().is_none_or(|name| name.len() <= 63);
    let kinds = match which {
        Which::Revision { name, namespace, .. } if !is_label(name) || !is_label(namespace) => Vec::new(),
        _ => kinds,
    };
    for (group, kind) in kinds {
        for object in cluster.list(group, kind, &selector).await? {
            // A pod goes with what made it.
            let is_made = object.pointer("/metadata/ownerReferences").is_some();
            if let Ok(desired) = Desired::new(object)
                && !is_made
            {
                objects.insert(desired.id);
            }
        }
    }
    let is_meant = |owner: &Owner| match which {
        Which::Everything => true,
        Which::Revision { revision, name, namespace } => {
            revision_of(owner) == revision
                && namespace.as_ref().is_none_or(|namespace| owner.namespace == *namespace)
                && name.as_ref().is_none_or(|name| owner.name == format!("{revision}.{name}"))
        }
    };
    let (lists, others): (Vec<_>, Vec<_>) = facts.inventories.iter().partition(|(owner, _)| is_meant(owner));
    let unreadable = facts.unreadable.iter().map(|(owner, _)| owner).filter(|owner| is_meant(owner));
    let mut kept = Vec::new();
    for id in further(&lists, &others, &objects) {
        let Some(live) = cluster.get(&id, None).await? else { continue };
        if belongs(&live, which) {
            objects.insert(id);
        } else if labels::of(&live, labels::COMPONENT) != Some("Base") {
            kept.push(id);
        }
    }
    let mut objects: Vec<ObjectId> = objects.into_iter().collect();
    objects.sort_by_key(|id| rank_of_deletion(&id.kind));
    let lists = lists.into_iter().map(|(owner, _)| owner).chain(unreadable).cloned().collect();
    Ok(Removal { objects, kept, lists })
}

/// What only our lists know, and no other list has.
fn further(
    lists: &[&(Owner, Inventory)],
    others: &[&(Owner, Inventory)],
    found: &BTreeSet<ObjectId>,
) -> Vec<ObjectId> {
    let kept: BTreeSet<&ObjectId> = others.iter().flat_map(|(_, list)| &list.objects).collect();
    let listed = lists.iter().flat_map(|(_, list)| &list.objects);
    listed.filter(|id| !found.contains(id) && !kept.contains(id)).cloned().collect()
}

fn belongs(live: &Value, which: &Which) -> bool {
    match which {
        Which::Everything => labels::of(live, labels::COMPONENT).is_some(),
        Which::Revision { revision, .. } => {
            labels::of(live, labels::REVISION) == Some(revision)
                && labels::of(live, labels::COMPONENT).is_some_and(|component| component != "Base")
        }
    }
}

pub async fn remove(
    cluster: &Arc<Cluster>,
    removal: Removal,
    progress: &Progress,
) -> Result<Removed, NoInventory> {
    let mut ranks: BTreeMap<u8, Vec<ObjectId>> = BTreeMap::new();
    for id in removal.objects {
        ranks.entry(rank_of_deletion(&id.kind)).or_default().push(id);
    }
    let (mut removed, mut begun) = (Removed::default(), Vec::new());
    for ids in ranks.into_values() {
        let outcome = cluster.for_all(ids, ObjectId::clone, |cluster, id| async move {
            let deletion = delete(&cluster, &id).await?;
            Ok((id, deletion))
        });
        let outcome = outcome.await;
        for (id, deletion) in outcome.done {
            if deletion == Deletion::Begun {
                begun.push(id.clone());
            }
            if deletion != Deletion::Absent {
                progress(Event::Deleted { object: id.to_string() });
                removed.deleted.push(id);
            }
        }
        removed
            .failed
            .extend(outcome.failed.into_iter().map(|failed| (failed.id, failed.reason.to_string())));
    }
    until_gone(cluster, begun, progress, &mut removed).await;
    if removed.failed.is_empty() && removed.going.is_empty() {
        for list in &removal.lists {
            cluster.forget(list).await?;
        }
    }
    Ok(removed)
}

/// All at once, for a while; what is still there then is told with who holds it.
async fn until_gone(
    cluster: &Arc<Cluster>,
    begun: Vec<ObjectId>,
    progress: &Progress,
    removed: &mut Removed,
) {
    let begin = Instant::now();
    let mut end = begin + GONE;
    let (mut left, mut told) = (begun, Vec::new());
    while !left.is_empty() {
        let before = left.len();
        let looked = cluster.for_all(left, ObjectId::clone, |cluster, id| async move {
            let live = cluster.get(&id, None).await?;
            Ok(live.and_then(|live| Some((id, Going::of(&live)?, live))))
        });
        let looked = looked.await;
        removed.failed.extend(looked.failed.into_iter().map(|failed| (failed.id, failed.reason.to_string())));
        let going: Vec<(ObjectId, Going, Value)> = looked.done.into_iter().flatten().collect();
        if going.len() < before {
            end = Instant::now() + GONE;
        }
        let is_late = Instant::now() > end;
        if is_late && !(begin.elapsed() < CLEANED_UP && all_are_cleaned_up(cluster, &going).await) {
            for (id, going, live) in going {
                let held = instances(cluster, &live).await.unwrap_or_default();
                removed.going.push((id, format!("{going}{held}")));
            }
            return;
        }
        left = going.iter().map(|(id, ..)| id.clone()).collect();
        let waiting = going.into_iter().map(|(id, going, _)| Waiting { id, reason: going.to_string() });
        let waiting: Vec<Waiting> = waiting.collect();
        if begin.elapsed() > PATIENCE && waiting != told {
            progress(Event::Waits { component: "The mesh", for_what: waiting.clone() });
            told = waiting;
        }
        sleep(LOOK).await;
    }
}

/// Whether nobody but the server keeps them.
async fn all_are_cleaned_up(cluster: &Cluster, going: &[(ObjectId, Going, Value)]) -> bool {
    for (_, going, live) in going {
        if going.finalizers != [CLEANS_UP] || instances(cluster, live).await.is_some() {
            return false;
        }
    }
    true
}

/// A definition goes after its objects: those that somebody holds.
async fn instances(cluster: &Cluster, definition: &Value) -> Option<String> {
    const NAMED: usize = 3;
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
    let objects = cluster.list(text("/spec/group")?, text("/spec/names/kind")?, "").await.ok()?;
    let held =
        objects.iter().filter(|object| Going::of(object).is_some_and(|going| !going.finalizers.is_empty()));
    let held: Vec<String> = held.filter_map(|object| Some(ObjectId::of(object).ok()?.to_string())).collect();
    let more = if held.len() > NAMED { ", …" } else { "" };
    (!held.is_empty())
        .then(|| format!("; before it has to go: {}{more}", held[..held.len().min(NAMED)].join(", ")))
}

/// Somebody may change it at the same moment: a deletion does not mind.
async fn delete(cluster: &Cluster, id: &ObjectId) -> Result<Deletion, Refused> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        match cluster.delete(id, None).await {
            Err(Refused::Conflict { .. }) if attempt < 8 => {}
            result => return result,
        }
    }
}
