//! A cluster with the definition of the `Istio` resource, the operator for it beside, and looks at both.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod injected;

use crate::{operated::Operated, site::BINARY};
use mizzen_testkit::{
    Part, Result, ports,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};
use std::{path::Path, process::Command};

/// The sample of the design document, with the namespace that it has to be in.
pub(crate) const SAMPLE: &str = "apiVersion: operator.kyma-project.io/v1alpha1
kind: Istio
metadata: { name: istio-sample, namespace: kyma-system }
spec: { config: { numTrustedProxies: 1 } }
";

/// Of any name and place, with any spec.
pub(crate) fn resource(namespace: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: operator.kyma-project.io/v1alpha2\nkind: Istio\nmetadata: {{ name: {name}, namespace: {namespace} }}\nspec: {spec}\n"
    )
}

pub(crate) struct Kyma {
    pub(crate) here: Operated,
}

impl Kyma {
    pub(crate) async fn start() -> Result<Self> {
        Self::start_with("").await
    }

    /// With further flags of `operator manifest`.
    pub(crate) async fn start_with(flags: &str) -> Result<Self> {
        Self::of(Operated::start().await?, flags).await
    }

    async fn of(here: Operated, flags: &str) -> Result<Self> {
        let objects = here.site.mizzen_alone(&format!("operator manifest {flags}")).await.well();
        here.site.server.apply(&objects).await?;
        here.kubectl("wait --for=condition=Established crd istios.operator.kyma-project.io --timeout=60s")
            .await?;
        Ok(Self { here })
    }

    /// The process, as the deployment would start it: with the rights of its account and no others.
    pub(crate) fn operator(&self, further: &[&str]) -> (Part, u16) {
        self.operator_through(&self.here.site.server.kubeconfig_file(), further)
    }

    /// The same, by another way to the cluster.
    pub(crate) fn operator_through(&self, kubeconfig: &Path, further: &[&str]) -> (Part, u16) {
        self.operator_of(None, kubeconfig, further)
    }

    /// The same, with images of this tag.
    pub(crate) fn operator_of(&self, tag: Option<&str>, kubeconfig: &Path, further: &[&str]) -> (Part, u16) {
        let [port] = ports::free().unwrap();
        let images = tag.into_iter().flat_map(|tag| {
            ["pilot", "install-cni", "proxyv2"].map(|name| (name, format!("registry.example/{name}:{tag}")))
        });
        let mut command = Command::new(BINARY);
        command
            .args(["operator", "run", "--kind", "Istio", "--monitoring-host", "127.0.0.1"])
            .args(["--monitoring-port", &port.to_string(), "--log-level", "info,mizzen_operator=debug"])
            .args(["--as", "system:serviceaccount:kyma-system:istio-controller-manager"])
            .args(further)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .env_clear()
            .envs(images)
            .env("RENEW_DEADLINE", "3s");
        (Part::start("operator", command).unwrap(), port)
    }

    pub(crate) async fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        self.here.get(("operator.kyma-project.io", "Istio"), namespace, name).await
    }

    /// Waits for a state of a resource with this reason of its condition `Ready`, about the spec as it is now.
    pub(crate) async fn says(
        &self,
        operator: &Part,
        place: (&str, &str),
        state: &str,
        reason: &str,
    ) -> Result<Value> {
        let probe = async || {
            let resource = self.get(place.0, place.1).await.unwrap_or_default();
            let status = resource["status"].clone();
            let is_current = status["observedGeneration"] == resource["metadata"]["generation"];
            let found =
                is_current && status["state"] == state && condition(&status, "Ready")["reason"] == reason;
            Seen::from_option(found.then(|| status.clone()), || status.to_string())
        };
        operator.until(&format!("{place:?} to be {state} by {reason}"), PATIENCE, probe).await
    }

    /// Waits until this is what came of the last look at a resource: it says when the next one is.
    pub(crate) async fn comes_to(&self, operator: &Part, place: (&str, &str), outcome: &str) -> Result<()> {
        let words = format!("{}/{}", place.0, place.1);
        let probe = async || {
            let log = operator.log();
            let last = log.lines().rfind(|line| line.contains("a pass") && line.contains(&words));
            let last = last.unwrap_or_default().to_owned();
            Seen::when(last.contains(&format!("outcome={outcome} ")), || last)
        };
        operator.until(&format!("a look at {place:?} to come to {outcome}"), PATIENCE, probe).await
    }

    /// From now on the API server refuses what the expression does not allow, whoever asks for it.
    pub(crate) async fn forbid(&self, (group, resource): (&str, &str), unless: &str) -> Result<()> {
        let name = format!("{resource}.test");
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": { "name": name },
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": { "resourceRules": [{
                    "apiGroups": [group], "apiVersions": ["*"], "resources": [resource], "operations": ["CREATE", "UPDATE"],
                }] },
                "validations": [{ "expression": unless, "message": "not today" }],
            },
        });
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": { "name": name },
            "spec": { "policyName": name, "validationActions": ["Deny"] },
        });
        for object in [policy, binding] {
            self.here.site.server.apply(&object.to_string()).await?;
        }
        Ok(())
    }

    pub(crate) async fn allow(&self, resource: &str) -> Result<()> {
        let name = format!("{resource}.test");
        self.here.kubectl(&format!("delete validatingadmissionpolicybinding {name}")).await?;
        self.here.kubectl(&format!("delete validatingadmissionpolicy {name}")).await.map(drop)
    }

    pub(crate) async fn until_gone(&self, operator: &Part, name: &str) -> Result<()> {
        let probe = async || {
            let resource = self.get("kyma-system", name).await;
            Seen::when(resource.is_none(), || resource.unwrap_or_default()["status"].to_string())
        };
        // What is blocked is looked at once a minute.
        operator.until(&format!("{name} to be gone"), PATIENCE * 2, probe).await
    }

    pub(crate) async fn until_no_namespace(&self) -> Result<()> {
        self.here.kubectl("wait --for=delete namespace/istio-system --timeout=120s").await.map(drop)
    }
}

pub(crate) fn condition(status: &Value, kind: &str) -> Value {
    let all = status["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}
