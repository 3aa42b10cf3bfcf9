//! The objects that Istio's charts make: workloads, services, autoscalers, budgets.

use std::{path::Path, process::Command};

use mizzen_testkit::tools;
use mizzen_text::{Source, yaml};
use serde_json::Value;

const KINDS: &[&str] = &[
    "ConfigMap",
    "DaemonSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "MutatingWebhookConfiguration",
    "PodDisruptionBudget",
    "Role",
    "Service",
    "ServiceAccount",
];

pub(crate) fn rendered() -> Vec<Value> {
    let manifests = tools::folder("modules/istio").unwrap().join("manifests");
    let mut objects = Vec::new();
    // A budget is made only where there are two of something.
    let gateways = ["components.egressGateways[0].enabled=true", "values.pilot.autoscaleMin=2"];
    for sets in [&["profile=ambient"][..], &gateways] {
        objects.extend(render(&manifests, sets));
    }
    objects.retain(|object| object["kind"].as_str().is_some_and(|kind| KINDS.contains(&kind)));
    // Large texts only make it slow.
    objects.retain(|object| object.to_string().len() < 20_000);
    assert!(objects.len() > 20, "{} objects", objects.len());
    for kind in ["Deployment", "DaemonSet", "HorizontalPodAutoscaler", "PodDisruptionBudget", "Service"] {
        assert!(objects.iter().any(|object| object["kind"] == kind), "no {kind}");
    }
    objects
}

fn render(manifests: &Path, sets: &[&str]) -> Vec<Value> {
    let output = Command::new(tools::command("istioctl").unwrap())
        .args(["manifest", "generate", "--manifests"])
        .arg(manifests)
        .args(sets.iter().flat_map(|set| ["--set", set]))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let source = Source::new("istioctl", output.stdout);
    let documents = yaml::load_all(&source, &yaml::Options::KUBERNETES);
    documents.map(|document| document.unwrap().value).collect()
}
