//! Why a condition is as it is: upstream's words, with its typing error.

pub(super) struct Reason {
    pub(super) name: &'static str,
    /// The condition that it is a reason of.
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) message: &'static str,
}

pub(super) const READY: &str = "Ready";
const SIDECARS: &str = "ProxySidecarRestartSucceeded";
const FILTERS: &str = "IngressTargetingUserResourceFound";

const fn ready(name: &'static str, status: &'static str, message: &'static str) -> Reason {
    Reason { name, kind: READY, status, message }
}

pub(super) const SUCCEEDED: Reason = ready("ReconcileSucceeded", "True", "Reconciliation succeeded");
pub(super) const FAILED: Reason = ready("ReconcileFailed", "False", "Reconciliation failed");
pub(super) const UNKNOWN: Reason = ready(
    "ReconcileUnknown",
    "Unknown",
    "Module readiness is unknown. Either a reconciliation is progressing, or failed previously. Check status of other conditions",
);
pub(super) const VALIDATION: Reason = ready(
    "ValidationFailed",
    "False",
    "Reconciliation did not happen as Istio Custom Resource failed to validate",
);
pub(super) const OLDER_EXISTS: Reason = ready(
    "OlderCRExists",
    "False",
    "This Istio custom resource is not the oldest one and does not represent the module state",
);
pub(super) const OLDEST_NOT_FOUND: Reason =
    ready("OldestCRNotFound", "False", "Oldest Istio custom resource could not be found");
pub(super) const INSTALL_NOT_NEEDED: Reason =
    ready("IstioInstallNotNeeded", "False", "Istio installation is not needed");
/// While the rest is seen to.
pub(super) const INSTALLED: Reason = ready("IstioInstallSucceeded", "False", "Istio installation succeeded");
pub(super) const UNINSTALLED: Reason =
    ready("IstioUninstallSucceeded", "False", "Istio uninstallation succeded");
pub(super) const INSTALL_FAILED: Reason =
    ready("IstioInstallUninstallFailed", "False", "Istio install or uninstall failed");
pub(super) const MISCONFIGURED: Reason =
    ready("IstioCustomResourceMisconfigured", "False", "Istio custom resource has invalid configuration");
pub(super) const DANGLING: Reason = ready(
    "IstioCustomResourcesDangling",
    "False",
    "Istio deletion blocked because of existing Istio custom resources",
);
pub(super) const UPDATE_NOT_ALLOWED: Reason =
    ready("IstioVersionUpdateNotAllowed", "False", "Update to the new Istio version is not allowed");
pub(super) const RESOURCES_FAILED: Reason =
    ready("CustomResourcesReconcileFailed", "False", "Custom resources reconciliation failed");

/// While the rest is seen to, and only where it was restarted.
pub(super) const GATEWAY_RESTARTED: Reason =
    ready("IngressGatewayRestartSucceeded", "False", "Istio Ingress Gateway restart succeeded");
pub(super) const GATEWAY_NOT_RESTARTED: Reason =
    ready("IngressGatewayRestartFailed", "False", "Istio Ingress Gateway restart failed");

pub(super) const SIDECARS_RESTARTED: Reason = Reason {
    name: "ProxySidecarRestartSucceeded",
    kind: SIDECARS,
    status: "True",
    message: "Proxy sidecar restart succeeded",
};
pub(super) const SIDECARS_NOT_RESTARTED: Reason = Reason {
    name: "ProxySidecarRestartFailed",
    kind: SIDECARS,
    status: "False",
    message: "Proxy sidecar restart failed",
};
/// Ours.
pub(super) const NOBODY_INJECTS: Reason = Reason {
    name: "NobodyInjects",
    kind: SIDECARS,
    status: "False",
    message: "Nobody serves the injection webhook",
};
pub(super) const SIDECARS_BY_HAND: Reason = Reason {
    name: "ProxySidecarManualRestartRequired",
    kind: SIDECARS,
    status: "False",
    message: "Proxy sidecar manual restart is required for some workloads",
};

pub(super) const FILTER_FOUND: Reason = Reason {
    name: "IngressTargetingUserResourceFound",
    kind: FILTERS,
    status: "True",
    message: "Resource targeting Istio Ingress Gateway found",
};
pub(super) const NO_FILTER_FOUND: Reason = Reason {
    name: "IngressTargetingUserResourceNotFound",
    kind: FILTERS,
    status: "False",
    message: "Resources targeting Istio Ingress Gateway not found",
};
pub(super) const FILTERS_NOT_READ: Reason = Reason {
    name: "IngressTargetingUserResourceDetectionFailed",
    kind: FILTERS,
    status: "Unknown",
    message: "Resource targeting Istio Ingress Gateway detection failed",
};

// Ours.
pub(super) const NODE_AGENTS: &str = "CNIInstalled";
pub(super) const NO_NODE_AGENTS: Reason = Reason {
    name: "CNINotInDistribution",
    kind: NODE_AGENTS,
    status: "False",
    message: "Mizzen's own charts have no node agents: sidecars are set up by an init container. spec.mizzen.distribution: istio has them",
};
pub(super) const WITHOUT_EFFECT: &str = "AllWishesGranted";
pub(super) const NOT_BUILT: Reason = Reason {
    name: "NotPossibleHere",
    kind: WITHOUT_EFFECT,
    status: "False",
    message: "Something that was asked for has no effect here",
};
pub(super) const NOTED: Reason = Reason {
    name: "ChartsSaySo",
    kind: "InstalledWithoutWarnings",
    status: "False",
    message: "The charts have something to say",
};
