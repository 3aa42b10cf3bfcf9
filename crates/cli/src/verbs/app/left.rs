//! Fields that are not as the Spec says because somebody else has set them: each by its own path and whole, and a release that leaves
//! any of them ends with exit code 1.
//!
//! Whoever edits one item of a list that the server takes for one value has the whole list from then on. What the two want differently
//! is told item by item, so that nobody has to compare the lists.

use super::show::is_secret;
use crate::{exit::Exit, failure::Hint};
use anyhow::{Result, anyhow};
use mizzen_cluster::{Left, ObjectId, Step, difference};
use serde_json::json;

/// A line for each field that differs.
pub(super) fn lines(id: &ObjectId, left: &Left) -> Vec<String> {
    let Left { path, manager, theirs, ours, .. } = left;
    if is_secret(id, path) {
        return vec![format!("{path} stays as {manager} has it")];
    }
    let changes = difference(&json!({ "field": theirs }), &json!({ "field": ours }));
    let mut lines = Vec::new();
    for change in &changes {
        let below = change.path.strip_prefix("field").unwrap_or_default();
        lines.push(match (&change.before, &change.after) {
            (Some(theirs), Some(ours)) => {
                format!("{path}{below} stays {theirs} as {manager} has it, not {ours}")
            }
            (Some(theirs), None) => {
                format!("{path}{below} stays {theirs} as {manager} has it; the Spec has none")
            }
            (None, Some(ours)) => {
                format!("{path}{below} stays away as {manager} has it; the Spec says {ours}")
            }
            (None, None) => continue,
        });
    }
    if (theirs.is_array() || theirs.is_object()) && !lines.is_empty() {
        lines.push(format!("{path} is {manager}'s as a whole: nothing of it is set"));
    }
    lines
}

/// With their objects, but for what somebody is meant to have, such as the replicas that an autoscaler sets.
pub(super) fn of<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<String> {
    let mut all = Vec::new();
    for step in steps {
        let left = step.left.iter().filter(|left| !left.meant);
        for line in left.flat_map(|left| lines(&step.id, left)) {
            all.push(format!("{}: {line}", step.id));
        }
    }
    all
}

pub(super) fn ended(held_by_others: &[String]) -> Result<Exit> {
    if held_by_others.is_empty() {
        return Ok(Exit::Done);
    }
    let error = anyhow!("these fields are not as the Spec says:\n{}", held_by_others.join("\n"));
    Err(error.hint("write them into app.yaml as they are, or --force-conflicts sets them as the Spec says"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_cluster::Manager;
    use serde_json::Value;

    fn left(path: &str, theirs: Value, ours: Value) -> Left {
        let manager = Manager { name: "kubectl-edit".into(), subresource: String::new() };
        Left { path: path.into(), manager, theirs, ours, meant: false }
    }

    fn id(kind: &str) -> ObjectId {
        ObjectId::new("", kind, "shop", "a")
    }

    #[test]
    fn a_list_that_is_somebody_elses_is_told_item_by_item_and_whole() {
        let long = "x".repeat(300);
        let theirs = json!([{ "name": "a", "timeout": "9s" }, { "name": "b" }]);
        let ours = json!([{ "name": "a", "timeout": "3s" }, { "name": "b", "prefix": long }]);
        assert_eq!(
            lines(&id("VirtualService"), &left("spec.http", theirs, ours)),
            [
                "spec.http[name=a].timeout stays \"9s\" as kubectl-edit has it, not \"3s\"".to_owned(),
                format!("spec.http[name=b].prefix stays away as kubectl-edit has it; the Spec says {long:?}"),
                "spec.http is kubectl-edit's as a whole: nothing of it is set".to_owned(),
            ]
        );
        let one = lines(&id("A"), &left("spec.host", json!("other"), json!("shop")));
        assert_eq!(one, ["spec.host stays \"other\" as kubectl-edit has it, not \"shop\""]);
        let hidden = lines(&id("Secret"), &left("data.key", json!("their"), json!("our")));
        assert_eq!(hidden, ["data.key stays as kubectl-edit has it"]);
    }

    #[test]
    fn what_an_autoscaler_is_meant_to_have_is_no_problem() {
        let mut scaled = left("spec.replicas", json!(3), json!(1));
        (scaled.manager.subresource, scaled.meant) = ("scale".into(), true);
        let step =
            |left| Step { id: id("Deployment"), action: mizzen_cluster::Action::Unchanged, left: vec![left] };
        assert!(of(&[step(scaled.clone())]).is_empty());
        scaled.meant = false;
        let told = of(&[step(scaled)]);
        assert_eq!(told, ["Deployment shop/a: spec.replicas stays 3 as kubectl-edit (scale) has it, not 1"]);
        assert!(ended(&told).is_err() && ended(&[]).is_ok());
    }
}
