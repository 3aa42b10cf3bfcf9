//! Who has which field of an object, out of `metadata.managedFields`.
//!
//! A server tells a conflict when two managers want different values of one field. We do not fight: a field that somebody
//! else has set differently is left out of what we send, and told. Whom we take fields over from is the caller's word.

use crate::{
    difference::short,
    same::{is_nothing, means_the_same},
};
use serde_json::{Map, Value};
use std::fmt;

/// Somebody who has fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Manager {
    pub name: String,
    /// `scale`, for an autoscaler; empty for the object itself.
    pub subresource: String,
}

impl fmt::Display for Manager {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subresource.as_str() {
            "" => out.write_str(&self.name),
            subresource => write!(out, "{} ({subresource})", self.name),
        }
    }
}

/// A field that is left as somebody else wants it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Left {
    pub path: String,
    pub manager: Manager,
    pub theirs: Value,
    pub ours: Value,
    /// Whether they are meant to have it, as an autoscaler has replicas.
    #[serde(skip)]
    pub meant: bool,
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, manager, theirs, ours, .. } = self;
        write!(out, "{path} stays {} as {manager} has it, not {}", short(theirs), short(ours))
    }
}

/// By which replicas are set, whoever does.
pub(crate) const SCALE: &str = "scale";

#[derive(Clone, Debug, Default)]
pub struct Owners {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    manager: Manager,
    applied: bool,
    fields: Node,
}

/// A tree of fields as `fieldsV1` has it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    /// Whether the place itself is had, not only what is below it.
    itself: bool,
    below: Vec<(Element, Node)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Element {
    Field(String),
    /// The item of a list that has these fields.
    Key(Map<String, Value>),
    /// The item of a list that is this.
    Item(Value),
    Index(usize),
}

impl Owners {
    pub fn of(live: &Value) -> Self {
        let listed = live.pointer("/metadata/managedFields").and_then(Value::as_array);
        let entry = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            Entry {
                manager: Manager { name: text("manager"), subresource: text("subresource") },
                applied: text("operation") == "Apply",
                fields: entry.get("fieldsV1").map(Node::read).unwrap_or_default(),
            }
        };
        Self { entries: listed.into_iter().flatten().map(entry).collect() }
    }

    /// Whether this manager has applied the object before.
    pub fn has_applied(&self, manager: &str) -> bool {
        self.entries.iter().any(|entry| entry.applied && entry.manager.name == manager)
    }

    /// Whether nobody has any field. Whoever applies a name and nothing else leaves no trace.
    pub fn is_nobodys(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether somebody has scaled it: an autoscaler, or a person.
    pub(crate) fn are_scaling(&self) -> bool {
        self.entries.iter().any(|entry| entry.manager.subresource == SCALE)
    }

    /// Those that wrote the object itself, but for this one.
    pub fn others(&self, than: &str) -> impl Iterator<Item = &Manager> {
        let wrote = move |entry: &&Entry| entry.manager.subresource.is_empty() && entry.manager.name != than;
        self.entries.iter().filter(wrote).map(|entry| &entry.manager)
    }

    /// The same in words.
    pub fn others_in_words(&self, than: &str) -> String {
        let others: Vec<String> = self.others(than).map(ToString::to_string).collect();
        if others.is_empty() { "nobody who says so".to_owned() } else { others.join(", ") }
    }

    /// Takes out of `desired` what others have set to something else. `take` says of a manager and a path whether it is ours after all.
    pub fn leave_to_others(
        &self,
        us: &str,
        take: impl Fn(&Manager, &str) -> bool,
        live: &Value,
        desired: &mut Value,
    ) -> Vec<Left> {
        let mut left = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.manager.name != us) {
            let mut walk = Walk { manager: &entry.manager, take: &take, left: &mut left };
            walk.node(&entry.fields, live, desired, "");
        }
        left
    }

    /// Whether this manager has the very same fields there.
    pub(crate) fn have_as_much(&self, us: &str, other: &Self) -> bool {
        let of = |owners: &Self| -> Vec<Node> {
            let ours = owners.entries.iter().filter(|entry| entry.applied && entry.manager.name == us);
            ours.map(|entry| entry.fields.clone()).collect()
        };
        of(self) == of(other)
    }

    /// Takes out of `object` what those had who give it away, as far as it is not wanted and nobody else has it. What a server puts
    /// there by itself is said by `fresh`, a new object of what is wanted.
    pub(crate) fn give_away(
        &self,
        us: &str,
        gives: impl Fn(&Manager) -> bool,
        wanted: &Value,
        fresh: &Value,
        object: &mut Value,
    ) {
        let stays = |entry: &&Entry| entry.manager.name != us && !gives(&entry.manager);
        let others: Vec<&Node> = self.entries.iter().filter(stays).map(|entry| &entry.fields).collect();
        for entry in self.entries.iter().filter(|entry| gives(&entry.manager)) {
            entry.fields.leave(&others, wanted, fresh, object);
        }
    }

    /// Whether we have a field that is not wanted any more: it has to be sent away.
    pub fn has_more_than(&self, us: &str, desired: &Value) -> bool {
        let ours = self.entries.iter().filter(|entry| entry.applied && entry.manager.name == us);
        ours.into_iter().any(|entry| !entry.fields.is_within(desired))
    }
}

