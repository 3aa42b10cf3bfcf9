//! `.Capabilities`: what a chart may ask about the cluster that it is rendered for.

use super::version::Version;

#[derive(Clone, Debug)]
pub struct Capabilities {
    pub kube_version: KubeVersion,
    /// Groups with versions, and what else a caller knows: `apps/v1`, `networking.k8s.io/v1/Ingress`.
    pub api_versions: Vec<String>,
    /// Of Helm's library, whose behaviour this is.
    pub helm_version: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeVersion {
    /// With everything: `v1.33.4-gke.1245000`
    pub version: String,
    pub major: String,
    pub minor: String,
}

impl KubeVersion {
    /// `1.32`, `v1.32.0`, `v1.33.4-gke.1245000`
    pub fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let numbers = bare.find(|c: char| !c.is_ascii_digit() && c != '.').map_or(bare, |end| &bare[..end]);
        let numbers = numbers.trim_end_matches('.');
        // Kubernetes wants a minor version, too.
        let version = Version::parse(numbers).filter(|_| numbers.contains('.'))?;
        let full = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        let (major, minor, _) = version.numbers();
        Some(Self { version: full, major: major.to_string(), minor: minor.to_string() })
    }

    /// Without suffixes, for comparing: `v1.33.4`
    pub fn normalized(&self) -> String {
        let bare = self.version.trim_start_matches('v');
        let end = bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
        match Version::parse(bare[..end].trim_end_matches('.')).map(|version| version.numbers()) {
            Some((major, minor, patch)) => format!("v{major}.{minor}.{patch}"),
            None => self.version.clone(),
        }
    }
}

impl Capabilities {
    /// For a cluster of this version; what it is not told of is as Helm assumes it.
    #[must_use]
    pub fn with_kube_version(mut self, version: KubeVersion) -> Self {
        self.kube_version = version;
        self
    }
}

/// What Helm assumes where it speaks to no cluster.
impl Default for Capabilities {
    fn default() -> Self {
        let kube_version = KubeVersion { version: "v1.32.0".into(), major: "1".into(), minor: "32".into() };
        Self {
            kube_version,
            api_versions: API_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            helm_version: "v4.2".to_owned(),
        }
    }
}

/// What client-go 0.36 knows, in its order.
const API_VERSIONS: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_version_keeps_its_suffix_but_is_compared_without() {
        for (text, version, minor, normalized) in [
            ("1.30", "v1.30", "30", "v1.30.0"),
            ("v1.33.4-gke.1245000", "v1.33.4-gke.1245000", "33", "v1.33.4"),
            ("1.32.0+k3s1", "v1.32.0+k3s1", "32", "v1.32.0"),
        ] {
            let parsed = KubeVersion::parse(text).unwrap();
            assert_eq!((parsed.version.as_str(), parsed.minor.as_str()), (version, minor));
            assert_eq!(parsed.normalized(), normalized);
        }
        for text in ["", "v", "1", "x.y", "latest"] {
            assert_eq!(KubeVersion::parse(text), None, "{text}");
        }
    }
}
