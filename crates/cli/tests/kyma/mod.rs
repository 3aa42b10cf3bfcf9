//! A cluster with the definition of the `Istio` resource, the operator for it beside, and looks at both.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod injected;
pub(crate) mod workloads;

use crate::{operated::Operated, site::BINARY};
use mizzen_testkit::{
    Part, Result, ports,
    wait::{self, PATIENCE, Seen},
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

/// What is always refused where something is forbidden.
const PROBE: &str = "forbidden-probe";

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

    /// Waits until a condition of a resource has this reason.
    pub(crate) async fn tells(
        &self,
        operator: &Part,
        place: (&str, &str),
        kind: &str,
        reason: &str,
    ) -> Result<Value> {
        let probe = async || {
            let status = self.get(place.0, place.1).await.unwrap_or_default()["status"].clone();
            let found = condition(&status, kind)["reason"] == reason;
            Seen::from_option(found.then(|| status.clone()), || status.to_string())
        };
        operator.until(&format!("{kind} of {place:?} to be for {reason}"), PATIENCE, probe).await
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

    /// Notes at a resource that another version is installed, with another spec, until the operator will not follow it. Again and again: a
    /// look that has begun before notes what it knows itself.
    pub(crate) async fn refuses_to_follow(
        &self,
        operator: &Part,
        (namespace, name): (&str, &str),
        tag: &str,
        spec: &Value,
    ) -> Result<Value> {
        let note = json!({
            "metadata": { "annotations": {
                "operator.kyma-project.io/lastAppliedConfiguration": json!({ "IstioTag": tag }).to_string(),
            } },
            "spec": spec,
        });
        let note = note.to_string();
        let probe = async || {
            let words = ["patch", "istio", name, "-n", namespace, "--type=merge", "-p", note.as_str()];
            self.here.site.server.kubectl(&words).await.unwrap();
            self.look(operator).await.unwrap();
            let status = self.get(namespace, name).await.unwrap_or_default()["status"].clone();
            let refused = condition(&status, "Ready")["reason"] == "IstioVersionUpdateNotAllowed"
                && status["state"] == "Warning";
            Seen::from_option(refused.then(|| status.clone()), || status.to_string())
        };
        operator.until(&format!("{tag} not to be followed"), PATIENCE, probe).await
    }

    /// From now on the API server refuses what the expression does not allow, whoever asks for it.
    pub(crate) async fn forbid(&self, (group, resource): (&str, &str), unless: &str) -> Result<()> {
        let name = format!("{resource}.test");
        let unless = format!("object.metadata.name != '{PROBE}' && ({unless})");
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
        // It takes the server a moment to hear of it.
        let probe = match resource {
            "deployments" => format!("create deployment {PROBE} --image=none --dry-run=server"),
            _ => "create -f - --dry-run=server".to_owned(),
        };
        let forbidden = async || {
            let words: Vec<&str> = probe.split(' ').collect();
            let peer = json!({
                "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
                "metadata": { "name": PROBE, "namespace": "default" }, "spec": {},
            });
            let answer = self.here.site.server.kubectl_reading(&peer.to_string(), &words).await;
            let told =
                answer.map_or_else(|error| error.to_string(), |answer| format!("it is allowed: {answer}"));
            Seen::when(told.contains("not today"), || told)
        };
        wait::until(&format!("{resource} to be forbidden"), PATIENCE, forbidden).await
    }

    pub(crate) async fn allow(&self, resource: &str) -> Result<()> {
        let name = format!("{resource}.test");
        self.here.kubectl(&format!("delete validatingadmissionpolicybinding {name}")).await?;
        self.here.kubectl(&format!("delete validatingadmissionpolicy {name}")).await.map(drop)
    }

    /// Makes it look again, by changes of its surroundings that change nothing; waits until it has. Twice: the first look to end may have
    /// begun before.
    pub(crate) async fn look(&self, operator: &Part) -> Result<()> {
        self.one_more_look(operator).await?;
        self.one_more_look(operator).await
    }

    async fn one_more_look(&self, operator: &Part) -> Result<()> {
        let looks = || operator.log().lines().filter(|line| line.contains("a pass")).count();
        let before = looks();
        if self.here.kubectl("delete configmap istio-features -n kyma-system").await.is_err() {
            self.here
                .kubectl("create configmap istio-features -n kyma-system --from-literal=features={}")
                .await?;
        }
        let looked = async || Seen::when(looks() > before, || "no further look".to_owned());
        operator.until("another look", PATIENCE, looked).await
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
