//! Whose cluster it is, by its nodes, and what that asks for: paths of network plugins, annotations for load balancers.

use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provider {
    #[default]
    Unknown,
    Gke,
    K3d,
    Aws(Balancer),
    OpenStack {
        gardener: bool,
    },
}

/// Which load balancer AWS puts in front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balancer {
    #[default]
    Network,
    /// The classic one, which is deprecated.
    Elastic,
}

const AWS: &str = "service.beta.kubernetes.io/aws-load-balancer-";

impl Provider {
    /// The first node that says something has it. `elb` is whether the ConfigMap `istio-system/elb-deprecated` is there, `ingress` the
    /// Service of the ingress gateway, if it is.
    pub fn of(nodes: &[Value], elb: bool, ingress: Option<&Value>) -> Self {
        let text = |node: &Value, pointer: &str| {
            node.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        for node in nodes {
            let kubelet = text(node, "/status/nodeInfo/kubeletVersion");
            let id = text(node, "/spec/providerID").to_ascii_lowercase();
            if has_build(&kubelet, "-gke.") {
                return Self::Gke;
            }
            if has_build(&kubelet, "+k3s") {
                return Self::K3d;
            }
            if id.starts_with("aws://") {
                let kind =
                    ingress.and_then(|service| service["metadata"]["annotations"].get(format!("{AWS}type")));
                let moved = kind.is_some_and(|kind| kind == "nlb");
                return Self::Aws(if elb && !moved { Balancer::Elastic } else { Balancer::Network });
            }
            if id.starts_with("openstack://") {
                let gardener =
                    nodes.iter().any(|node| text(node, "/status/nodeInfo/osImage").contains("Garden"));
                return Self::OpenStack { gardener };
            }
        }
        Self::Unknown
    }

    /// Laid over the `spec` of an IstioOperator.
    pub(super) fn overrides(self, dual_stack: bool) -> Value {
        let annotated = |annotations: Map<String, Value>| json!({ "values": { "gateways": { "istio-ingressgateway": { "serviceAnnotations": annotations } } } });
        let aws = |all: &[(&str, &str)]| {
            annotated(all.iter().map(|(name, value)| (format!("{AWS}{name}"), (*value).into())).collect())
        };
        match self {
            Self::Unknown | Self::OpenStack { gardener: false } => json!({}),
            Self::Gke => json!({ "values": { "cni": {
                "cniBinDir": "/home/kubernetes/bin", "resourceQuotas": { "enabled": true },
            } } }),
            Self::K3d => json!({ "values": { "cni": {
                "cniBinDir": "/var/lib/rancher/k3s/data/cni", "cniConfDir": "/var/lib/rancher/k3s/agent/etc/cni/net.d",
            } } }),
            Self::Aws(Balancer::Elastic) => {
                aws(&[("proxy-protocol", "*"), ("connection-idle-timeout", "4000")])
            }
            Self::Aws(Balancer::Network) if dual_stack => aws(&[
                ("type", "external"),
                ("scheme", "internet-facing"),
                ("nlb-target-type", "instance"),
                ("proxy-protocol", "*"),
            ]),
            Self::Aws(Balancer::Network) => {
                aws(&[("type", "nlb"), ("scheme", "internet-facing"), ("nlb-target-type", "instance")])
            }
            Self::OpenStack { gardener: true } => annotated(
                [("loadbalancer.openstack.org/proxy-protocol".to_owned(), "v1".into())].into_iter().collect(),
            ),
        }
    }

    /// Whether the load balancer tells the gateway by PROXY protocol who its client is.
    pub fn needs_proxy_protocol(self, dual_stack: bool) -> bool {
        match self {
            Self::Unknown | Self::Gke | Self::K3d => false,
            Self::Aws(Balancer::Network) => dual_stack,
            Self::Aws(Balancer::Elastic) | Self::OpenStack { .. } => true,
        }
    }
}

/// `v1.33.2` and then this mark with a number, and nothing else.
fn has_build(kubelet: &str, mark: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((version, build)) = kubelet.strip_prefix('v').and_then(|rest| rest.split_once(mark)) else {
        return false;
    };
    let numbers: Vec<&str> = version.split('.').collect();
    numbers.len() == 3 && numbers.into_iter().all(is_number) && is_number(build)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubelet_of_a_provider_says_so_to_the_letter() {
        for (kubelet, mark, expected) in [
            ("v1.33.2-gke.1000", "-gke.", true),
            ("v1.33.2-gke.", "-gke.", false),
            ("v1.33.2-gke.1-x", "-gke.", false),
            ("1.33.2-gke.1", "-gke.", false),
            ("v1.33-gke.1", "-gke.", false),
            ("v1.33.2+k3s1", "+k3s", true),
            ("v1.33.2+k3s1-rc", "+k3s", false),
            ("v1.33.2", "+k3s", false),
        ] {
            assert_eq!(has_build(kubelet, mark), expected, "{kubelet}");
        }
    }
}
