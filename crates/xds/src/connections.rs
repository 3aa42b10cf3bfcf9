//! Who is connected and what each has, for debug pages and status.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use crate::{
    kind::Type,
    names::NameSet,
    session::{Protocol, Session},
};

/// One stream, as it is at one moment.
#[derive(Clone, Debug)]
pub struct Connection {
    /// `<node id>-<number>`
    pub id: String,
    pub node: Arc<str>,
    pub peer: SocketAddr,
    pub connected_at: SystemTime,
    pub protocol: Protocol,
    /// The proxy's version.
    pub version: Arc<str>,
    pub watched: Vec<Watched>,
}

/// One type of one stream.
#[derive(Clone, Debug)]
pub struct Watched {
    pub kind: Type,
    pub wildcard: bool,
    pub names: NameSet,
    /// How many resources it was sent.
    pub resources: usize,
    /// Empty if there was none. In sync if they are equal.
    pub nonce_sent: String,
    pub nonce_acked: String,
    /// The generation it was brought to, and the one it has answered for; 0 if none.
    pub generation_sent: u64,
    pub generation_acked: u64,
    /// The last refusal, until a later response is accepted.
    pub refusal: Option<Arc<Refusal>>,
}

/// A response that the client did not want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A gRPC status code.
    pub code: i32,
    pub text: String,
    pub at: SystemTime,
    pub nonce: String,
    /// Names of resources in the response, the first few of `of`. If it is one, it is that one.
    pub resources: Vec<Arc<str>>,
    pub of: usize,
}

/// One open stream. The session is locked for moments only.
pub(crate) struct Entry {
    pub(crate) node: Arc<str>,
    pub(crate) number: u64,
    pub(crate) peer: SocketAddr,
    pub(crate) connected_at: SystemTime,
    pub(crate) version: Arc<str>,
    session: Mutex<Session>,
}

impl Entry {
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn id(&self) -> String {
        format!("{}-{}", self.node, self.number)
    }
}

/// All open streams.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<BTreeMap<u64, Arc<Entry>>>,
}

impl Connections {
    /// Listed until what is returned is dropped.
    pub(crate) fn open(
        self: &Arc<Self>,
        node: Arc<str>,
        number: u64,
        peer: SocketAddr,
        version: Arc<str>,
        session: Session,
    ) -> Listed {
        let connected_at = SystemTime::now();
        let entry =
            Arc::new(Entry { node, number, peer, connected_at, version, session: Mutex::new(session) });
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, entry.clone());
        Listed { all: self.clone(), entry }
    }

    pub(crate) fn list(&self) -> Vec<Connection> {
        let entries: Vec<_> = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.values().cloned().collect()
        };
        let show = |entry: Arc<Entry>| Connection {
            id: entry.id(),
            node: entry.node.clone(),
            peer: entry.peer,
            connected_at: entry.connected_at,
            protocol: entry.with(|session| session.protocol()),
            version: entry.version.clone(),
            watched: entry.with(|session| session.watched()),
        };
        entries.into_iter().map(show).collect()
    }
}

pub(crate) struct Listed {
    all: Arc<Connections>,
    pub(crate) entry: Arc<Entry>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.all.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.entry.number);
    }
}
