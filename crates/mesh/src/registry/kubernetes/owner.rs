//! What telemetry calls a pod: the thing that a person made and that the pod came from.

use crate::input;

/// The label of a pod goes before everything else; then what can be guessed from its controller, since the objects in
/// between are not watched.
pub(super) fn owner(pod: &input::Pod) -> &str {
    let labels = &pod.metadata.labels;
    let label = |key: &str| labels.get(key).map(String::as_str);
    if let Some(name) = label("service.istio.io/workload-name") {
        return name;
    }
    let controller = match &pod.controller {
        // A name that a person gave says more than its owner.
        Some(controller) if !pod.metadata.generate_name.is_empty() && !controller.name.is_empty() => {
            controller
        }
        _ => return &pod.metadata.name,
    };
    let name = controller.name.as_str();
    let without = |hash: &str| {
        label(hash)
            .filter(|hash| !hash.is_empty() && name.ends_with(hash))
            .map(|hash| name.strip_suffix(hash).and_then(|rest| rest.strip_suffix('-')).unwrap_or(name))
    };
    let guessed = match controller.kind.as_str() {
        "ReplicaSet" => without("pod-template-hash").or_else(|| without("rollouts-pod-template-hash")),
        "ReplicationController" => label("deploymentconfig").filter(|name| !name.is_empty()),
        "Job" => cron_job(name),
        _ => None,
    };
    match guessed.unwrap_or(name) {
        "" => &pod.metadata.name,
        name => name,
    }
}

/// `name-<8 to 10 digits>`, as a CronJob names its jobs.
fn cron_job(job: &str) -> Option<&str> {
    let (name, time) = job.rsplit_once('-')?;
    let is_time = (8..=10).contains(&time.len()) && time.bytes().all(|digit| digit.is_ascii_digit());
    (is_time && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Owner, Pod};
    use mizzen_api::Metadata;

    #[test]
    fn a_pod_is_called_by_what_a_person_made() {
        for (kind, controller, label, name) in [
            ("ReplicaSet", "web-5d4f", Some(("pod-template-hash", "5d4f")), "web"),
            ("ReplicaSet", "web-5d4f", Some(("rollouts-pod-template-hash", "5d4f")), "web"),
            ("ReplicaSet", "web-5d4f", Some(("pod-template-hash", "other")), "web-5d4f"),
            ("ReplicaSet", "web-5d4f", Some(("pod-template-hash", "")), "web-5d4f"),
            ("ReplicaSet", "5d4f", Some(("pod-template-hash", "5d4f")), "5d4f"),
            ("ReplicaSet", "web-5d4f", None, "web-5d4f"),
            ("ReplicationController", "web-1", Some(("deploymentconfig", "web")), "web"),
            ("ReplicationController", "web-1", None, "web-1"),
            ("Job", "clean-28123456", None, "clean"),
            ("Job", "clean-1234567", None, "clean-1234567"),
            ("Job", "clean-12345678901", None, "clean-12345678901"),
            ("Job", "clean-2812345x", None, "clean-2812345x"),
            ("StatefulSet", "db", None, "db"),
            ("StatefulSet", "db", Some(("service.istio.io/workload-name", "own")), "own"),
            ("StatefulSet", "", None, "the-pod"),
        ] {
            let labels = label.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let metadata = Metadata {
                name: "the-pod".to_owned(),
                generate_name: "the-".to_owned(),
                labels,
                ..Metadata::default()
            };
            let mut pod = Pod { metadata, controller: Some(Owner::new(kind, controller)), ..Pod::default() };
            assert_eq!(owner(&pod), name, "{kind} {controller} {label:?}");
            pod.metadata.generate_name.clear();
            pod.metadata.labels.clear();
            assert_eq!(owner(&pod), "the-pod", "its name was not generated");
        }
    }
}
