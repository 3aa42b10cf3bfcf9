//! Why a pod has to be made anew, if it has.

use super::pod::Pod;
use serde_json::Value;

/// In the order of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// Its sidecar has another image.
    OtherImage,
    /// It was set up by an init container where node agents do it, or the other way round.
    OtherSetUp,
    /// It should have a sidecar, and has none.
    NoSidecar,
}

impl Group {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::OtherImage => "its sidecar has another image",
            Self::OtherSetUp => "its sidecar was set up in another way",
            Self::NoSidecar => "it should have a sidecar",
        }
    }
}

/// What sidecars should be.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    /// Where their images are, with a slash behind it.
    pub(super) prefix: String,
    /// Their tag; empty where nobody knows.
    pub(super) version: String,
    pub(super) node_agents: bool,
    /// Whether namespaces that say nothing are injected.
    pub(super) by_default: bool,
}

/// What a namespace says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Injection {
    #[default]
    Unsaid,
    On,
    Off,
}

impl Injection {
    /// With the name of the namespace.
    pub(super) fn of(namespace: &Value) -> Option<(String, Self)> {
        let metadata = &namespace["metadata"];
        let label = |name: &str| metadata["labels"].get(name).and_then(Value::as_str);
        let said = match (label("istio-injection"), label("istio.io/rev")) {
            (Some("disabled"), _) => Self::Off,
            (None, None) => Self::Unsaid,
            _ => Self::On,
        };
        Some((metadata["name"].as_str()?.to_owned(), said))
    }
}

/// Of these only the image of a sidecar counts.
const SYSTEM: [&str; 3] = ["kube-system", "kube-public", "istio-system"];

pub(super) fn group(pod: &Pod, proxies: &Proxies, namespace: Injection) -> Option<Group> {
    let other = |image: &String| !image.starts_with(&proxies.prefix) || !image.ends_with(&proxies.version);
    if pod.sidecars.as_ref().is_some_and(|images| images.iter().any(other)) {
        return Some(Group::OtherImage);
    }
    if SYSTEM.contains(&pod.namespace.as_str()) {
        return None;
    }
    if if proxies.node_agents { pod.has_init } else { pod.has_validation } {
        return Some(Group::OtherSetUp);
    }
    (pod.sidecars.is_none() && needs_sidecar(pod, proxies.by_default, namespace)).then_some(Group::NoSidecar)
}

/// The rows in their order.
fn needs_sidecar(pod: &Pod, by_default: bool, namespace: Injection) -> bool {
    let (label, annotation) = (pod.inject_label.as_deref(), pod.inject_annotation.as_deref());
    let unsaid = !by_default && namespace == Injection::Unsaid;
    let exempt = pod.host_network
        || namespace == Injection::Off
        || label == Some("false")
        || (label.is_none() && annotation == Some("false"))
        // An annotation is read only where a webhook looks, which it does not in a namespace that says nothing.
        || (unsaid && label.is_none() && annotation == Some("true"))
        || (unsaid && label.is_none() && annotation.is_none());
    !exempt
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn proxies() -> Proxies {
        Proxies { prefix: "r/istio/".into(), version: "1.31.0".into(), node_agents: false, by_default: false }
    }

    fn pod(change: impl Fn(&mut Pod)) -> Pod {
        let mut pod = Pod { namespace: "shop".into(), name: "p".into(), ..Pod::default() };
        change(&mut pod);
        pod
    }

    fn with(image: &str) -> Pod {
        pod(|pod| pod.sidecars = Some(vec![image.to_owned()]))
    }

    #[test]
    fn group_a_an_image_from_elsewhere_or_of_another_version() {
        let of = |pod: &Pod| group(pod, &proxies(), Injection::On);
        assert_eq!(of(&with("r/istio/proxyv2:1.31.0")), None);
        assert_eq!(of(&with("r/istio/proxyv2:1.30.0")), Some(Group::OtherImage));
        assert_eq!(of(&with("other/proxyv2:1.31.0")), Some(Group::OtherImage));
        let system = Pod { namespace: "istio-system".into(), ..with("r/istio/proxyv2:1.30.0") };
        assert_eq!(of(&system), Some(Group::OtherImage), "the image counts everywhere");
        let unknown = Proxies { prefix: String::new(), version: String::new(), ..proxies() };
        assert_eq!(group(&with("any"), &unknown, Injection::On), None);
    }

    #[test]
    fn group_b_the_wrong_init_container_for_the_mode() {
        let agents = Proxies { node_agents: true, ..proxies() };
        let init = Pod { has_init: true, ..with("r/istio/proxyv2:1.31.0") };
        let validation = Pod { has_validation: true, ..with("r/istio/proxyv2:1.31.0") };
        for (pod, proxies, expected) in [
            (&init, &agents, Some(Group::OtherSetUp)),
            (&init, &proxies(), None),
            (&validation, &proxies(), Some(Group::OtherSetUp)),
            (&validation, &agents, None),
        ] {
            assert_eq!(group(pod, proxies, Injection::On), expected, "{pod:?}");
        }
        for namespace in SYSTEM {
            let pod = Pod { namespace: namespace.into(), ..init.clone() };
            assert_eq!(group(&pod, &agents, Injection::On), None, "{namespace}");
        }
    }

    #[test]
    fn group_c_row_by_row() {
        use Injection::{Off, On, Unsaid};
        let label = |value: &'static str| move |pod: &mut Pod| pod.inject_label = Some(value.into());
        let annotation =
            |value: &'static str| move |pod: &mut Pod| pod.inject_annotation = Some(value.into());
        let plain = pod(|_| {});
        let cases = [
            ("host network", pod(|pod| pod.host_network = true), true, On, false),
            ("the namespace says no", plain.clone(), true, Off, false),
            ("the namespace says no, whatever the pod says", pod(label("true")), true, Off, false),
            ("the pod's label says no", pod(label("false")), true, On, false),
            ("the pod's annotation says no", pod(annotation("false")), true, On, false),
            (
                "a label counts more than an annotation",
                {
                    let mut both = pod(annotation("false"));
                    both.inject_label = Some("true".into());
                    both
                },
                false,
                Unsaid,
                true,
            ),
            ("nobody looks at the annotation", pod(annotation("true")), false, Unsaid, false),
            ("nobody says anything", plain.clone(), false, Unsaid, false),
            ("the namespace says yes", plain.clone(), false, On, true),
            ("by default", plain, true, Unsaid, true),
            ("by default, with an annotation", pod(annotation("true")), true, Unsaid, true),
            ("the pod's label alone", pod(label("true")), false, Unsaid, true),
        ];
        for (row, pod, by_default, namespace, expected) in cases {
            assert_eq!(needs_sidecar(&pod, by_default, namespace), expected, "{row}");
            let proxies = Proxies { by_default, ..proxies() };
            assert_eq!(group(&pod, &proxies, namespace) == Some(Group::NoSidecar), expected, "{row}");
            let system = Pod { namespace: "kube-system".into(), ..pod };
            assert_eq!(group(&system, &proxies, namespace), None, "{row}");
        }
    }

    #[test]
    fn a_namespace_speaks_by_its_labels() {
        let of = |labels: Value| {
            Injection::of(&json!({ "metadata": { "name": "n", "labels": labels } })).unwrap().1
        };
        assert_eq!(of(json!({})), Injection::Unsaid);
        assert_eq!(of(json!({ "istio-injection": "enabled" })), Injection::On);
        assert_eq!(of(json!({ "istio.io/rev": "default" })), Injection::On);
        assert_eq!(of(json!({ "istio-injection": "disabled", "istio.io/rev": "default" })), Injection::Off);
    }
}
