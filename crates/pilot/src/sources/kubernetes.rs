//! Objects of a cluster: one reflector a kind, each reading straight into what the mesh keeps.

use super::{
    Sources,
    admit::{From, LAST_APPLIED, Outcome, admit, istio_key},
    told::{Source, Told},
};
use mizzen_api::Kind;
use mizzen_cluster::{Change, Client, Identity, Key as ObjectKey, Resource, State, Trimmed, follow};
use mizzen_mesh::{
    Event, Key, KeyKind,
    input::{EndpointSlice, Input, Namespace, Node, Pod, Service},
};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A label with which an object says which control plane it is for.
const REVISION: &str = "istio.io/rev";

/// A kind of Kubernetes' own.
trait Plain: Input {
    const KEY: KeyKind;

    fn event(self) -> Event;
}

macro_rules! plain {
    ($($kind:ident)*) => {
        $(impl Plain for $kind {
            const KEY: KeyKind = KeyKind::$kind;

            fn event(mut self) -> Event {
                self.metadata.annotations.remove(LAST_APPLIED);
                Event::$kind(Arc::new(self))
            }
        })*
    };
}

plain! { Service EndpointSlice Pod Node Namespace }

#[derive(Deserialize)]
#[serde(transparent, bound = "")]
struct Seen<T: Plain>(T);

impl<T: Plain> Trimmed for Seen<T> {
    fn identity(&self) -> Identity<'_> {
        let metadata = self.0.metadata();
        Identity { namespace: &metadata.namespace, name: &metadata.name, version: &metadata.resource_version }
    }
}

/// An object of Istio's: whole, until it has been checked.
#[derive(Deserialize)]
#[serde(transparent)]
struct Document(Value);

impl Trimmed for Document {
    fn identity(&self) -> Identity<'_> {
        let text = |name| self.0.pointer(name).and_then(Value::as_str).unwrap_or_default();
        Identity {
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            version: text("/metadata/resourceVersion"),
        }
    }
}

impl Sources {
    /// Services, endpoints, pods, nodes and namespaces.
    pub(crate) fn registry(&mut self, client: &Client) {
        self.plain::<Namespace>(client, None);
        self.plain::<Node>(client, None);
        // A pod that has failed will not come back, and has no address.
        self.plain::<Pod>(client, Some("status.phase!=Failed"));
        self.plain::<Service>(client, None);
        self.plain::<EndpointSlice>(client, None);
    }

    /// Istio's kinds, of this revision or of none. An empty revision takes them all.
    pub(crate) fn configuration(&mut self, client: &Client, revision: &str) {
        for kind in Kind::ALL.iter().copied() {
            let resource = Resource::new(kind.group(), kind.versions(), kind.plural());
            let (source, state) = self.add_watch(&resource);
            let revision = revision.to_owned();
            let turn = move |change| istio(kind, source, &revision, change);
            let follow = follow::<Document, Told>(client.clone(), resource, state, self.out.clone(), turn);
            self.spawn(follow);
        }
    }

    fn plain<T: Plain>(&mut self, client: &Client, fields: Option<&str>) {
        let mut resource = Resource::new(T::GROUP, &[T::VERSION], T::PLURAL);
        resource.fields = fields.map(str::to_owned);
        let (source, state) = self.add_watch(&resource);
        let turn = move |change| Some(turn::<T>(source, change));
        let follow = follow::<Seen<T>, Told>(client.clone(), resource, state, self.out.clone(), turn);
        self.spawn(follow);
    }

    pub(crate) fn add_watch(&mut self, resource: &Resource) -> (Source, Arc<State>) {
        let state = Arc::new(State::default());
        (self.add(resource.name(), super::Kind::Watch(Arc::clone(&state))), state)
    }
}

fn turn<T: Plain>(source: Source, change: Change<Seen<T>>) -> Told {
    match change {
        Change::Applied(Seen(object)) => Told::Event(object.event()),
        Change::Gone(key) => Told::Event(Event::Gone(of(T::KEY, &key))),
        Change::Broken { key, reason } => Told::Event(broken(of(T::KEY, &key), reason)),
        Change::Synced => Told::Synced(source),
    }
}

fn istio(kind: Kind, source: Source, revision: &str, change: Change<Document>) -> Option<Told> {
    let kind = KeyKind::Istio(kind);
    let event = match change {
        Change::Synced => return Some(Told::Synced(source)),
        Change::Gone(key) => Event::Gone(of(kind, &key)),
        Change::Broken { key, reason } => broken(of(kind, &key), reason),
        Change::Applied(Document(document)) if !in_revision(&document, revision) => {
            // It may have been one of ours before.
            Event::Gone(istio_key(&document)?)
        }
        Change::Applied(Document(document)) => match admit(&document, From::Server) {
            Outcome::Counts(admitted) => admitted.event,
            Outcome::Refused(refused) => broken(refused.key?, refused.reason),
            Outcome::PassedBy => return None,
        },
    };
    Some(Told::Event(event))
}

fn in_revision(document: &Value, revision: &str) -> bool {
    let label = document.get("metadata").and_then(|metadata| metadata.get("labels")?.get(REVISION)?.as_str());
    revision.is_empty() || label.is_none_or(|label| label == revision)
}

fn of(kind: KeyKind, key: &ObjectKey) -> Key {
    Key { kind, namespace: (&*key.namespace).into(), name: (&*key.name).into() }
}

fn broken(key: Key, reason: String) -> Event {
    Event::Broken { key, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_for_its_revision_or_for_all() {
        let labelled = |labels: Value| json!({ "metadata": { "labels": labels } });
        let none = json!({ "metadata": {} });
        for (document, revision, expected) in [
            (&none, "blue", true),
            (&none, "", true),
            (&labelled(json!({ "istio.io/rev": "blue" })), "blue", true),
            (&labelled(json!({ "istio.io/rev": "green" })), "blue", false),
            (&labelled(json!({ "istio.io/rev": "green" })), "", true),
        ] {
            assert_eq!(in_revision(document, revision), expected, "{document} in {revision:?}");
        }
    }

    #[test]
    fn an_object_that_leaves_the_revision_is_gone() {
        let document = json!({ "apiVersion": "networking.istio.io/v1", "kind": "Gateway",
            "metadata": { "name": "g", "namespace": "n", "labels": { "istio.io/rev": "green" } } });
        let told = istio(Kind::Gateway, Source(0), "blue", Change::Applied(Document(document)));
        assert!(matches!(told, Some(Told::Event(Event::Gone(key))) if key.to_string() == "Gateway n/g"));
    }
}
