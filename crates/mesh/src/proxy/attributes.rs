//! A proxy as builders see it. Every answer is recorded: two proxies that give the same answers to all that was asked
//! while something was built may share it, and no list of what matters is kept by hand.

use super::{Interception, Proxy, ProxyKind};
use crate::{
    ByPointer, Labels, Locality, Port, Scope, Seen, Service, Workload,
    config::{L4Routes, Routed, VirtualService},
    model::place,
};
use serde_json::Value;
use std::{cell::RefCell, collections::BTreeSet, net::IpAddr, sync::Arc};

/// A port of a service that the proxy's own workload serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub service: ByPointer<Service>,
    pub port: Port,
    /// Where the workload listens.
    pub target_port: u32,
}

/// Something that may be asked about a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    Kind,
    Namespace,
    /// Has it addresses of IPv4, of IPv6?
    Families,
    Addresses,
    /// Is the address that it is known by, its first, one of these?
    AddressAmong(Arc<BTreeSet<IpAddr>>),
    Locality,
    Network,
    Cluster,
    ServiceAccount,
    Interception,
    Domain,
    Node,
    /// Has it all of these labels?
    Selected(Arc<Labels>),
    /// Any other label, whole.
    Label(Arc<str>),
    /// All of them. Splits views by every label: prefer [`Question::Selected`].
    Labels,
    Metadata(&'static str),
    /// A part of a value, by a JSON pointer.
    MetadataPart(&'static str, &'static str),
    Targets,
    Id,
    /// The services that it sees, by identity.
    Seen,
    HttpRoutes,
    L4Routes,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Kind(ProxyKind),
    Text(Arc<str>),
    Maybe(Option<Arc<str>>),
    Families { v4: bool, v6: bool },
    Addresses(Vec<IpAddr>),
    Address(Option<IpAddr>),
    Locality(Locality),
    Interception(Interception),
    Yes(bool),
    Labels(Arc<Labels>),
    Targets(Arc<[Target]>),
    Seen(ByPointer<Seen>),
    HttpRoutes(ByPointer<Routed<VirtualService>>),
    L4Routes(ByPointer<Routed<L4Routes>>),
}

/// What was asked, in order, with the answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reads(Vec<(Question, Answer)>);

impl Reads {
    /// Both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if self.0.is_empty() {
            return other;
        }
        for (question, answer) in other.0 {
            if !self.0.iter().any(|(asked, _)| *asked == question) {
                self.0.push((question, answer));
            }
        }
        self
    }
}

/// A proxy and what a snapshot knows of it.
#[derive(Debug)]
pub struct Facts {
    proxy: Arc<Proxy>,
    labels: Arc<Labels>,
    locality: Locality,
    targets: Arc<[Target]>,
    pub(super) scope: Arc<Scope>,
}

impl Facts {
    /// What the mesh knows of the proxy's workload goes before what the proxy says of itself.
    pub(crate) fn new(
        proxy: Arc<Proxy>,
        workload: Option<&Arc<Workload>>,
        targets: Arc<[Target]>,
        scope: Arc<Scope>,
    ) -> Self {
        let locality = match workload {
            Some(workload) if !workload.locality.is_empty() => workload.locality.clone(),
            _ => Locality::of_labels(&proxy.labels).unwrap_or_else(|| proxy.locality.clone()),
        };
        let labels = labels(&proxy, workload, &locality);
        Self { proxy, labels, locality, targets, scope }
    }

    fn answer(&self, question: &Question) -> Answer {
        let proxy = &self.proxy;
        match question {
            Question::Kind => Answer::Kind(proxy.kind),
            Question::Namespace => Answer::Text(Arc::clone(&proxy.namespace)),
            Question::Families => Answer::Families {
                v4: proxy.addresses.iter().any(IpAddr::is_ipv4),
                v6: proxy.addresses.iter().any(IpAddr::is_ipv6),
            },
            Question::Addresses => Answer::Addresses(proxy.addresses.clone()),
            Question::AddressAmong(some) => {
                Answer::Address(proxy.addresses.first().filter(|address| some.contains(address)).copied())
            }
            Question::Locality => Answer::Locality(self.locality.clone()),
            Question::Network => Answer::Text(Arc::clone(&proxy.network)),
            Question::Cluster => Answer::Text(Arc::clone(&proxy.cluster)),
            Question::ServiceAccount => Answer::Text(Arc::clone(&proxy.service_account)),
            Question::Interception => Answer::Interception(proxy.interception),
            Question::Domain => Answer::Text(Arc::clone(&proxy.domain)),
            Question::Node => Answer::Text(Arc::clone(&proxy.node)),
            Question::Selected(selector) => {
                Answer::Yes(selector.iter().all(|(key, value)| self.labels.get(key) == Some(value)))
            }
            Question::Label(key) => Answer::Maybe(self.labels.get(key).cloned()),
            Question::Labels => Answer::Labels(Arc::clone(&self.labels)),
            Question::Metadata(key) => Answer::Maybe(proxy.texts.get(*key).cloned()),
            Question::MetadataPart(key, pointer) => Answer::Maybe(match proxy.metadata.get(*key) {
                None | Some(Value::Null) => None,
                Some(value) => Some(value.pointer(pointer).unwrap_or(&Value::Null).to_string().into()),
            }),
            Question::Targets => Answer::Targets(Arc::clone(&self.targets)),
            Question::Id => Answer::Text(Arc::clone(&proxy.id)),
            Question::Seen => Answer::Seen((&self.scope.seen).into()),
            Question::HttpRoutes => Answer::HttpRoutes((&self.scope.http).into()),
            Question::L4Routes => Answer::L4Routes((&self.scope.l4).into()),
        }
    }
}

