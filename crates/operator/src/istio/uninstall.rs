//! A resource goes, and its mesh before it; unless people would lose something.

use super::{
    MESH, MODULE, NAMESPACE, OPERATOR, blockers,
    event::{self, Reason},
    inhabitant::{Unseen, inhabitant},
    mesh_namespace, monitoring, network_policies, peer_authentication, proxy_protocol, reason,
    reconciler::IstioReconciler,
    resources::{drop_own, is_marked},
    sidecars::{self, Owner},
    telling::Telling,
    vertical_autoscalers,
};
use crate::pass::Stopped;
use mizzen_api::istio::State;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use mizzen_install::deploy::{self, Facts, Which};
use serde_json::Value;

const REVISION: &str = "default";

pub(super) async fn uninstall(
    me: &IstioReconciler<'_>,
    resource: &Value,
    telling: &mut Telling,
) -> Result<(), Stopped> {
    let cluster = &me.cluster;
    let blockers = blockers::blockers(cluster).await?;
    if !blockers.is_empty() {
        for blocker in &blockers {
            tracing::warn!(%blocker, "blocks the deletion of Istio");
        }
        let description = blockers::sentence(&blockers);
        telling.fails(State::Warning, &reason::DANGLING, &description).await?;
        return Err(Stopped::Blocked(description));
    }
    telling.set(&reason::UNKNOWN);
    telling.state(State::Deleting, "Deleting Istio").await?;
    let mut beside = network_policies::desired(0, me.version);
    beside.extend(vertical_autoscalers::of_mesh(me.version));
    beside.push(vertical_autoscalers::of_operator(me.version));
    beside.extend([peer_authentication::desired(me.version), proxy_protocol::desired(me.version)]);
    beside.extend(monitoring::all(me.version));
    for object in beside {
        if let Err(error) = drop_own(cluster, &object).await {
            return failed(telling, error.to_string()).await;
        }
    }
    let facts = Facts::read(cluster).await?;
    let alone = is_alone(&facts);
    let removal = deploy::plan_removal(cluster, &facts, &which(&facts)).await?;
    let removed = deploy::remove(cluster, removal, &|event| tracing::debug!(?event)).await?;
    let held = removed.failed.iter().chain(&removed.going);
    let held: Vec<String> = held.map(|(id, why)| format!("{id}: {why}")).collect();
    if !held.is_empty() {
        return failed(telling, held.join("; ")).await;
    }
    let itself = itself(resource);
    if alone {
        leave_namespace(cluster, &itself).await?;
    }
    // Whoever cannot be restarted keeps a sidecar that nobody configures: nothing is held up by that.
    let cause = format!("Istio was removed with {}", itself.uid);
    let restarted = Box::pin(sidecars::restart_all(cluster, &cause, &me.restarts)).await?;
    if !restarted.by_hand.is_empty() {
        tracing::warn!("{}", restarted.sentence());
    }
    telling.set(&reason::UNINSTALLED);
    telling.state(State::Deleting, "Deleting Istio").await?;
    Ok(())
}

fn itself(resource: &Value) -> Owner {
    let text = |at: &str| resource.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    Owner {
        version: text("/apiVersion"),
        kind: text("/kind"),
        name: text("/metadata/name"),
        uid: text("/metadata/uid"),
    }
}

/// It goes, unless something is in it that somebody would miss, which is told. It takes a while, and nothing here waits for it.
async fn leave_namespace(cluster: &Cluster, itself: &Owner) -> Result<(), Refused> {
    let namespace = ObjectId::new("", "Namespace", "", MESH);
    let goes = |_: &ObjectId, object: &Value| is_marked(object, (MODULE, "istio"));
    // Of kinds that the operator may not look at it knows nothing, as upstream's: they go with the namespace.
    if let Some(why) = inhabitant(cluster, MESH, Unseen::Ignored, goes).await? {
        let note = format!("the mesh is gone, and the namespace {MESH} stays: {why}");
        tracing::warn!("{note}");
        event::tell(cluster, NAMESPACE, itself, Reason::NamespaceKept, &note, &itself.uid).await;
        if let Some(live) = cluster.get(&namespace, None).await? {
            cluster.patch(&namespace, mesh_namespace::unmarked(&live)).await?;
        }
        return Ok(());
    }
    cluster.delete(&namespace, None).await?;
    Ok(())
}

/// All that meshes share goes with the last of them.
pub(super) fn which(facts: &Facts) -> Which {
    if is_alone(facts) {
        return Which::Everything;
    }
    Which::Revision {
        revision: REVISION.to_owned(),
        name: Some(OPERATOR.to_owned()),
        namespace: Some(NAMESPACE.to_owned()),
    }
}

/// Whether no other mesh is there, which would lose its definitions and its namespace.
pub(super) fn is_alone(facts: &Facts) -> bool {
    let is_ours = |plane: &Value| {
        plane["metadata"]["namespace"] == MESH && plane["metadata"]["labels"]["istio.io/rev"] == REVISION
    };
    let lists = facts
        .inventories
        .iter()
        .map(|(owner, _)| owner)
        .chain(facts.unreadable.iter().map(|(owner, _)| owner));
    let own = format!("{REVISION}.{OPERATOR}");
    let only_ours = lists.into_iter().all(|owner| owner.namespace == NAMESPACE && owner.name == own);
    facts.control_planes.iter().all(is_ours) && only_ours
}

async fn failed(telling: &mut Telling, why: String) -> Result<(), Stopped> {
    let description = format!("Could not uninstall Istio: {why}");
    telling.fails(State::Error, &reason::INSTALL_FAILED, &description).await?;
    Err(Stopped::Told(description))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_cluster::{Inventory, Owner};
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn what_all_meshes_share_goes_only_with_the_last() {
        let plane = |namespace: &str, revision: &str| json!({ "metadata": { "namespace": namespace, "labels": { "istio.io/rev": revision } } });
        let list = |namespace: &str, name: &str| {
            (
                Owner { namespace: namespace.into(), name: name.into() },
                Inventory::complete(BTreeSet::new(), ""),
            )
        };
        let mut facts = Facts::default();
        assert!(is_alone(&facts), "nothing is there at all");
        facts.control_planes.push(plane("istio-system", "default"));
        facts.inventories.push(list("kyma-system", "default.default-operator"));
        assert!(is_alone(&facts));
        facts.control_planes.push(plane("istio-system", "canary"));
        assert!(!is_alone(&facts));
        facts.control_planes.pop();
        facts.inventories.push(list("istio-system", "canary.other"));
        assert!(!is_alone(&facts));
    }
}
