//! A WorkloadEntry, or an endpoint in a ServiceEntry, as a workload.

use crate::{
    Labels, Locality, NamedPort, TlsMode, Workload, WorkloadKind,
    registry::{facts::Facts, names::Names},
};
use mizzen_api::{Object, proto::istio::networking::v1alpha3::WorkloadEntry};
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};

const TLS_MODE: &str = "security.istio.io/tlsMode";
const WORKLOAD_NAME: &str = "service.istio.io/workload-name";
const GROUP: &str = "istio.io/autoRegistrationGroup";
const HEALTH_CHECKS: &str = "proxy.istio.io/health-checks-enabled";

/// Of an object. Nothing while it is checked and not healthy.
pub(in crate::registry) fn machine(
    object: &Object,
    entry: &WorkloadEntry,
    facts: &Facts,
    names: &mut Names,
) -> Option<Workload> {
    let metadata = &object.metadata;
    let checked = metadata.annotations.get(HEALTH_CHECKS).is_some_and(|value| go_true(value));
    if checked && !healthy(object.status.as_ref()) {
        return None;
    }
    let mut labels = entry.labels.clone();
    labels.extend(metadata.labels.clone());
    let owner = metadata.annotations.get(GROUP).or_else(|| metadata.labels.get(WORKLOAD_NAME));
    let labels = names.map(&labels);
    let owner = owner.unwrap_or(&metadata.name);
    Some(workload(entry, &labels, &metadata.name, owner, &metadata.namespace, facts, names))
}

/// The one at `index` in a ServiceEntry.
pub(in crate::registry) fn inline(
    entry: &WorkloadEntry,
    index: usize,
    object: &Object,
    facts: &Facts,
    names: &mut Names,
) -> Workload {
    let name = format!("{}-{index}", object.metadata.name);
    let labels = names.map(&entry.labels);
    workload(entry, &labels, &name, &name, &object.metadata.namespace, facts, names)
}

/// Only entries that resolve names can use it: its address is a name or a socket's path.
pub(in crate::registry) fn for_names_only(workload: &Workload) -> bool {
    workload.kind == WorkloadKind::Entry
        && workload.addresses.first().is_some_and(|address| address.parse::<IpAddr>().is_err())
}

fn workload(
    entry: &WorkloadEntry,
    labels: &Labels,
    name: &str,
    owner: &str,
    namespace: &str,
    facts: &Facts,
    names: &mut Names,
) -> Workload {
    let locality = match entry.locality.as_str() {
        "" => Locality::of_labels(labels).unwrap_or_default(),
        text => Locality::parse(text),
    };
    let network = match entry.network.as_str() {
        "" => facts.network(&entry.address, labels, names),
        network => names.text(network),
    };
    let tls = match labels.get(TLS_MODE) {
        Some(mode) if &**mode == "istio" => TlsMode::Istio,
        None if !entry.service_account.is_empty() => TlsMode::Istio,
        _ => TlsMode::Disabled,
    };
    let account = match entry.service_account.as_str() {
        "" => Arc::default(),
        account => names.text(&facts.account(namespace, account)),
    };
    let port =
        |(name, number): (&String, &u32)| NamedPort { name: names.text(name), number: *number, udp: false };
    Workload {
        kind: WorkloadKind::Entry,
        ports: entry.ports.iter().filter(|(_, number)| u16::try_from(**number).is_ok()).map(port).collect(),
        name: names.text(name),
        namespace: names.text(namespace),
        owner: names.text(owner),
        addresses: Some(&entry.address)
            .filter(|address| !address.is_empty())
            .map(|address| names.text(address))
            .into_iter()
            .collect(),
        labels: facts.labels(labels, &locality, &Arc::default(), &network, names),
        service_account: account,
        locality,
        // Only what it says itself: the label has what was found out.
        network: names.text(&entry.network),
        cluster: Arc::clone(&facts.settings.cluster),
        node: Arc::default(),
        hostname: Arc::default(),
        subdomain: Arc::default(),
        weight: entry.weight,
        tls,
    }
}

/// What Go takes for yes.
fn go_true(text: &str) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&text)
}

/// Not said is no: a new one must prove itself.
fn healthy(status: Option<&Value>) -> bool {
    let conditions = status.and_then(|status| status.get("conditions")).and_then(Value::as_array);
    let text = |condition: &'_ Value, key: &str| {
        condition.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let condition = conditions.into_iter().flatten().find(|condition| text(condition, "type") == "Healthy");
    condition.is_some_and(|condition| text(condition, "status") == "True")
}
