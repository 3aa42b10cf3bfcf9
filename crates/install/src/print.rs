//! The manifest as text: what others need comes first, every object as Go prints it.

use crate::{Generated, Manifest};

/// As `istioctl manifest generate` prints it, byte for byte.
pub fn print(generated: &Generated) -> String {
    let mut text = String::new();
    for manifest in sorted(generated) {
        manifest.print(&mut text);
        text.push_str("\n---\n");
    }
    text
}

/// All objects in the order in which they are printed.
pub fn sorted(generated: &Generated) -> Vec<&Manifest> {
    let mut all: Vec<&Manifest> = generated.components.iter().flat_map(|set| &set.objects).collect();
    all.sort_by_key(|manifest| (rank(manifest), manifest.group(), manifest.kind(), manifest.name()));
    all
}

fn rank(manifest: &Manifest) -> i32 {
    match (manifest.group(), manifest.kind()) {
        // Slow to be made, and others are instances of them.
        ("apiextensions.k8s.io", "CustomResourceDefinition") => -1000,
        ("", "ServiceAccount") | ("rbac.authorization.k8s.io", "ClusterRole") => 1,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => 2,
        // An old one may still refuse everything.
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => 3,
        // Pods wait for them. (`Secrets` is istioctl's word; nothing is called so.)
        ("", "ConfigMap" | "Secrets") => 100,
        ("autoscaling", "HorizontalPodAutoscaler") => 1001,
        // Only when something answers.
        ("", "Service") => 10_000,
        _ => 1000,
    }
}
