//! Which object must be there before which: precise edges between objects of one Spec, never "everything before
//! everything". Deletion goes the other way, so that a route is gone before the subset that it uses.

use crate::{index::Index, links, made::Made};
use std::collections::BTreeMap;

/// For each object the ids of those that it needs, sorted.
pub(crate) fn edges(made: &[Made], index: &Index<'_>) -> Vec<Vec<String>> {
    let definitions = definitions(made);
    let needs = |one: &Made| {
        let namespace = one.namespace().and_then(|name| index.object("", "Namespace", "", name));
        let definition = definitions.get(&(links::group(&one.object), one.kind())).copied();
        let behind = links::of(&one.object).into_iter().flat_map(|link| index.behind(&link.to));
        let own = one.id();
        let mut needs: Vec<String> = namespace
            .into_iter()
            .chain(definition)
            .chain(behind)
            .map(Made::id)
            .filter(|id| *id != own)
            .collect();
        needs.sort();
        needs.dedup();
        needs
    };
    made.iter().map(needs).collect()
}

/// Definitions of kinds, by the group and the kind that they define.
fn definitions(made: &[Made]) -> BTreeMap<(&str, &str), &Made> {
    let all = made.iter().filter(|one| one.kind() == "CustomResourceDefinition");
    let named = all.filter_map(|one| {
        let spec = &one.object["spec"];
        Some(((spec["group"].as_str()?, spec["names"]["kind"].as_str()?), one))
    });
    named.collect()
}
