//! A proxy of a scenario: named by its pod, from which the rest is taken.

use anyhow::{Context as _, Result, bail};
use mizzen_testkit::proxy::{Identity, Role, proxy_config};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    kinds::{name, namespace, text},
    scenario::Scenario,
};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Who {
    /// `name.namespace` of a pod with a sidecar,
    #[serde(default)]
    pod: Option<String>,
    /// or of one that is a gateway.
    #[serde(default)]
    router: Option<String>,
    /// `region/zone/subzone`, where the proxy tells it.
    #[serde(default)]
    locality: Option<String>,
    /// More words of node metadata.
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl Who {
    /// What it is called in a dump.
    pub fn name(&self) -> &str {
        self.pod.as_deref().or(self.router.as_deref()).unwrap_or_default()
    }

    pub fn identity(&self, scenario: &Scenario) -> Result<Identity> {
        let role = match (&self.pod, &self.router) {
            (Some(_), None) => Role::Sidecar,
            (None, Some(_)) => Role::Router,
            _ => bail!("a proxy is named by either `pod` or `router`"),
        };
        let (wanted, place) = self.name().rsplit_once('.').context("a proxy is named NAME.NAMESPACE")?;
        let pod = scenario
            .all_objects()
            .find(|object| {
                text(object, "kind") == "Pod" && name(object) == wanted && namespace(object) == place
            })
            .with_context(|| format!("there is no pod {wanted} in namespace {place}"))?;
        let address = text(&pod["status"], "podIP");
        let address = address.parse().with_context(|| format!("the address {address:?} of pod {wanted}"))?;
        let mut identity = Identity::new(role, address, wanted, place);
        identity.service_account = text(&pod["spec"], "serviceAccountName").to_owned();
        identity.labels = serde_json::from_value(pod["metadata"]["labels"].clone()).unwrap_or_default();
        // The agent tells what the mesh has by default over what it knows by itself.
        let mut settings = proxy_config();
        if let (Some(settings), Some(mesh)) =
            (settings.as_object_mut(), scenario.mesh["defaultConfig"].as_object())
        {
            settings.extend(mesh.clone());
        }
        identity.metadata.insert("PROXY_CONFIG".to_owned(), settings);
        if !pod["metadata"]["annotations"].is_null() {
            identity.metadata.insert("ANNOTATIONS".to_owned(), pod["metadata"]["annotations"].clone());
        }
        identity.metadata.extend(self.metadata.clone());
        identity.locality = self.locality.as_ref().map(|locality| {
            let mut parts = locality.splitn(3, '/').map(str::to_owned);
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        });
        Ok(identity)
    }
}