impl Node {
    fn read(fields: &Value) -> Self {
        let listed = fields.as_object().into_iter().flatten();
        let below = listed.filter_map(|(key, below)| Some((Element::read(key)?, Self::read(below))));
        Self { itself: fields.get(".").is_some(), below: below.collect() }
    }

    fn at(&self, element: &Element) -> Option<&Self> {
        self.below.iter().find(|(other, _)| other == element).map(|(_, node)| node)
    }

    fn is_within(&self, value: &Value) -> bool {
        self.below.iter().all(|(element, node)| element.of(value).is_some_and(|value| node.is_within(value)))
    }
}

impl Node {
    fn leave(&self, others: &[&Self], wanted: &Value, fresh: &Value, object: &mut Value) {
        for (element, node) in &self.below {
            let others: Vec<&Self> = others.iter().filter_map(|other| other.at(element)).collect();
            let Some(there) = element.of_mut(object) else { continue };
            let (is_wanted, new) = (element.of(wanted), element.of(fresh));
            let is_leaf = node.itself || node.below.is_empty();
            if is_wanted.is_none() && others.is_empty() && is_leaf {
                match new {
                    Some(new) => there.clone_from(new),
                    None => element.remove_from(object),
                }
            } else if !node.below.is_empty() {
                let nothing = Value::Null;
                node.leave(&others, is_wanted.unwrap_or(&nothing), new.unwrap_or(&nothing), there);
                if is_wanted.is_none() && new.is_none() && is_nothing(there) {
                    element.remove_from(object);
                }
            }
        }
    }
}

impl Element {
    /// Nothing for `.`, which is the place itself.
    fn read(key: &str) -> Option<Self> {
        let (kind, rest) = key.split_once(':')?;
        match kind {
            "f" => Some(Self::Field(rest.to_owned())),
            "k" => Some(Self::Key(serde_json::from_str(rest).ok()?)),
            "v" => Some(Self::Item(serde_json::from_str(rest).ok()?)),
            "i" => Some(Self::Index(rest.parse().ok()?)),
            _ => None,
        }
    }

    fn place(&self, list: &[Value]) -> Option<usize> {
        match self {
            Self::Field(_) => None,
            // A key that is a default may not be written.
            Self::Key(key) => list.iter().position(|item| {
                key.iter().all(|(name, value)| item.get(name).is_none_or(|found| found == value))
                    && key.keys().any(|name| item.get(name).is_some())
            }),
            Self::Item(value) => list.iter().position(|item| item == value),
            Self::Index(index) => (*index < list.len()).then_some(*index),
        }
    }

    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => map.get(name),
            (_, Value::Array(list)) => list.get(self.place(list)?),
            _ => None,
        }
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => map.get_mut(name),
            (_, Value::Array(list)) => {
                let place = self.place(list)?;
                list.get_mut(place)
            }
            _ => None,
        }
    }

    fn remove_from(&self, value: &mut Value) {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => {
                map.remove(name);
            }
            (_, Value::Array(list)) => {
                if let Some(place) = self.place(list) {
                    list.remove(place);
                }
            }
            _ => {}
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) if name.contains(['.', '/']) => write!(out, "[{name}]"),
            Self::Field(name) => write!(out, ".{name}"),
            Self::Key(key) => {
                let parts: Vec<String> = key
                    .iter()
                    .map(|(name, value)| {
                        format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                    })
                    .collect();
                write!(out, "[{}]", parts.join(","))
            }
            Self::Item(value) => write!(out, "[{value}]"),
            Self::Index(index) => write!(out, "[{index}]"),
        }
    }
}

