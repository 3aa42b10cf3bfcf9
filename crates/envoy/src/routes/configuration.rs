//! Route configurations, put together from encoded virtual hosts.

use super::{assembly::Assembly, host::Host, wire};
use crate::{Resource, message::number};
use mizzen_mesh::ByPointer;
use mizzen_proto::{envoy::config::route::v3::RouteConfiguration, google::protobuf::BoolValue};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What istiod's validation lets a direct answer be long.
const MAX_DIRECT_RESPONSE: u32 = 1024 * 1024;

/// How virtual hosts are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum HostsBy {
    /// Whatever port the request names: the listener has one port.
    Name,
    /// A listener for all ports. Istio ignores the port there, too, and so finds only those of port 80.
    NameAndPort,
}

/// Everything that a route configuration is built from.
#[derive(PartialEq, Eq, Hash)]
struct Inputs {
    name: Arc<str>,
    hosts_by: HostsBy,
    hosts: Vec<ByPointer<Host>>,
}

/// Configurations by what they were built from, kept as long as somebody has them. Each keeps what the next one will be
/// made from.
#[derive(Default)]
pub(super) struct Configurations(Mutex<Known>);

type Known = HashMap<Inputs, (Arc<Resource>, Option<Arc<Assembly>>)>;

impl Configurations {
    pub(super) fn get(
        &self,
        name: &str,
        hosts_by: HostsBy,
        hosts: Vec<ByPointer<Host>>,
        of: Option<&Arc<Assembly>>,
    ) -> Arc<Resource> {
        let inputs = Inputs { name: name.into(), hosts_by, hosts };
        if let Some((resource, from)) = self.lock().get_mut(&inputs) {
            *from = of.cloned();
            return Arc::clone(resource);
        }
        // Built outside of the lock: two may build the same at once, the first one stays.
        let resource = Arc::new(build(&inputs));
        match self.lock().entry(inputs) {
            Entry::Occupied(entry) => Arc::clone(&entry.get().0),
            Entry::Vacant(entry) => Arc::clone(&entry.insert((resource, of.cloned())).0),
        }
    }

    pub(super) fn sweep(&self) {
        self.lock().retain(|_, (resource, _)| Arc::strong_count(resource) > 1);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn build(inputs: &Inputs) -> Resource {
    let head = RouteConfiguration {
        name: inputs.name.to_string(),
        validate_clusters: Some(BoolValue { value: false }),
        max_direct_response_body_size_bytes: Some(number(MAX_DIRECT_RESPONSE)),
        ignore_port_in_host_matching: inputs.hosts_by == HostsBy::Name,
        ..RouteConfiguration::default()
    };
    let body = wire::with(&head, inputs.hosts.iter().map(|host| &host.0.element));
    Resource::new(Arc::clone(&inputs.name), body)
}

/// For a name that stands for nothing: a proxy that waits for it must get an answer.
pub(super) fn empty(name: &str) -> Arc<Resource> {
    let message = RouteConfiguration {
        name: name.to_owned(),
        validate_clusters: Some(BoolValue { value: false }),
        ..RouteConfiguration::default()
    };
    Resource::encode(name, &message)
}
