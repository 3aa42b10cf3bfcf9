//! A resource goes, and before it what it owns. What revisions share stays, as after `uninstall`.

use crate::{
    decide::revision,
    pass::{Report, Stopped, Worker},
    proxies,
    status::Word,
};
use mizzen_install::deploy::{self, Facts, Which};
use serde_json::Value;

pub(crate) async fn remove(
    worker: &Worker<'_>,
    resource: &Value,
    report: &mut Report,
) -> Result<(), Stopped> {
    let cluster = &worker.cluster;
    let revision = revision(resource);
    if !revision.is_empty() {
        let attached = proxies::attached(cluster, revision).await?;
        if !attached.is_empty() {
            let sentence = proxies::sentence(revision, &attached);
            report.write(&report.before().whole(Word::ActionRequired, sentence.as_str())).await?;
            return Err(Stopped::Blocked(sentence));
        }
    }
    report.write(&report.before().whole(Word::Reconciling, "it is being removed")).await?;
    let text = |key: &str| resource["metadata"][key].as_str().map(str::to_owned);
    let which = Which::Revision {
        revision: if revision.is_empty() { "default" } else { revision }.to_owned(),
        name: text("name"),
        namespace: text("namespace"),
    };
    let facts = Facts::read(cluster).await?;
    let removal = deploy::plan_removal(cluster, &facts, &which).await?;
    let removed = deploy::remove(cluster, removal, &|_| {}).await?;
    let held = removed.failed.iter().chain(&removed.going);
    let held: Vec<String> = held.map(|(id, why)| format!("{id}: {why}")).collect();
    if held.is_empty() {
        return Ok(());
    }
    let sentence = format!("it cannot be removed: {}", held.join("; "));
    report.write(&report.before().whole(Word::Error, sentence.as_str())).await?;
    Err(Stopped::Told(sentence))
}
