//! Which kinds have to be there before others.

/// Lower ranks first; those of one rank need nothing of each other. Deleting goes the other way, but for webhooks, which go first:
/// nothing may ask a server that is going.
pub fn rank(kind: &str) -> u8 {
    match kind {
        "Namespace" | "CustomResourceDefinition" => 0,
        "ServiceAccount" | "ClusterRole" | "Role" | "ConfigMap" | "Secret" | "PriorityClass"
        | "ResourceQuota" => 1,
        "ClusterRoleBinding" | "RoleBinding" | "Service" | "PodDisruptionBudget" | "NetworkPolicy" => 2,
        kind if has_pods(kind) => 4,
        "HorizontalPodAutoscaler" => 5,
        _ => 3,
    }
}

/// Workloads, and pods themselves.
pub(crate) fn has_pods(kind: &str) -> bool {
    matches!(kind, "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet" | "Job" | "CronJob" | "Pod")
}

/// Lower ranks go first.
pub fn rank_of_deletion(kind: &str) -> u8 {
    match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => 0,
        kind => 6 - rank(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_before_who_needs_it_and_goes_after() {
        let order = [
            "CustomResourceDefinition",
            "ServiceAccount",
            "RoleBinding",
            "EnvoyFilter",
            "Deployment",
            "HorizontalPodAutoscaler",
        ];
        assert!(order.is_sorted_by(|a, b| rank(a) < rank(b)));
        assert!(order.is_sorted_by(|a, b| rank_of_deletion(a) > rank_of_deletion(b)));
        assert_eq!(rank_of_deletion("ValidatingWebhookConfiguration"), 0);
    }
}
