//! One object made ready: names whole, delegates merged in, what listeners need apart.

use super::{L4Routes, VirtualService, delegate};
use crate::{
    Key, KeyKind, Settings, Visibility,
    config::short_names::{MESH, whole_gateway, whole_host},
};
use mizzen_api::{Kind, Metadata, proto::istio::networking::v1alpha3};
use std::{collections::BTreeSet, sync::Arc};

pub(super) struct Prepared {
    /// Nothing for a delegate: it has no hosts and holds for nobody on its own.
    pub(super) service: Option<VirtualService>,
    /// Whether they are there or not.
    pub(super) delegates: BTreeSet<Key>,
    pub(super) problems: Vec<String>,
}

/// What is looked up for a delegate: its metadata and spec.
pub(super) type Lookup<'a> = dyn Fn(&Key) -> Option<(&'a Metadata, &'a v1alpha3::VirtualService)> + 'a;

pub(super) fn prepare(
    key: &Key,
    metadata: &Metadata,
    spec: &v1alpha3::VirtualService,
    settings: &Settings,
    lookup: &Lookup<'_>,
) -> Prepared {
    if spec.hosts.is_empty() {
        return Prepared { service: None, delegates: BTreeSet::new(), problems: Vec::new() };
    }
    let mut spec = whole(spec, &key.namespace, &settings.domain);
    let mut merge = delegate::Merge::default();
    if spec.http.iter().any(|route| route.delegate.is_some()) {
        spec.http = merge.routes(key, std::mem::take(&mut spec.http), settings, lookup);
    }
    let created: Arc<str> = metadata.creation_timestamp.as_str().into();
    let visibility = visibility(&spec, &key.namespace, settings);
    let gateways = if spec.gateways.is_empty() { vec![MESH.to_owned()] } else { spec.gateways.clone() };
    let (tls, tcp) = (std::mem::take(&mut spec.tls), std::mem::take(&mut spec.tcp));
    let l4 = (!tls.is_empty() || !tcp.is_empty()).then(|| {
        Arc::new(L4Routes {
            key: key.clone(),
            created: Arc::clone(&created),
            visibility: visibility.clone(),
            gateways: gateways.clone(),
            hosts: spec.hosts.clone(),
            tls,
            tcp,
        })
    });
    let service = VirtualService { key: key.clone(), created, visibility, gateways, spec, l4 };
    Prepared { service: Some(service), delegates: merge.delegates, problems: merge.problems }
}

pub(super) fn visibility(
    spec: &v1alpha3::VirtualService,
    namespace: &str,
    settings: &Settings,
) -> Visibility {
    Visibility::read(&spec.export_to, namespace, &settings.mesh.default_virtual_service_export_to)
}

/// Which delegate a route names.
pub(super) fn delegate_key(delegate: &v1alpha3::Delegate, namespace: &Arc<str>) -> Key {
    Key {
        kind: KeyKind::Istio(Kind::VirtualService),
        namespace: if delegate.namespace.is_empty() {
            Arc::clone(namespace)
        } else {
            delegate.namespace.as_str().into()
        },
        name: delegate.name.as_str().into(),
    }
}

/// Every name in it whole.
pub(super) fn whole(
    spec: &v1alpha3::VirtualService,
    namespace: &str,
    domain: &str,
) -> v1alpha3::VirtualService {
    let mut spec = spec.clone();
    let host = |host: &mut String| *host = whole_host(host, namespace, domain);
    let gateways = |names: &mut Vec<String>| {
        for name in names {
            *name = whole_gateway(name, namespace);
        }
    };
    let destination = |destination: Option<&mut v1alpha3::Destination>| {
        if let Some(destination) = destination {
            host(&mut destination.host);
        }
    };
    spec.hosts.iter_mut().for_each(host);
    gateways(&mut spec.gateways);
    for route in &mut spec.http {
        route.r#match.iter_mut().for_each(|wanted| gateways(&mut wanted.gateways));
        route.route.iter_mut().for_each(|to| destination(to.destination.as_mut()));
        destination(route.mirror.as_mut());
        route.mirrors.iter_mut().for_each(|mirror| destination(mirror.destination.as_mut()));
    }
    for route in &mut spec.tls {
        route.r#match.iter_mut().for_each(|wanted| gateways(&mut wanted.gateways));
        route.route.iter_mut().for_each(|to| destination(to.destination.as_mut()));
    }
    for route in &mut spec.tcp {
        route.r#match.iter_mut().for_each(|wanted| gateways(&mut wanted.gateways));
        route.route.iter_mut().for_each(|to| destination(to.destination.as_mut()));
    }
    spec
}
