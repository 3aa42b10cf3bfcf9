//! A world of resources, a session over it, and clients that do what proxies do, for the tests.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::{Instant, SystemTime},
};

use mizzen_proto::envoy::service::discovery::v3::{DeltaDiscoveryResponse, DiscoveryResponse};
use prost::Message;

use super::{At, Heard, Next, Protocol, Response, Session, Violation};
use crate::{
    kind::Type,
    options::Options,
    request::{ErrorDetail, Request},
    resource::Resource,
    set::ResourceSet,
    subscription::Subscription,
    wire::GRPC_HEAD,
};

/// What the newest generation says.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) generation: u64,
    pub(crate) kinds: BTreeMap<Type, BTreeMap<String, String>>,
    /// As a source should: equal questions get the same set.
    sets: HashMap<(Type, Subscription), Arc<ResourceSet>>,
}

impl World {
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut BTreeMap<Type, BTreeMap<String, String>>)) {
        change(&mut self.kinds);
        self.generation += 1;
        self.sets.clear();
    }

    /// `None` removes.
    pub(crate) fn put(&mut self, kind: &Type, name: &str, value: Option<&str>) {
        self.change(|kinds| {
            let resources = kinds.entry(kind.clone()).or_default();
            match value {
                Some(value) => resources.insert(name.to_owned(), value.to_owned()),
                None => resources.remove(name),
            };
        });
    }

    pub(crate) fn of(&self, kind: &Type) -> BTreeMap<String, String> {
        self.kinds.get(kind).cloned().unwrap_or_default()
    }

    fn set(&mut self, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet> {
        let key = (kind.clone(), subscription.clone());
        if let Some(known) = self.sets.get(&key) {
            return known.clone();
        }
        let resources = self.of(kind).into_iter();
        // A state response has no names, so the body says its name, too.
        let resources =
            resources.map(|(name, value)| Arc::new(Resource::new(name.as_str(), format!("{name}={value}"))));
        let set = Arc::new(ResourceSet::new(kind.clone(), subscription.clone(), resources.collect()));
        self.sets.insert(key, set.clone());
        set
    }
}

/// A response as a client reads it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) kind: Type,
    pub(crate) nonce: String,
    /// Name, version, value.
    pub(crate) changed: Vec<(String, String, String)>,
    pub(crate) removed: Vec<String>,
}

impl Told {
    pub(crate) fn names(&self) -> Vec<&str> {
        self.changed.iter().map(|(name, ..)| &**name).collect()
    }

    /// `cds +a,b -c`
    pub(crate) fn brief(&self) -> String {
        let removed: String = self.removed.iter().map(|name| format!(" -{name}")).collect();
        format!("{} +{}{removed}", self.kind, self.names().join(","))
    }

    fn read(protocol: Protocol, response: &Response) -> Self {
        let bytes = response.chunks.concat();
        let message = &bytes[GRPC_HEAD..];
        let split = |body: &[u8]| {
            let text = String::from_utf8(body.to_vec()).unwrap();
            let (name, value) = text.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        match protocol {
            Protocol::Delta => {
                let read = DeltaDiscoveryResponse::decode(message).unwrap();
                let changed = read.resources.into_iter().map(|resource| {
                    let any = resource.resource.unwrap();
                    assert_eq!(any.type_url, read.type_url);
                    let (name, value) = split(&any.value);
                    assert_eq!(name, resource.name);
                    (name, resource.version, value)
                });
                Self {
                    kind: Type::of_url(&read.type_url),
                    nonce: read.nonce,
                    changed: changed.collect(),
                    removed: read.removed_resources,
                }
            }
            Protocol::StateOfTheWorld => {
                let read = DiscoveryResponse::decode(message).unwrap();
                let changed = read.resources.iter().map(|any| {
                    let (name, value) = split(&any.value);
                    (name, String::new(), value)
                });
                let kind = Type::of_url(&read.type_url);
                Self { kind, nonce: read.nonce, changed: changed.collect(), removed: Vec::new() }
            }
        }
    }
}

/// A session and its world.
pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) world: World,
    streams: u64,
    pub(crate) options: Options,
}

