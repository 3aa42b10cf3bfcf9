//! What became of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    #[default]
    Processing,
    Deleting,
    Ready,
    Error,
    Warning,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    pub state: State,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The generation of the spec that all of this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Of the mesh that was installed last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub installed_version: String,
    /// Whose control plane that is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub installed_program: String,
    /// The minor version that follows that one, when all who have a turn to be restarted have had it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next_version: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated_proxies: Option<OutdatedProxies>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at_start: Option<ReadAtStart>,
    /// The spec that all was done of last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied: Option<Value>,
}

impl Status {
    /// As a resource has it; whoever wrote something else there is written over.
    pub fn of(resource: &Value) -> Self {
        resource.get("status").and_then(|status| Self::deserialize(status).ok()).unwrap_or_default()
    }

    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }
}

/// Kubernetes' own shape of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`
    pub status: String,
    pub reason: String,
    pub message: String,
    /// When the status became what it is.
    pub last_transition_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Component {
    pub name: String,
    pub phase: Phase,
    /// What it waits for, or why it failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    #[default]
    Pending,
    Waiting,
    Ready,
    Failed,
}

/// Workloads whose proxies are not what they should be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutdatedProxies {
    pub count: u64,
    /// Some of them, `namespace/name`.
    pub workloads: Vec<String>,
    /// How many of them wait, by what for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting: BTreeMap<String, u64>,
}

/// What a proxy reads only when it starts, as the mesh says it: whoever is older than that has read something else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReadAtStart {
    #[serde(rename = "enableDNSProxying", skip_serializing_if = "Option::is_none")]
    pub enable_dns_proxying: Option<bool>,
    /// Of the proxies' statistics; sorted.
    pub inclusion_regexps: Vec<String>,
    /// By the server's clock. Nothing where nobody is known to have read anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Something else is about to be written, in the place of what was written at this time: whatever becomes of it, some may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touched: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_is_read_as_it_was_written_and_nonsense_is_none() {
        let status = Status {
            state: State::Warning,
            description: "d".into(),
            conditions: vec![Condition {
                kind: "Ready".into(),
                status: "False".into(),
                ..Condition::default()
            }],
            observed_generation: Some(3),
            components: vec![Component { name: "Pilot".into(), phase: Phase::Ready, reason: String::new() }],
            ..Status::default()
        };
        let written = serde_json::to_value(&status).unwrap();
        assert_eq!(written["state"], "Warning");
        assert_eq!(Status::of(&json!({ "status": written })), status);
        assert_eq!(Status::of(&json!({ "status": { "state": "Happy" } })), Status::default());
        assert_eq!(Status::of(&json!({})), Status::default());
    }
}
