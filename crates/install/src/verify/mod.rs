//! Whether what should be installed is there and works.
//!
//! In: the objects that a mesh is made of. Out: for each whether the cluster has it and whether it is ready. The cluster is asked
//! in `ask`; what an answer means is decided here.

mod ask;

use std::fmt;

use mizzen_cluster::{
    ObjectId,
    wait::{Ready, readiness},
};
use serde_json::Value;

/// What was found of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Fine,
    Missing,
    /// With the reason in words.
    NotReady(String),
    /// It could not be asked for.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub id: ObjectId,
    pub state: State,
}

/// In the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub checked: Vec<Checked>,
}

impl State {
    fn of(live: Option<&Value>) -> Self {
        match live.map(readiness) {
            None => Self::Missing,
            Some(Ready::Yes) => Self::Fine,
            Some(Ready::NotYet(reason)) => Self::NotReady(reason),
        }
    }
}

impl Checked {
    pub fn is_fine(&self) -> bool {
        self.state == State::Fine
    }
}

/// `Deployment: istiod.istio-system checked successfully`, as istioctl had it.
impl fmt::Display for Checked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectId { kind, namespace, name, .. } = &self.id;
        write!(out, "{kind}: {name}")?;
        if !namespace.is_empty() {
            write!(out, ".{namespace}")?;
        }
        match &self.state {
            State::Fine => out.write_str(" checked successfully"),
            State::Missing => out.write_str(": it is not there"),
            State::NotReady(reason) => write!(out, ": it is not ready: {reason}"),
            State::Unknown(reason) => write!(out, ": it could not be asked for: {reason}"),
        }
    }
}

impl Report {
    pub fn wrong(&self) -> impl Iterator<Item = &Checked> {
        self.checked.iter().filter(|checked| !checked.is_fine())
    }

    /// How many of a kind were looked at.
    pub fn count(&self, kind: &str) -> usize {
        self.checked.iter().filter(|checked| checked.id.kind == kind).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_fine_missing_or_not_ready_and_says_so() {
        let deployment = |ready: u32| {
            json!({ "kind": "Deployment", "spec": { "replicas": 1 },
                "status": { "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready } })
        };
        let cases = [
            (Some(deployment(1)), "Deployment: istiod.istio-system checked successfully"),
            (
                Some(deployment(0)),
                "Deployment: istiod.istio-system: it is not ready: 0 of 1 replicas are ready",
            ),
            (None, "Deployment: istiod.istio-system: it is not there"),
        ];
        let id = ObjectId::new("apps", "Deployment", "istio-system", "istiod");
        let mut report = Report::default();
        for (live, wanted) in cases {
            let checked = Checked { id: id.clone(), state: State::of(live.as_ref()) };
            assert_eq!(checked.to_string(), wanted);
            report.checked.push(checked);
        }
        assert_eq!(
            (report.count("Deployment"), report.count("DaemonSet"), report.wrong().count()),
            (3, 0, 2)
        );
    }
}
