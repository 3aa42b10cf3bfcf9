//! A document → an object that counts, or why it does not. Whatever source it came from, no object of Istio's kinds gets
//! past Istio's own rules.

use mizzen_api::{Identity, Kind, Object};
use mizzen_check::{Finding, Findings, schema};
use mizzen_mesh::{Event, Key, KeyKind, NotRead};
use mizzen_text::Path;
use serde_json::Value;
use std::sync::Arc;

/// How much the document has been looked at before it came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// An API server checked it against the CRD.
    Server,
    /// Nobody did.
    File,
}

/// Why a document does not count.
#[derive(Debug)]
pub(crate) struct Refused {
    /// If it says which object it is.
    pub(crate) key: Option<Key>,
    pub(crate) reason: String,
    /// The field that is to blame, from the top of the document.
    pub(crate) path: Path,
}

#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) event: Event,
    /// What is accepted and should be told.
    pub(crate) warnings: Vec<Finding>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Counts(Box<Admitted>),
    Refused(Box<Refused>),
    /// Not a kind of the mesh.
    PassedBy,
}

/// Reasons that are shown of one object.
const SHOWN: usize = 3;

pub(crate) fn admit(document: &Value, from: From) -> Outcome {
    let event = match Event::read(document) {
        Ok(event) => event,
        Err(NotRead::Other(_)) => return Outcome::PassedBy,
        Err(NotRead::Broken { key, reason }) => {
            // The schema says where.
            let found = schema::check(document, schema::Unknown::Ignore).unwrap_or_default();
            let (path, reason) = match found.errors().next() {
                Some(first) => (first.path.clone(), text(&found)),
                None => (Path::default(), reason),
            };
            return Outcome::Refused(Box::new(Refused { key, reason, path }));
        }
    };
    let Some(key) = event.key().filter(|key| !key.name.is_empty()) else {
        let reason = "it has no metadata.name".to_owned();
        return Outcome::Refused(Box::new(Refused { key: None, reason, path: Path::default() }));
    };
    let Event::Istio(object) = event else {
        return Outcome::Counts(Box::new(Admitted { event, warnings: Vec::new() }));
    };
    let mut found = match from {
        From::Server => Findings::default(),
        From::File => schema::check(document, schema::Unknown::Warn).unwrap_or_default(),
    };
    found.extend(mizzen_check::validate(&object));
    if let Some(first) = found.errors().next() {
        let path = first.path.clone();
        return Outcome::Refused(Box::new(Refused { key: Some(key), reason: text(&found), path }));
    }
    let warnings = match from {
        // Whoever wrote it has been told.
        From::Server => Vec::new(),
        From::File => found.iter().cloned().collect(),
    };
    Outcome::Counts(Box::new(Admitted { event: Event::Istio(Arc::new(trim(object))), warnings }))
}

/// Drops what a mesh has no use for and nobody should pay for.
fn trim(object: Arc<Object>) -> Object {
    let mut object = Arc::unwrap_or_clone(object);
    // An entry's status says its addresses and its health; those of others are for people.
    if !matches!(object.kind(), Kind::ServiceEntry | Kind::WorkloadEntry) {
        object.status = None;
    }
    object.metadata.annotations.remove(LAST_APPLIED);
    object
}

/// kubectl's copy of the whole object.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn text(found: &Findings) -> String {
    let mut reasons: Vec<String> = found.errors().take(SHOWN).map(one).collect();
    let more = found.errors().count().saturating_sub(SHOWN);
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    reasons.join("; ")
}

pub(crate) fn one(finding: &Finding) -> String {
    match finding.path.0.is_empty() {
        true => finding.message.clone(),
        false => format!("{}: {}", finding.path, finding.message),
    }
}

/// Which object a document is, if it is one of Istio's.
pub(crate) fn istio_key(document: &Value) -> Option<Key> {
    let kind = Identity::of(document)?.istio_kind()?;
    let text = |name| document.pointer(name).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    Some(Key { kind: KeyKind::Istio(kind), namespace: namespace.into(), name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn virtual_service(spec: &Value) -> Value {
        json!({ "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
                "metadata": { "name": "v", "namespace": "n", "annotations": { LAST_APPLIED: "{}" } }, "spec": spec })
    }

    #[test]
    fn what_istio_refuses_does_not_count_and_says_where() {
        let broken = virtual_service(&json!({ "hosts": [], "http": [{ "route": [] }] }));
        for from in [From::Server, From::File] {
            let Outcome::Refused(refused) = admit(&broken, from) else { panic!("{from:?}: it counts") };
            assert_eq!(refused.key.map(|key| key.to_string()).as_deref(), Some("VirtualService n/v"));
            assert!(!refused.reason.is_empty());
        }
    }

    #[test]
    fn a_wrong_type_is_told_with_its_field() {
        let Outcome::Refused(refused) = admit(&virtual_service(&json!({ "hosts": 7 })), From::File) else {
            panic!("it counts")
        };
        assert_eq!(refused.path.to_string(), "spec.hosts");
    }

    #[test]
    fn a_good_one_counts_without_kubectls_copy_of_it() {
        let route = json!([{ "destination": { "host": "web" } }]);
        let good = virtual_service(&json!({ "hosts": ["web"], "http": [{ "route": route }] }));
        let Outcome::Counts(admitted) = admit(&good, From::File) else { panic!("it does not count") };
        let Event::Istio(object) = admitted.event else { panic!("not Istio's") };
        assert!(object.metadata.annotations.is_empty());
    }

    #[test]
    fn an_unknown_field_in_a_file_is_a_warning() {
        let route = json!([{ "destination": { "host": "web" } }]);
        let odd =
            virtual_service(&json!({ "hosts": ["web"], "http": [{ "route": route, "tiemout": "1s" }] }));
        let Outcome::Counts(admitted) = admit(&odd, From::File) else { panic!("it does not count") };
        assert!(admitted.warnings.iter().any(|warning| one(warning).contains("tiemout")));
    }

    #[test]
    fn other_kinds_are_passed_by_and_nameless_ones_refused() {
        let other = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" } });
        assert!(matches!(admit(&other, From::File), Outcome::PassedBy));
        let nameless = json!({ "apiVersion": "v1", "kind": "Service", "metadata": {} });
        assert!(matches!(admit(&nameless, From::File), Outcome::Refused(_)));
    }
}
