//! What is there now. In: events. Out: snapshots, each made of the last one and what has changed since.

use crate::{
    Settings, Snapshot, config, input,
    registry::{self},
};
use mizzen_api::{Kind, Object};
use std::{fmt, sync::Arc};

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub kind: KeyKind,
    /// Empty for nodes and namespaces.
    pub namespace: Arc<str>,
    pub name: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    Service,
    EndpointSlice,
    Pod,
    Node,
    Namespace,
    Istio(Kind),
}

impl KeyKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "Service",
            Self::EndpointSlice => "EndpointSlice",
            Self::Pod => "Pod",
            Self::Node => "Node",
            Self::Namespace => "Namespace",
            Self::Istio(kind) => kind.name(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.name();
        if self.namespace.is_empty() {
            write!(out, "{kind} {}", self.name)
        } else {
            write!(out, "{kind} {}/{}", self.namespace, self.name)
        }
    }
}

/// Something came, changed or went.
#[derive(Clone, Debug)]
pub enum Event {
    Service(Arc<input::Service>),
    EndpointSlice(Arc<input::EndpointSlice>),
    Pod(Arc<input::Pod>),
    Node(Arc<input::Node>),
    Namespace(Arc<input::Namespace>),
    Istio(Arc<Object>),
    /// It is there but cannot be read: it is kept as such, with the reason, and the last good version of it goes on.
    Broken {
        key: Key,
        reason: Arc<str>,
    },
    Gone(Key),
    Settings(Box<Settings>),
}

pub struct Store {
    settings: Settings,
    registry: registry::State,
    config: config::State,
    last: Option<Arc<Snapshot>>,
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        Self { settings, registry: registry::State::default(), config: config::State::default(), last: None }
    }

    pub fn apply(&mut self, event: Event) {
        if self.config.has_broken()
            && !matches!(event, Event::Broken { .. })
            && let Some(key) = event.key()
        {
            self.config.mended(&key);
        }
        match event {
            Event::Service(object) => self.registry.service(object),
            Event::EndpointSlice(object) => self.registry.slice(&object),
            Event::Pod(object) => self.registry.pod(&object),
            Event::Node(object) => self.registry.node(&object),
            Event::Namespace(object) => self.registry.namespace(&object),
            Event::Istio(object) => match object.kind() {
                Kind::ServiceEntry | Kind::WorkloadEntry => self.registry.entry(object),
                _ => self.config.set(object),
            },
            Event::Broken { key, reason } => self.config.broken(key, reason),
            Event::Gone(key) => match key.kind {
                KeyKind::Istio(kind) if !matches!(kind, Kind::ServiceEntry | Kind::WorkloadEntry) => {
                    self.config.gone(&key);
                }
                _ => self.registry.gone(&key),
            },
            Event::Settings(settings) => {
                self.settings = *settings;
                self.registry.settings_changed();
                self.config.settings_changed();
            }
        }
    }

    /// The mesh as it is now. The same one as before if nothing that matters has changed.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        let services = self.registry.update(&self.settings);
        let config = self.config.update(&self.settings);
        let next = Snapshot::next(self.last.as_ref(), &self.settings, services, config);
        self.last = Some(Arc::clone(&next));
        next
    }
}

impl Key {
    pub fn of(object: &Object) -> Self {
        Self {
            kind: KeyKind::Istio(object.kind()),
            namespace: object.metadata.namespace.as_str().into(),
            name: object.metadata.name.as_str().into(),
        }
    }
}
