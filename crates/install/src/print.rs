//! The manifest as text: what others need comes first, every object as Go prints it.

use crate::{Generated, Manifest};

/// What stands behind every object.
const END: &str = "\n\n---\n";

/// As `istioctl manifest generate` prints it, byte for byte, in pieces: it is a megabyte.
pub fn print<E>(generated: &Generated, mut write: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    sorted(generated).into_iter().try_for_each(|manifest| {
        write(&manifest.printed())?;
        write(END)
    })
}

/// The same as one text.
pub fn printed(generated: &Generated) -> String {
    let mut text = String::new();
    let Ok(()) = print(generated, |piece| {
        text.push_str(piece);
        Ok::<_, std::convert::Infallible>(())
    });
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
