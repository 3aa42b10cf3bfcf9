//! A resource goes, and before it what it owns. What revisions share stays, as after `uninstall`.

use crate::{
    decide::revision,
    pass::{Report, Stopped, Worker},
    proxies,
    status::Word,
};
use mizzen_install::deploy::{self, Facts, Which};
use serde_json::Value;

/// How lists call the revision without a name.
const DEFAULT: &str = "default";

pub(crate) async fn remove(
    worker: &Worker<'_>,
    resource: &Value,
    report: &mut Report,
) -> Result<(), Stopped> {
    let cluster = &worker.cluster;
    let facts = Facts::read(cluster).await?;
    let mut revisions = former(&facts, resource);
    revisions.push(list_revision(resource).to_owned());
    if let Some(sentence) = in_use(worker, &revisions).await? {
        report.write(&report.before().whole(Word::ActionRequired, sentence.as_str())).await?;
        return Err(Stopped::Blocked(sentence));
    }
    report.write(&report.before().whole(Word::Reconciling, "it is being removed")).await?;
    let held = take_away(worker, resource, &revisions).await?;
    if held.is_empty() {
        return Ok(());
    }
    let sentence = format!("it cannot be removed: {}", held.join("; "));
    report.write(&report.before().whole(Word::Error, sentence.as_str())).await?;
    Err(Stopped::Told(sentence))
}

/// As lists are named.
fn list_revision(resource: &Value) -> &str {
    match revision(resource) {
        "" => DEFAULT,
        revision => revision,
    }
}

/// Revisions that the resource had before, and whose objects are still listed.
pub(crate) fn former(facts: &Facts, resource: &Value) -> Vec<String> {
    let text = |key: &str| resource["metadata"][key].as_str().unwrap_or_default();
    let lists = facts.inventories.iter().map(|(owner, _)| owner);
    let lists = lists.chain(facts.unreadable.iter().map(|(owner, _)| owner));
    let ours = lists.filter(|owner| owner.namespace == text("namespace"));
    let named = ours.filter_map(|owner| owner.name.split_once('.'));
    let former =
        named.filter(|(revision, name)| *name == text("name") && *revision != list_revision(resource));
    former.map(|(revision, _)| revision.to_owned()).collect()
}

/// What somebody has to do before these revisions can go. Pods that name no revision are not asked for the one without a name.
pub(crate) async fn in_use(worker: &Worker<'_>, revisions: &[String]) -> Result<Option<String>, Stopped> {
    for revision in revisions.iter().filter(|revision| *revision != DEFAULT) {
        let attached = proxies::attached(&worker.cluster, revision).await?;
        if !attached.is_empty() {
            return Ok(Some(proxies::sentence(revision, &attached)));
        }
    }
    Ok(None)
}

/// What the resource has in these revisions; a sentence for each object that stays.
pub(crate) async fn take_away(
    worker: &Worker<'_>,
    resource: &Value,
    revisions: &[String],
) -> Result<Vec<String>, Stopped> {
    let cluster = &worker.cluster;
    let text = |key: &str| resource["metadata"][key].as_str().map(str::to_owned);
    let mut held = Vec::new();
    for revision in revisions {
        let which =
            Which::Revision { revision: revision.clone(), name: text("name"), namespace: text("namespace") };
        let facts = Facts::read(cluster).await?;
        let removal = deploy::plan_removal(cluster, &facts, &which).await?;
        let removed = deploy::remove(cluster, removal, &|_| {}).await?;
        let stays = removed.failed.into_iter().chain(removed.going);
        held.extend(stays.map(|(id, why)| format!("{id}: {why}")));
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_cluster::{Inventory, Owner};
    use serde_json::json;

    #[test]
    fn revisions_that_a_resource_had_are_known_by_its_lists() {
        let list = |namespace: &str, name: &str| {
            (Owner { namespace: namespace.to_owned(), name: name.to_owned() }, Inventory::default())
        };
        let facts = Facts {
            inventories: vec![
                list("n", "blue.mesh"),
                list("n", "green.mesh"),
                list("n", "blue.other"),
                list("m", "red.mesh"),
                list("n", "default"),
            ],
            ..Facts::default()
        };
        let resource =
            json!({ "metadata": { "name": "mesh", "namespace": "n" }, "spec": { "revision": "green" } });
        assert_eq!(former(&facts, &resource), ["blue"]);
    }
}
