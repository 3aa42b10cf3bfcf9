//! `cluster-essentials`: what has to be there before a mesh can be.

use super::{
    Component, Done, Failed, MESH, NAMESPACE, Outcome, Pass,
    mark::{MARK, is_deleted, mark, metadata},
    namespace::leave,
    removal,
    wish::Wish,
};
use crate::istio::{blockers, installation::Wanted, mesh_namespace, priority_class, resources::is_marked};
use mizzen_cluster::ObjectId;
use mizzen_install::deploy::Facts;
use serde_json::{Value, json};
use std::time::Duration;

const DEFINITION: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");
/// For definitions to be served.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn bring(pass: &Pass<'_>, wanted: &Wanted, done: &mut Done) -> Result<(), Failed> {
    let kyma = &pass.order.kyma;
    let home = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata(NAMESPACE, "", kyma) });
    // One that somebody made is marked as the mesh's, and not as made here: it does not go.
    let there = pass.cluster.get(&ObjectId::new("", "Namespace", "", MESH), None).await?;
    let of_mesh = match there {
        Some(live) if !is_marked(&live, MARK) => mesh_namespace::desired(),
        _ => mark(mesh_namespace::desired(), kyma),
    };
    let definitions: Vec<Value> = wanted
        .mesh
        .objects()
        .filter(|object| object.id.kind == DEFINITION.1)
        // The labels by which a definition belongs to a mesh are put on when the mesh comes.
        .map(|object| without_labels(&object.value))
        .map(|object| mark(object, kyma))
        .collect();
    let ids: Vec<ObjectId> = definitions.iter().filter_map(|object| ObjectId::of(object).ok()).collect();
    let mut wishes =
        vec![Wish::Make(home), Wish::Share(of_mesh), Wish::Make(mark(priority_class::desired(), kyma))];
    wishes.extend(definitions.into_iter().map(Wish::Make));
    pass.see_to(wishes, done).await?;
    if !pass.order.dry_run {
        let ready = pass.cluster.until_ready(&ids, PATIENCE, |_| {}).await;
        ready.map_err(|error| Failed::Said(error.to_string()))?;
    }
    Ok(())
}

fn without_labels(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("labels");
    }
    object
}

/// Not while anybody needs any of it.
pub(super) async fn remove(pass: &Pass<'_>, before: &[Outcome], done: &mut Done) -> Result<(), Failed> {
    let cluster = pass.cluster;
    let goes = |id: &ObjectId| is_deleted(before, id);
    let facts = Facts::read(cluster).await?;
    let planes = facts.control_planes.iter().filter_map(|plane| ObjectId::of(plane).ok());
    let planes: Vec<String> = planes.filter(|id| !goes(id)).map(|id| id.to_string()).collect();
    let mut refused = Vec::new();
    if !planes.is_empty() {
        // Ours goes in the same pass, so it is somebody else's.
        let first = if pass.has(Component::Istio) { "that" } else { "istio" };
        refused.push(format!("{} needs it: delete {first} first", planes.join(", ")));
    }
    let mut definitions = cluster.list(DEFINITION.0, DEFINITION.1, &format!("{}={}", MARK.0, MARK.1)).await?;
    definitions.retain(|definition| ObjectId::of(definition).is_ok_and(|id| !goes(&id)));
    if !definitions.is_empty() {
        let blockers = removal::blockers(pass, before).await?;
        if !blockers.is_empty() {
            refused.push(blockers::sentence(&blockers));
        }
    }
    done.refuse(pass, refused)?;
    let mut wishes: Vec<Wish> = definitions.into_iter().map(Wish::Drop).collect();
    wishes.push(Wish::Drop(priority_class::desired()));
    pass.see_to(wishes, done).await?;
    for name in [MESH, NAMESPACE] {
        leave(pass, name, before, done).await?;
    }
    Ok(())
}
