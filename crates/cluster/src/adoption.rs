//! Taking an object over from another manager: whose fields become ours, and how the server is told.
//!
//! Applying with force alone would leave the other one an owner for ever: fields that we stop wanting would stay, because they want
//! them still. So their entries of `managedFields` become one of ours first; then applying removes what is not wanted.

use crate::{object::ObjectId, owners::Manager, reclaim::Reclaim};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Whom fields are taken over from.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// Managers by name, such as `istio-operator` or `helm`.
    pub from: Vec<String>,
    /// And what is taken back from everybody.
    pub reclaim: Reclaim,
    /// Objects that the caller has recorded as its own. One of which nobody has a field is believed to be: an object that is
    /// only a name carries no trace of who applied it.
    pub recorded: BTreeSet<ObjectId>,
}

impl Adoption {
    pub(crate) fn takes(&self, manager: &Manager) -> bool {
        manager.subresource.is_empty() && self.from.contains(&manager.name)
    }
}

/// The entries that change hands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Takeover {
    pub(crate) from: Vec<Manager>,
    /// The whole list, as it is to be.
    pub(crate) entries: Vec<Value>,
    /// The one that applied it, if it was one alone and we had nothing yet.
    applied_by: Option<String>,
}

impl Takeover {
    /// Nothing if nobody has to give anything.
    pub(crate) fn of(live: &Value, us: &str, adoption: &Adoption) -> Option<Self> {
        let listed = live.pointer("/metadata/managedFields").and_then(Value::as_array)?;
        let manager = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            Manager { name: text("manager"), subresource: text("subresource") }
        };
        let is_ours = |entry: &Value| {
            let manager = manager(entry);
            manager.name == us && manager.subresource.is_empty() && entry["operation"] == "Apply"
        };
        let (taken, mut entries): (Vec<&Value>, Vec<&Value>) =
            listed.iter().partition(|entry| adoption.takes(&manager(entry)));
        let first = *taken.first()?;
        let had_none = !entries.iter().any(|entry| is_ours(entry));
        let alone = taken.len() == 1 && first["operation"] == "Apply" && had_none;
        let applied_by = alone.then(|| manager(first).name);
        let mut fields = Map::new();
        for entry in taken.iter().copied().chain(entries.iter().copied().filter(|entry| is_ours(entry))) {
            if let Some(Value::Object(own)) = entry.get("fieldsV1") {
                unite(&mut fields, own);
            }
        }
        entries.retain(|entry| !is_ours(entry));
        let mut entries: Vec<Value> = entries.into_iter().cloned().collect();
        entries.push(json!({
            "manager": us, "operation": "Apply", "apiVersion": first["apiVersion"],
            "fieldsType": "FieldsV1", "fieldsV1": fields, "time": first["time"],
        }));
        let mut from: Vec<Manager> = taken.into_iter().map(manager).collect();
        from.dedup();
        Some(Self { from, entries, applied_by })
    }

    /// In whose name a dry run shows what will come of it.
    pub(crate) fn stand_in<'a>(&'a self, us: &'a str) -> &'a str {
        self.applied_by.as_deref().unwrap_or(us)
    }

    /// What makes the fields ours, if the object is still the one that was looked at.
    pub(crate) fn patch(&self, version: &Value) -> Value {
        json!({ "metadata": { "resourceVersion": version, "managedFields": self.entries } })
    }
}

/// All fields that one or the other has.
fn unite(all: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (key, below) in more {
        match (all.get_mut(key), below) {
            (Some(Value::Object(all)), Value::Object(below)) => unite(all, below),
            (Some(_), _) => {}
            (None, _) => {
                all.insert(key.clone(), below.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({ "manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields, "time": "t" })
    }

    #[test]
    fn the_fields_of_those_who_give_become_ours_and_others_keep_theirs() {
        let live = json!({ "metadata": { "managedFields": [
            entry("istio-operator", "Apply", &json!({ "f:a": { "f:x": {} } })),
            entry("istioctl", "Update", &json!({ "f:a": { "f:y": {} }, "f:b": {} })),
            entry("pilot-discovery", "Update", &json!({ "f:c": {} })),
        ] } });
        let adoption =
            Adoption { from: vec!["istio-operator".into(), "istioctl".into()], ..Adoption::default() };
        let takeover = Takeover::of(&live, "mizzen", &adoption).unwrap();
        let names: Vec<&str> =
            takeover.entries.iter().filter_map(|entry| entry["manager"].as_str()).collect();
        assert_eq!(names, ["pilot-discovery", "mizzen"]);
        assert_eq!(takeover.entries[1]["fieldsV1"], json!({ "f:a": { "f:x": {}, "f:y": {} }, "f:b": {} }));
        assert_eq!(takeover.entries[1]["operation"], "Apply");
        assert_eq!(takeover.stand_in("mizzen"), "mizzen", "two cannot be stood in for");
    }

    #[test]
    fn one_who_applied_it_alone_is_stood_in_for() {
        let live = json!({ "metadata": { "managedFields": [entry("istio-operator", "Apply", &json!({}))] } });
        let adoption = Adoption { from: vec!["istio-operator".into()], ..Adoption::default() };
        let takeover = Takeover::of(&live, "mizzen", &adoption).unwrap();
        assert_eq!(takeover.stand_in("mizzen"), "istio-operator");
        assert_eq!(Takeover::of(&live, "mizzen", &Adoption::default()), None);
    }
}