/// The facts, and what of them was asked for.
pub struct Attributes {
    pub(super) facts: Arc<Facts>,
    reads: RefCell<Reads>,
}

impl Attributes {
    pub(crate) fn new(facts: Arc<Facts>) -> Self {
        Self { facts, reads: RefCell::default() }
    }

    pub(super) fn ask(&self, question: Question) -> Answer {
        let answer = self.facts.answer(&question);
        let mut reads = self.reads.borrow_mut();
        if !reads.0.iter().any(|(asked, _)| *asked == question) {
            reads.0.push((question, answer.clone()));
        }
        answer
    }

    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// What has been asked since the last time, and forget it.
    pub fn take_reads(&self) -> Reads {
        self.reads.take()
    }

    /// As if it had been asked all of this: something that was built from the same answers is used again.
    pub fn note_reads(&self, reads: Reads) {
        let noted = self.reads.take();
        self.reads.replace(noted.and(reads));
    }

    /// Whether this proxy answers everything in `reads` alike. Records nothing.
    pub fn agrees(&self, reads: &Reads) -> bool {
        reads.0.iter().all(|(question, answer)| self.facts.answer(question) == *answer)
    }
}

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident: $question:ident -> $answer:ident($of:ty);)*) => {
        impl Attributes {
            $($(#[$doc])*
            pub fn $name(&self) -> $of {
                match self.ask(Question::$question) {
                    Answer::$answer(value) => value,
                    other => unreachable!("{other:?} is no answer to {:?}", Question::$question),
                }
            })*
        }
    };
}

asks! {
    kind: Kind -> Kind(ProxyKind);
    namespace: Namespace -> Text(Arc<str>);
    addresses: Addresses -> Addresses(Vec<IpAddr>);
    locality: Locality -> Locality(Locality);
    network: Network -> Text(Arc<str>);
    cluster: Cluster -> Text(Arc<str>);
    service_account: ServiceAccount -> Text(Arc<str>);
    interception: Interception -> Interception(Interception);
    domain: Domain -> Text(Arc<str>);
    /// The machine that it runs on.
    node: Node -> Text(Arc<str>);
    labels: Labels -> Labels(Arc<Labels>);
    /// What its own workload serves.
    targets: Targets -> Targets(Arc<[Target]>);
    id: Id -> Text(Arc<str>);
}

impl Attributes {
    /// Has it addresses of IPv4, of IPv6?
    pub fn families(&self) -> (bool, bool) {
        match self.ask(Question::Families) {
            Answer::Families { v4, v6 } => (v4, v6),
            other => unreachable!("{other:?} is no answer to the families"),
        }
    }

    /// Which of these is the address that it is known by? All proxies that have none of them answer alike.
    pub fn address_among(&self, some: &Arc<BTreeSet<IpAddr>>) -> Option<IpAddr> {
        match self.ask(Question::AddressAmong(Arc::clone(some))) {
            Answer::Address(address) => address,
            other => unreachable!("{other:?} is no answer to an address"),
        }
    }

    /// Has it all of these labels? An empty selector selects everybody.
    pub fn selected(&self, selector: &Arc<Labels>) -> bool {
        selector.is_empty() || self.ask(Question::Selected(Arc::clone(selector))) == Answer::Yes(true)
    }

    pub fn metadata(&self, key: &'static str) -> Option<Arc<str>> {
        match self.ask(Question::Metadata(key)) {
            Answer::Maybe(value) => value,
            other => unreachable!("{other:?} is no answer to {key}"),
        }
    }

    /// A part of a metadata value, as JSON (`null` if the value has no such part), so that proxies whose values differ
    /// elsewhere are alike. Nothing without the value.
    pub fn metadata_part(&self, key: &'static str, pointer: &'static str) -> Option<Arc<str>> {
        match self.ask(Question::MetadataPart(key, pointer)) {
            Answer::Maybe(value) => value,
            other => unreachable!("{other:?} is no answer to {key}{pointer}"),
        }
    }

    pub fn label(&self, key: &str) -> Option<Arc<str>> {
        match self.ask(Question::Label(key.into())) {
            Answer::Maybe(value) => value,
            other => unreachable!("{other:?} is no answer to the label {key}"),
        }
    }
}

/// Of the workload, or of the proxy if that is not known; and where it is.
fn labels(proxy: &Proxy, workload: Option<&Arc<Workload>>, locality: &Locality) -> Arc<Labels> {
    let known = workload.map_or(&proxy.labels, |workload| &workload.labels);
    let places = place::labels(locality, &proxy.cluster, &proxy.node);
    let mut missing: Vec<(&str, &Arc<str>)> =
        places.filter(|(key, value)| known.get(*key) != Some(value)).collect();
    if known.get(place::NETWORK).is_none_or(|network| network.is_empty()) && !proxy.network.is_empty() {
        missing.push((place::NETWORK, &proxy.network));
    }
    let statics =
        proxy.static_labels.iter().filter(|(key, _)| workload.is_some() && !known.contains_key(*key));
    let mut statics = statics.peekable();
    if missing.is_empty() && statics.peek().is_none() {
        return Arc::clone(known);
    }
    let mut labels = Labels::clone(known);
    labels.extend(statics.map(|(key, value)| (Arc::clone(key), Arc::clone(value))));
    labels.extend(missing.into_iter().map(|(key, value)| (Arc::from(key), Arc::clone(value))));
    Arc::new(labels)
}