impl Talk {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self::with(protocol, Options::default())
    }

    pub(crate) fn with(protocol: Protocol, options: Options) -> Self {
        let world = World { generation: 1, ..World::default() };
        Self { session: Session::new(protocol, 1, &options), world, streams: 1, options }
    }

    pub(crate) fn reconnect(&mut self) {
        self.streams += 1;
        self.session = Session::new(self.session.protocol(), self.streams, &self.options);
    }

    pub(crate) fn request(&mut self, request: Request) -> Heard {
        self.try_request(request).unwrap()
    }

    pub(crate) fn try_request(&mut self, request: Request) -> Result<Heard, Violation> {
        self.session.request(request, SystemTime::UNIX_EPOCH)
    }

    /// All that is sent now.
    pub(crate) fn responses(&mut self) -> Vec<Told> {
        let mut all = Vec::new();
        for _ in 0..10_000 {
            let now = Instant::now();
            let version = self.world.generation.to_string();
            let at = At {
                generation: self.world.generation,
                version: &version,
                made: now,
                control_plane: "test",
                now,
            };
            let response = match self.session.next(&at) {
                Next::Nothing => return all,
                Next::Send(response) => Some(response),
                Next::Ask(query) => {
                    let set = self.world.set(&query.kind, &query.subscription);
                    self.session.answer(&query, set, &at)
                }
            };
            all.extend(response.map(|response| Told::read(self.session.protocol(), &response)));
        }
        panic!("the session never comes to rest");
    }

    pub(crate) fn briefly(&mut self) -> Vec<String> {
        self.responses().iter().map(Told::brief).collect()
    }

    /// Accepts everything until nothing more is sent; what was sent.
    pub(crate) fn settle(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let responses = self.responses();
            if responses.is_empty() {
                return all;
            }
            for told in responses {
                all.push(told.brief());
                self.request(ack(&told));
            }
        }
    }
}

pub(crate) fn ask(kind: &Type, names: &[&str]) -> Request {
    Request {
        url: kind.url().to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Request::default()
    }
}

pub(crate) fn unsubscribe(kind: &Type, names: &[&str]) -> Request {
    Request { unsubscribe: names.iter().map(|name| (*name).to_owned()).collect(), ..ask(kind, &[]) }
}

/// Delta only: state of the world repeats the names.
pub(crate) fn ack(told: &Told) -> Request {
    Request { nonce: told.nonce.clone(), ..ask(&told.kind, &[]) }
}

pub(crate) fn nack(told: &Told, text: &str) -> Request {
    Request { error: Some(ErrorDetail { code: 13, text: text.to_owned() }), ..ack(told) }
}

/// What a client makes of a response with something bad in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// As Envoy does with routes and endpoints.
    UpToTheBad,
    /// As Envoy does with clusters and listeners.
    TheGood,
}

/// The bad value.
pub(crate) const BAD: &str = "bad";

