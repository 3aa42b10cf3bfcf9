//! When network policies are switched, connections that are there already outlive them: the parts of the mesh are restarted, so that
//! the policies hold at once.

use mizzen_api::istio::Spec;

/// Another one than for what a gateway reads, which would be forgotten otherwise, and each restart be the cause of another.
pub(super) const MARK: &str = "mizzen.io/restarted-for-policies";

pub(super) fn cause(spec: &Spec) -> String {
    format!("networkPoliciesEnabled is {}", spec.network_policies_enabled)
}
