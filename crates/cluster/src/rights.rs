//! Whether one may do what is planned, asked before anything is written.

use crate::{
    cluster::{Cluster, Refused},
    object::ObjectId,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What is needed: verbs, by the kind and the namespace of the objects that they are for.
#[derive(Clone, Debug, Default)]
pub struct Rights(BTreeSet<(String, String, String, &'static str)>);

impl Rights {
    pub fn need(&mut self, id: &ObjectId, verbs: &[&'static str]) {
        for verb in verbs {
            self.0.insert((id.group.clone(), id.kind.clone(), id.namespace.clone(), verb));
        }
    }
}

impl Cluster {
    /// A sentence for each right that is missing.
    pub async fn missing_rights(&self, needed: &Rights) -> Result<Vec<String>, Refused> {
        let everything = json!({ "verb": "*", "group": "*", "resource": "*" });
        if needed.0.is_empty() || self.allows(&everything).await? {
            return Ok(Vec::new());
        }
        let served = self.served();
        let mut missing = Vec::new();
        for (group, kind, namespace, verb) in &needed.0 {
            let Some(found) = served.find(group, kind, None) else { continue };
            let question =
                json!({ "verb": verb, "group": group, "resource": found.plural, "namespace": namespace });
            if !self.allows(&question).await? {
                let place =
                    if namespace.is_empty() { String::new() } else { format!(" in namespace {namespace}") };
                missing.push(format!("{verb} {kind}{place}"));
            }
        }
        Ok(missing)
    }

    async fn allows(&self, attributes: &Value) -> Result<bool, Refused> {
        let question = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": attributes },
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let answer = self.ask("asking for rights", path, question).await?;
        Ok(answer.is_some_and(|answer| answer.pointer("/status/allowed") == Some(&Value::Bool(true))))
    }
}
