//! What an installation would do, object by object, before anything is written.

use super::{Facts, Mesh, labels};
use crate::Component;
use mizzen_cluster::{
    Action, Adoption, Cluster, Desired, Failed, Going, Inventory, NotPlanned, ObjectId, Planned, Refused,
    Step, order::rank_of_deletion,
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

#[derive(Debug)]
pub struct Plan {
    /// Whether the namespace has to be made.
    pub makes_namespace: bool,
    pub parts: Vec<PlannedPart>,
    /// What was installed before and is not wanted any more, and is there.
    pub prune: Vec<ObjectId>,
    /// The same, whether it is there or not: whoever was cut off or works beside us may still make it.
    pub(crate) candidates: Vec<ObjectId>,
    /// Objects that cannot be brought to what they should be.
    pub failed: Vec<Failed>,
    /// The list as it was found.
    pub(crate) before: Option<Inventory>,
}

#[derive(Debug)]
pub struct PlannedPart {
    pub component: &'static Component,
    pub objects: Vec<(Desired, Planned)>,
}

impl Plan {
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.parts.iter().flat_map(|part| &part.objects).map(|(_, planned)| &planned.step)
    }

    /// Whether everything is as it should be.
    pub fn changes_nothing(&self) -> bool {
        !self.makes_namespace
            && self.prune.is_empty()
            && self.steps().all(|step| step.action == Action::Unchanged)
    }
}

pub async fn plan(
    cluster: &Arc<Cluster>,
    mesh: &Mesh,
    facts: &Facts,
    adoption: &Adoption,
) -> Result<Plan, Refused> {
    let namespace = ObjectId::new("", "Namespace", "", &mesh.namespace);
    let there = cluster.get(&namespace, None).await?;
    let mut plan = Plan {
        makes_namespace: there.is_none(),
        parts: Vec::new(),
        prune: Vec::new(),
        candidates: Vec::new(),
        failed: Vec::new(),
        before: None,
    };
    // Nothing can be made in it, and it may take what is there with it.
    if let Some(going) = there.as_ref().and_then(Going::of) {
        plan.failed
            .push(Failed { id: namespace.clone(), reason: NotPlanned::Going { id: namespace, going } });
        return Ok(plan);
    }
    let owner = mesh.owner();
    if let Some((_, reason)) = facts.unreadable.iter().find(|(other, _)| *other == owner) {
        return Err(Refused::Invalid {
            what: "the installation".to_owned(),
            message: format!(
                "{reason}. Mend it, or delete it to begin a new list: what only it names is then nobody's to remove"
            ),
        });
    }
    // Everything is made in the mesh's own namespace, which is made first, or in others, which have to be there.
    let made: BTreeSet<String> = plan.makes_namespace.then(|| mesh.namespace.clone()).into_iter().collect();
    for part in &mesh.parts {
        let (adoption, made) = (Arc::new(adoption.clone()), made.clone());
        let planned = cluster.for_all(
            part.objects.clone(),
            |object| object.id.clone(),
            |cluster, object| {
                let (adoption, made) = (Arc::clone(&adoption), made.clone());
                async move {
                    let planned = cluster.plan(&object, &adoption).await?;
                    cluster.rehearse(&planned, &made).await?;
                    Ok((object, planned))
                }
            },
        );
        let planned = planned.await;
        plan.failed.extend(planned.failed);
        plan.parts.push(PlannedPart { component: part.component, objects: planned.done });
    }
    plan.failed.extend(unknown_kinds(cluster, mesh));
    plan.before =
        facts.inventories.iter().find(|(other, _)| *other == owner).map(|(_, inventory)| inventory.clone());
    plan.candidates = superfluous(cluster, mesh, facts, &plan, adoption).await?;
    for id in &plan.candidates {
        let Some(live) = cluster.get(id, None).await? else { continue };
        if cluster.is_ours(&live, adoption).and_then(|()| may_prune(&live, mesh)).is_ok() {
            plan.prune.push(id.clone());
        }
    }
    Ok(plan)
}

/// Kinds that neither the server has nor a definition of this mesh.
fn unknown_kinds(cluster: &Cluster, mesh: &Mesh) -> Vec<Failed> {
    let served = cluster.served();
    let defined: BTreeSet<(&str, &str)> = mesh
        .objects()
        .filter(|object| object.id.kind == "CustomResourceDefinition")
        .filter_map(|object| {
            let text = |pointer: &str| object.value.pointer(pointer).and_then(|text| text.as_str());
            Some((text("/spec/group")?, text("/spec/names/kind")?))
        })
        .collect();
    let unknown = mesh.objects().filter(|object| {
        served.find(&object.id.group, &object.id.kind, Some(&object.version)).is_none()
            && !defined.contains(&(object.id.group.as_str(), object.id.kind.as_str()))
    });
    let failed = unknown.map(|object| Failed {
        id: object.id.clone(),
        reason: NotPlanned::Refused(Refused::NotServed {
            group: object.id.group.clone(),
            kind: object.id.kind.clone(),
            version: object.version.clone(),
        }),
    });
    failed.collect()
}

/// What this owner's list has and nobody wants: neither this mesh nor another list. Definitions stay, with the objects that people have
/// made of them. Whoever takes a mesh over takes what the other installer's labels show, too.
async fn superfluous(
    cluster: &Cluster,
    mesh: &Mesh,
    facts: &Facts,
    plan: &Plan,
    adoption: &Adoption,
) -> Result<Vec<ObjectId>, Refused> {
    let owner = mesh.owner();
    let mut listed: BTreeSet<ObjectId> =
        plan.before.iter().flat_map(|before| before.objects.iter().cloned()).collect();
    if !adoption.from.is_empty() {
        let selector = format!("{}={},{}", labels::REVISION, mesh.revision, labels::COMPONENT);
        for (group, kind) in super::removal::KINDS {
            for object in cluster.list(group, kind, &selector).await? {
                let owner = labels::of(&object, labels::OWNER).filter(|owner| *owner != "unknown");
                let is_made = object.pointer("/metadata/ownerReferences").is_some();
                if owner == mesh.name.as_deref()
                    && !is_made
                    && let Ok(id) = ObjectId::of(&object)
                {
                    listed.insert(id);
                }
            }
        }
    }
    let wanted = mesh.ids();
    let others = facts.inventories.iter().filter(|(other, _)| *other != owner);
    let others: BTreeSet<&ObjectId> = others.flat_map(|(_, inventory)| &inventory.objects).collect();
    let mut superfluous: Vec<ObjectId> = listed
        .into_iter()
        .filter(|id| id.kind != "CustomResourceDefinition" && !wanted.contains(id) && !others.contains(id))
        .collect();
    superfluous.sort_by_key(|id| rank_of_deletion(&id.kind));
    Ok(superfluous)
}

/// Whether an object is still this mesh's. A tag may have been moved, and stays as long as there is a control plane; pods go with what made
/// them.
pub(super) fn may_prune(live: &Value, mesh: &Mesh) -> Result<(), String> {
    let has_control_plane = mesh.parts.iter().any(|part| part.component.name == "Pilot");
    if labels::of(live, labels::NOT_PRUNED) == Some("true") && has_control_plane {
        return Err("it is a tag's".to_owned());
    }
    if live.pointer("/metadata/ownerReferences").is_some() {
        return Err("it goes with what made it".to_owned());
    }
    match labels::of(live, labels::REVISION) {
        Some(found) if found != mesh.revision => Err(format!("it belongs to revision {found}")),
        _ => Ok(()),
    }
}