struct Walk<'a> {
    manager: &'a Manager,
    take: &'a dyn Fn(&Manager, &str) -> bool,
    left: &'a mut Vec<Left>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, live: &Value, desired: &mut Value, path: &str) {
        for (element, below) in &node.below {
            let path = format!("{path}{element}");
            let Some(ours) = element.of_mut(desired) else { continue };
            // What was set to nothing has an owner, and is not there.
            let theirs = element.of(live).unwrap_or(&Value::Null);
            if !below.below.is_empty() {
                self.node(below, theirs, ours, &path);
            } else if theirs != ours {
                let path = path.trim_start_matches('.').to_owned();
                if (self.take)(self.manager, &path) {
                    continue;
                }
                let (theirs, ours) = (theirs.clone(), ours.clone());
                element.remove_from(desired);
                // Only written differently: the server would call it a conflict, and nobody else does.
                let same = means_the_same(&ours, &theirs) || (is_nothing(&ours) && is_nothing(&theirs));
                if !same {
                    let meant = !self.manager.subresource.is_empty();
                    self.left.push(Left { path, manager: self.manager.clone(), theirs, ours, meant });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn live() -> Value {
        json!({
            "metadata": { "name": "w", "labels": { "istio.io/rev": "default" }, "managedFields": [
                { "manager": "mizzen", "operation": "Apply", "fieldsV1": {
                    "f:metadata": { "f:labels": { "f:istio.io/rev": {} } },
                    "f:webhooks": { "k:{\"name\":\"a\"}": { ".": {}, "f:name": {}, "f:failurePolicy": {} } } } },
                { "manager": "pilot-discovery", "operation": "Update", "fieldsV1": {
                    "f:webhooks": { "k:{\"name\":\"a\"}": { "f:clientConfig": { "f:caBundle": {} }, "f:failurePolicy": {} } } } },
                { "manager": "kube-controller-manager", "operation": "Update", "subresource": "scale",
                  "fieldsV1": { "f:spec": { "f:replicas": {} } } },
            ] },
            "spec": { "replicas": 3 },
            "webhooks": [{ "name": "a", "failurePolicy": "Fail", "clientConfig": { "caBundle": "xyz" } }],
        })
    }

    fn desired() -> Value {
        json!({
            "metadata": { "name": "w", "labels": { "istio.io/rev": "default" } },
            "spec": { "replicas": 1 },
            "webhooks": [{ "name": "a", "failurePolicy": "Ignore", "clientConfig": { "caBundle": "", "url": "u" } }],
        })
    }

    #[test]
    fn what_others_have_set_to_something_else_is_not_sent_and_told() {
        let (live, mut desired) = (live(), desired());
        let left = Owners::of(&live).leave_to_others("mizzen", |_, _| false, &live, &mut desired);
        let told: Vec<String> =
            left.iter().map(|left| format!("{} by {}", left.path, left.manager)).collect();
        assert_eq!(
            told,
            [
                "webhooks[name=a].clientConfig.caBundle by pilot-discovery",
                "webhooks[name=a].failurePolicy by pilot-discovery",
                "spec.replicas by kube-controller-manager (scale)",
            ]
        );
        assert_eq!(desired["webhooks"], json!([{ "name": "a", "clientConfig": { "url": "u" } }]));
        assert_eq!(desired["spec"], json!({}));
    }

    #[test]
    fn what_others_have_only_written_differently_is_neither_sent_nor_told() {
        let live = json!({ "metadata": { "managedFields": [{ "manager": "istio-operator", "operation": "Apply",
            "fieldsV1": { "f:cpu": {}, "f:ref": {}, "f:empty": {}, "f:other": {} } }] },
            "cpu": "2", "ref": { "path": "a", "version": "v1" } });
        let mut desired = json!({ "cpu": "2000m", "ref": { "path": "a" }, "empty": "", "other": "x" });
        let left = Owners::of(&live).leave_to_others("mizzen", |_, _| false, &live, &mut desired);
        assert_eq!(desired, json!({}));
        assert_eq!(left.iter().map(|left| left.path.as_str()).collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn what_others_want_as_we_do_is_sent() {
        let (live, mut desired) = (live(), desired());
        desired["spec"]["replicas"] = 3.into();
        let left = Owners::of(&live).leave_to_others("mizzen", |_, _| false, &live, &mut desired);
        assert!(left.iter().all(|left| left.path != "spec.replicas"));
        assert_eq!(desired["spec"]["replicas"], 3);
    }

    #[test]
    fn fields_are_taken_over_from_those_whom_the_caller_names() {
        let (live, mut wanted) = (live(), desired());
        let take = |manager: &Manager, _: &str| manager.name == "pilot-discovery";
        let left = Owners::of(&live).leave_to_others("mizzen", take, &live, &mut wanted);
        assert_eq!(left.len(), 1);
        assert_eq!(wanted["webhooks"], desired()["webhooks"]);
    }

    #[test]
    fn a_field_of_ours_that_is_not_wanted_any_more_is_noticed() {
        let owners = Owners::of(&live());
        assert!(owners.has_applied("mizzen") && !owners.has_applied("helm"));
        assert!(!owners.has_more_than("mizzen", &desired()));
        let mut less = desired();
        less["metadata"]["labels"] = json!({});
        assert!(owners.has_more_than("mizzen", &less));
        let mut fewer = desired();
        fewer["webhooks"] = json!([{ "name": "b", "failurePolicy": "Fail" }]);
        assert!(owners.has_more_than("mizzen", &fewer));
        let others: Vec<String> = owners.others("mizzen").map(ToString::to_string).collect();
        assert_eq!(others, ["pilot-discovery"]);
    }

    #[test]
    fn what_is_given_away_and_not_wanted_goes_but_for_what_others_have_and_what_the_server_puts_there() {
        let live = json!({
            "metadata": { "labels": { "a": "1", "b": "2" }, "managedFields": [
                { "manager": "kubectl-create", "operation": "Update", "fieldsV1": {
                    "f:metadata": { "f:labels": { ".": {}, "f:a": {}, "f:b": {} } },
                    "f:data": { ".": {}, "f:x": {}, "f:y": {}, "f:z": {} },
                    "f:spec": { "f:affinity": {}, "f:only": { "f:this": {} },
                        "f:ports": { ".": {}, "k:{\"port\":80}": { ".": {}, "f:port": {} }, "k:{\"port\":90}": { ".": {}, "f:port": {} } } } } },
                { "manager": "someone", "operation": "Update", "fieldsV1": { "f:metadata": { "f:labels": { "f:b": {} } } } },
            ] },
            "data": { "x": "1", "y": "2", "z": "3" },
            "spec": { "affinity": "None", "only": { "this": 1 }, "ports": [{ "port": 80 }, { "port": 90 }] },
        });
        let wanted = json!({ "data": { "x": "1" }, "spec": { "ports": [{ "port": 90 }] } });
        let fresh =
            json!({ "data": { "x": "1" }, "spec": { "affinity": "None", "ports": [{ "port": 90 }] } });
        let mut object = live.clone();
        let gives = |manager: &Manager| manager.name == "kubectl-create";
        Owners::of(&live).give_away("mizzen", gives, &wanted, &fresh, &mut object);
        assert_eq!(object["metadata"]["labels"], json!({ "b": "2" }));
        assert_eq!(object["data"], json!({ "x": "1" }));
        assert_eq!(object["spec"], json!({ "affinity": "None", "ports": [{ "port": 90 }] }));
    }

    #[test]
    fn an_object_that_nobody_says_anything_of_is_nobodys() {
        let owners = Owners::of(&json!({ "metadata": {} }));
        assert!(!owners.has_applied("mizzen") && owners.others("mizzen").next().is_none());
    }
}