/// A proxy. It has what it was told of what it wants.
pub(crate) struct Client {
    pub(crate) protocol: Protocol,
    pub(crate) takes: Takes,
    pub(crate) wants: BTreeMap<Type, Wants>,
    /// Name → version, value.
    pub(crate) has: BTreeMap<Type, BTreeMap<String, (String, String)>>,
    pub(crate) outgoing: Vec<Request>,
    pub(crate) incoming: Vec<Told>,
    nonces: BTreeMap<Type, String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Wants {
    pub(crate) everything: bool,
    pub(crate) names: BTreeSet<String>,
}

impl Client {
    pub(crate) fn new(protocol: Protocol, takes: Takes, wants: BTreeMap<Type, Wants>) -> Self {
        let mut client = Self {
            protocol,
            takes,
            wants,
            has: BTreeMap::new(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            nonces: BTreeMap::new(),
        };
        client.connect();
        client
    }

    /// The first requests of a stream, with what is known from the last one.
    pub(crate) fn connect(&mut self) {
        self.outgoing.clear();
        self.incoming.clear();
        self.nonces.clear();
        for (kind, wants) in &self.wants {
            if !wants.everything && wants.names.is_empty() {
                continue;
            }
            let names: Vec<_> = wants.names.iter().map(String::as_str).collect();
            let mut first = ask(kind, &names);
            if self.protocol == Protocol::Delta {
                let has = self.has.get(kind).cloned().unwrap_or_default();
                first.known = has.into_iter().map(|(name, (version, _))| (name, version)).collect();
            }
            self.outgoing.push(first);
        }
    }

    pub(crate) fn subscribe(&mut self, kind: &Type, name: &str) {
        let wants = self.wants.entry(kind.clone()).or_default();
        let first = !wants.everything && wants.names.is_empty();
        if wants.names.insert(name.to_owned()) {
            match self.protocol {
                Protocol::Delta => self.outgoing.push(ask(kind, &[name])),
                Protocol::StateOfTheWorld => self.say_all(kind, first),
            }
        }
    }

    pub(crate) fn unsubscribe(&mut self, kind: &Type, name: &str) {
        let wants = self.wants.entry(kind.clone()).or_default();
        if wants.names.remove(name) {
            self.has.entry(kind.clone()).or_default().remove(name);
            match self.protocol {
                Protocol::Delta => self.outgoing.push(unsubscribe(kind, &[name])),
                Protocol::StateOfTheWorld => self.say_all(kind, false),
            }
        }
    }

    fn say_all(&mut self, kind: &Type, first: bool) {
        let names: Vec<_> = self.wants[kind].names.iter().map(String::as_str).collect();
        let nonce = if first { String::new() } else { self.nonces.get(kind).cloned().unwrap_or_default() };
        self.outgoing.push(Request { nonce, ..ask(kind, &names) });
    }

    /// Takes the next response, if there is one.
    pub(crate) fn take(&mut self) -> bool {
        if self.incoming.is_empty() {
            return false;
        }
        let told = self.incoming.remove(0);
        let kind = told.kind.clone();
        let wants = self.wants.get(&kind).cloned().unwrap_or_default();
        let wanted = |name: &String| wants.everything || wants.names.contains(name);
        let bad = told.changed.iter().position(|(_, _, value)| value == BAD);
        let takes = match bad {
            None => told.changed.len(),
            Some(_) if self.takes == Takes::Nothing => 0,
            Some(place) if self.takes == Takes::UpToTheBad => place,
            Some(_) => told.changed.len(),
        };
        let has = self.has.entry(kind.clone()).or_default();
        let whole = self.protocol == Protocol::StateOfTheWorld && kind.is_wildcard();
        if whole && (bad.is_none() || self.takes == Takes::TheGood) {
            has.retain(|name, _| told.changed.iter().any(|(changed, ..)| changed == name));
        }
        for (name, version, value) in told.changed.iter().take(takes) {
            if value != BAD && wanted(name) {
                has.insert(name.clone(), (version.clone(), value.clone()));
            }
        }
        if bad.is_none() || self.takes == Takes::TheGood {
            for name in &told.removed {
                has.remove(name);
            }
        }
        self.nonces.insert(kind.clone(), told.nonce.clone());
        let mut answer = if bad.is_some() { nack(&told, "bad") } else { ack(&told) };
        if self.protocol == Protocol::StateOfTheWorld {
            answer.names = wants.names.iter().cloned().collect();
            if answer.names.is_empty() && !kind.is_wildcard() {
                // Nothing is wanted of this type: the request is the unsubscription.
                answer.error = None;
            }
        }
        self.outgoing.push(answer);
        true
    }

    /// Lets the next request go.
    pub(crate) fn flush(&mut self, talk: &mut Talk) -> bool {
        if self.outgoing.is_empty() {
            return false;
        }
        talk.request(self.outgoing.remove(0));
        true
    }

    /// Until nothing moves any more.
    pub(crate) fn settle(&mut self, talk: &mut Talk) {
        for _ in 0..10_000 {
            while self.flush(talk) {}
            self.incoming.extend(talk.responses());
            if !self.take() && self.outgoing.is_empty() {
                return;
            }
        }
        panic!("client and server never come to rest");
    }

    pub(crate) fn values(&self, kind: &Type) -> BTreeMap<String, String> {
        let has = self.has.get(kind).cloned().unwrap_or_default();
        has.into_iter().map(|(name, (_, value))| (name, value)).collect()
    }
}
