//! The `Istio` resource and what is known of its cluster → the IstioOperator that is installed.
//!
//! ```text
//! defaults by size ─▶ experimental ─▶ config ─▶ components ─▶ compatibility ─▶ images ─▶ pull secret ─▶ the provider's
//! ```
//! Later ones win. Nothing here asks anybody.

mod components;
mod config;
mod experimental;

use super::{
    client::{Minor, changed},
    features::Features,
    images::Images,
    profile::{Size, profile},
    provider::Provider,
};
use mizzen_api::istio::Spec;
use mizzen_install::merge_trees;
use serde_json::{Value, json};

/// What the cluster and the process add to what somebody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub size: Size,
    pub provider: Provider,
    pub features: Features,
    /// Where none are given, the charts say which.
    pub images: Option<Images>,
    pub pull_secret: Option<String>,
    /// Whether this process takes experimental wishes.
    pub experimental: bool,
    pub dual_stack: bool,
    /// Of the charts, where they are upstream's.
    pub minor: Option<Minor>,
}

impl Surroundings {
    /// Only the experimental build has it, whatever the cluster says.
    pub(super) fn is_dual_stack(&self) -> bool {
        self.experimental && self.dual_stack
    }
}

/// A wish that cannot be granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Misconfigured {
    pub path: String,
    pub reason: String,
}

pub fn merged(spec: &Spec, surroundings: &Surroundings) -> Result<Value, Misconfigured> {
    let mut tree = profile(surroundings.size);
    let operator = &mut tree["spec"];
    if surroundings.experimental {
        experimental::lay(operator, spec, surroundings.is_dual_stack());
    }
    config::lay(operator, &spec.config)?;
    components::lay(operator, &spec.components);
    operator["components"]["cni"]["enabled"] = (!surroundings.features.disable_cni).into();
    if surroundings.features.enable_control_plane_vpa {
        components::without_memory_metrics(operator);
    }
    if spec.compatibility_mode {
        let env = &mut operator["components"]["pilot"]["k8s"]["env"];
        for (name, value) in changed(surroundings.minor).unwrap_or_default() {
            // The defaults may have it already.
            let has = env.as_array().is_some_and(|all| all.iter().any(|known| known["name"] == *name));
            if !has {
                push(env, json!({ "name": name, "value": value }));
            }
        }
    }
    if let Some(images) = &surroundings.images {
        images.lay(operator);
    }
    if let Some(secret) = &surroundings.pull_secret {
        let secrets = &mut operator["values"]["global"]["imagePullSecrets"];
        let has = secrets.as_array().is_some_and(|all| all.iter().any(|known| *known == *secret.as_str()));
        if !has {
            push(secrets, secret.as_str().into());
        }
    }
    merge_trees(operator, &surroundings.provider.overrides(surroundings.is_dual_stack()));
    Ok(tree)
}

/// At the end of a list, which there may not be yet.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_secret_is_named_once() {
        let around = Surroundings { pull_secret: Some("s".into()), ..Surroundings::default() };
        let tree = merged(&Spec::default(), &around).unwrap();
        assert_eq!(tree["spec"]["values"]["global"]["imagePullSecrets"], json!(["s"]));
    }
}
