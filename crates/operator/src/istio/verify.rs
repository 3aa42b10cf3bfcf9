//! Whether the pods of the mesh are of the version that was installed.

use mizzen_install::Version;
use serde_json::Value;

const CONTAINERS: [&str; 3] = ["discovery", "istio-proxy", "install-cni"];

/// `target` is a tag; pods that are on their way out, or that have ended and lie about, do not count.
pub(super) fn verify(pods: &[Value], target: &str) -> Result<(), String> {
    let mut seen = false;
    let has_ended = |pod: &Value| pod["status"]["phase"] == "Failed" || pod["status"]["phase"] == "Succeeded";
    let is_going = |pod: &Value| pod.pointer("/metadata/deletionTimestamp").is_some();
    for pod in pods.iter().filter(|pod| !is_going(pod) && !has_ended(pod)) {
        let containers = pod.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten();
        for container in containers {
            let text = |key: &str| container[key].as_str().unwrap_or_default();
            let Some(tag) = tag_of(text("image")).filter(|_| CONTAINERS.contains(&text("name"))) else {
                continue;
            };
            seen = true;
            if !is_same(tag, target) {
                let name = pod.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
                return Err(format!("container {} of Pod {name} has {tag}, not {target}", text("name")));
            }
        }
    }
    if seen { Ok(()) } else { Err("unable to obtain installed Istio image version".to_owned()) }
}

/// Without registry, tag and digest.
pub(super) fn name_of(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let (_, name) = image.rsplit_once('/').unwrap_or(("", image));
    name.split_once(':').map_or(name, |(name, _)| name)
}

/// Without a digest.
pub(super) fn tag_of(image: &str) -> Option<&str> {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    let (_, name) = image.rsplit_once('/').unwrap_or(("", image));
    name.split_once(':').map(|(_, tag)| tag)
}

/// The flavour does not count; a tag that is no version is compared as it stands.
fn is_same(one: &str, other: &str) -> bool {
    match (Version::of_tag(one), Version::of_tag(other)) {
        (Some(one), Some(other)) => {
            (one.major, one.minor, one.patch) == (other.major, other.minor, other.patch)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(container: &str, image: &str) -> Value {
        json!({ "metadata": { "name": "p" }, "spec": { "containers": [{ "name": container, "image": image }] } })
    }

    #[test]
    fn all_pods_have_the_version_whatever_its_flavour() {
        let good = [
            pod("discovery", "r:5000/pilot:1.31.0-distroless@sha256:a"),
            pod("istio-proxy", "r/proxyv2:1.31.0"),
        ];
        assert_eq!(verify(&good, "1.31.0-debug"), Ok(()));
        let old = [good[0].clone(), pod("istio-proxy", "r/proxyv2:1.30.0")];
        assert_eq!(
            verify(&old, "1.31.0"),
            Err("container istio-proxy of Pod p has 1.30.0, not 1.31.0".to_owned())
        );
        let mut going = pod("istio-proxy", "r/proxyv2:1.30.0");
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(verify(&[good[0].clone(), going], "1.31.0"), Ok(()));
        for (phase, counts) in [("Failed", false), ("Succeeded", false), ("Running", true), ("Pending", true)]
        {
            let mut evicted = pod("istio-proxy", "r/proxyv2:1.30.0");
            evicted["status"] = json!({ "phase": phase });
            assert_eq!(verify(&[good[0].clone(), evicted], "1.31.0").is_err(), counts, "{phase}");
        }
        assert_eq!(verify(&[pod("discovery", "r/pilot:dev")], "dev"), Ok(()));
        for nothing in [vec![], vec![pod("other", "r/other:1.31.0")], vec![pod("istio-proxy", "auto")]] {
            assert!(verify(&nothing, "1.31.0").is_err_and(|text| text.contains("unable to obtain")));
        }
    }
}
