//! What of the mesh and of a proxy shapes all of its virtual hosts. Kept once for all that are alike, so that keys name
//! it by its pointer.

use crate::Context;
use mizzen_mesh::{Attributes, ByPointer};
use mizzen_proto::istio::mesh::v1alpha1::{MeshConfig, mesh_config::outbound_traffic_policy::Mode};
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Environment {
    pub(super) mesh: ByPointer<MeshConfig>,
    /// Tell the server which attempt it is.
    pub(super) attempt_count: bool,
    /// Tell the server which host was asked for before a rewrite.
    pub(super) forwarded_host: bool,
    /// Nothing for a router.
    pub(super) place: Option<Place>,
}

/// Where a sidecar is: names are short or long, addresses are usable or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) domain: Arc<str>,
    pub(super) v4: bool,
    pub(super) v6: bool,
    /// It resolves names by itself, to addresses that the control plane gave.
    pub(super) allocated: bool,
}

impl Place {
    /// Whether this name may be written shorter here than elsewhere.
    pub(super) fn is_home_of(&self, host: &str) -> bool {
        let Some((own, _)) = self.domain.split_once(".svc.") else { return true };
        let Some((name, _)) = host.split_once(".svc.") else { return false };
        name.split_once('.').is_some_and(|(_, namespace)| namespace == own || namespace.is_empty())
    }
}

impl Environment {
    pub(super) fn of_router(context: &Context<'_>) -> Self {
        let (attempt_count, forwarded_host) = headers(context);
        Self { mesh: (&context.settings().mesh).into(), attempt_count, forwarded_host, place: None }
    }

    /// `allocated`: some service has addresses only for those that resolve names by themselves.
    pub(super) fn of_sidecar(context: &Context<'_>, allocated: bool) -> Self {
        let (v4, v6) = context.proxy.families();
        let place = Place {
            domain: context.proxy.domain(),
            v4,
            v6,
            allocated: allocated && resolves_names(context.proxy),
        };
        Self { place: Some(place), ..Self::of_router(context) }
    }

    /// As it is for a service of another namespace, which has the same names wherever it is asked for: the proxies of all
    /// namespaces share what is built for it.
    pub(super) fn elsewhere(&self) -> Self {
        let place = self.place.clone().map(|place| match place.domain.find(".svc.") {
            Some(at) => Place { domain: place.domain[at..].into(), ..place },
            None => place,
        });
        Self { place, ..self.clone() }
    }

    pub(super) fn outbound(&self) -> Mode {
        self.mesh.outbound_traffic_policy.as_ref().map(|policy| policy.mode()).unwrap_or_default()
    }
}

fn resolves_names(proxy: &Attributes) -> bool {
    proxy
        .metadata("DNS_CAPTURE")
        .is_some_and(|value| matches!(&*value, "true" | "1" | "t" | "T" | "TRUE" | "True"))
}

/// A proxy's own configuration goes before the mesh's, as a whole.
fn headers(context: &Context<'_>) -> (bool, bool) {
    if let Some(own) = context.proxy.metadata_part("PROXY_CONFIG", "/proxyHeaders") {
        let own: Value = serde_json::from_str(&own).unwrap_or_default();
        let is = |path| own.pointer(path).and_then(Value::as_bool).unwrap_or_default();
        return (!is("/attemptCount/disabled"), is("/xForwardedHost/enabled"));
    }
    let config = context.mesh().default_config.as_ref();
    let Some(headers) = config.and_then(|config| config.proxy_headers.as_ref()) else { return (true, false) };
    let counted = headers.attempt_count.and_then(|count| count.disabled) != Some(true);
    (counted, headers.x_forwarded_host.and_then(|host| host.enabled) == Some(true))
}
