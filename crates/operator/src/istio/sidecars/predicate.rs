//! Whether a sidecar is not what it should be.

use super::{
    proxy::Proxy,
    read_at_start::ReadAtStart,
    sidecar::{Amounts, Sidecar},
};
use crate::istio::size::thousandths;
use mizzen_api::istio::Spec;

const PATH: &str = "/stats/prometheus";

/// How it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outdated {
    /// It can be seen at the pod.
    Seen,
    /// By its age: what is read at the start has changed since.
    BySpec,
    /// There is none, and there should be one: it was made while nobody injected, or before its namespace asked for it.
    Bare,
}

pub(super) fn outdated(
    sidecar: &Sidecar,
    proxy: &Proxy,
    read: &ReadAtStart,
    spec: &Spec,
) -> Option<Outdated> {
    let merge = spec.config.telemetry.metrics.prometheus_merge;
    let set_up_otherwise = if proxy.node_agents { sidecar.has_init } else { sidecar.has_validation };
    if is_of_another_kind(sidecar, proxy) || is_scraped_otherwise(sidecar, proxy, merge) || set_up_otherwise {
        return Some(Outdated::Seen);
    }
    (!read.is_read_by(&sidecar.pod)).then_some(Outdated::BySpec)
}

/// Image and resources, unless somebody has said which.
fn is_of_another_kind(sidecar: &Sidecar, proxy: &Proxy) -> bool {
    if sidecar.own_image {
        return false;
    }
    let other_image = !proxy.image.is_empty() && sidecar.image != proxy.image;
    let Some(wanted) = wanted(sidecar, proxy) else { return false };
    other_image || !are_same(&sidecar.resources, &wanted)
}

/// Nothing where somebody has written what is no amount.
fn wanted(sidecar: &Sidecar, proxy: &Proxy) -> Option<Amounts> {
    let Some(own) = &sidecar.own_resources else {
        return Some(Amounts { request: proxy.request.clone(), limit: proxy.limit.clone() });
    };
    let mut wanted = own.clone();
    for (request, limit) in wanted.request.iter_mut().zip(&own.limit) {
        if request.is_empty() {
            request.clone_from(limit);
        }
    }
    let all = wanted.request.iter().chain(&wanted.limit).filter(|amount| !amount.is_empty());
    all.into_iter().all(|amount| thousandths(amount).is_some()).then_some(wanted)
}

fn are_same(one: &Amounts, other: &Amounts) -> bool {
    let same = |(one, other): (&String, &String)| match (thousandths(one), thousandths(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    };
    one.request.iter().zip(&other.request).chain(one.limit.iter().zip(&other.limit)).all(same)
}

fn is_scraped_otherwise(sidecar: &Sidecar, proxy: &Proxy, merge: bool) -> bool {
    if sidecar.unscraped {
        return false;
    }
    let merge = sidecar.own_merge.unwrap_or(merge);
    let path = sidecar.scraped_path.as_deref() == Some(PATH);
    let port = sidecar.scraped_port.as_deref() == Some(proxy.status_port.as_str());
    if merge { !path || !port } else { path || port }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn proxy() -> Proxy {
        Proxy {
            image: "r/proxyv2:2".into(),
            request: ["10m".into(), "192Mi".into()],
            limit: ["1000m".into(), "1Gi".into()],
            status_port: "15020".into(),
            node_agents: false,
        }
    }

    /// A good one, with something changed.
    fn pod(change: impl Fn(&mut Value)) -> Value {
        let mut pod = json!({
            "metadata": { "name": "p", "namespace": "n", "annotations": { "sidecar.istio.io/status": "{}" } },
            "spec": { "initContainers": [{ "name": "istio-init" }], "containers": [{
                "name": "istio-proxy", "image": "r/proxyv2:2",
                "resources": { "requests": { "cpu": "10m", "memory": "192Mi" }, "limits": { "cpu": "1", "memory": "1024Mi" } },
            }] },
            "status": { "phase": "Running", "conditions": [
                { "type": "Ready", "status": "True" }, { "type": "DisruptionTarget", "status": "False" },
            ] },
        });
        change(&mut pod);
        pod
    }

    fn judged(pod: &Value, proxy: &Proxy, config: &Value) -> Option<bool> {
        let spec = Spec::of(&json!({ "spec": { "config": config } })).unwrap();
        Some(outdated(&Sidecar::of(pod)?, proxy, &ReadAtStart::default(), &spec).is_some())
    }

    #[test]
    fn image_and_resources_are_compared_unless_somebody_has_said_which() {
        let is = |change: &dyn Fn(&mut Value)| judged(&pod(change), &proxy(), &json!({})).unwrap();
        let annotate = |pod: &mut Value, name: &str, value: &str| {
            pod["metadata"]["annotations"][format!("sidecar.istio.io/{name}")] = value.into();
        };
        assert!(!is(&|_| {}), "amounts are compared, not texts");
        assert!(is(&|pod| pod["spec"]["containers"][0]["image"] = "r/proxyv2:1".into()));
        assert!(is(&|pod| pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "2".into()));
        assert!(is(&|pod| pod["spec"]["containers"][0]["resources"] = json!({})));
        assert!(!is(&|pod| {
            pod["spec"]["containers"][0]["image"] = "r/proxyv2:1".into();
            annotate(pod, "proxyImage", "r/mine:1");
        }));
        assert!(is(&|pod| annotate(pod, "proxyCPU", "50m")), "the other amounts are none then");
        assert!(!is(&|pod| {
            annotate(pod, "proxyCPULimit", "50m");
            pod["spec"]["containers"][0]["resources"] =
                json!({ "requests": { "cpu": "0.05" }, "limits": { "cpu": "50m" } });
        }));
        assert!(!is(&|pod| {
            annotate(pod, "proxyCPU", "much");
            pod["spec"]["containers"][0]["image"] = "r/proxyv2:1".into();
        }));
    }

    #[test]
    fn a_native_sidecar_is_one_as_well_and_a_pod_in_trouble_is_none() {
        let native = pod(|pod| {
            let proxy = pod["spec"]["containers"][0].take();
            pod["spec"]["containers"] = json!([]);
            pod["spec"]["initContainers"] = json!([proxy]);
            pod["spec"]["initContainers"][0]["image"] = "r/proxyv2:1".into();
        });
        assert_eq!(judged(&native, &proxy(), &json!({})), Some(true));
        let none: [&dyn Fn(&mut Value); 4] = [
            &|pod| pod["status"]["conditions"][0]["status"] = "False".into(),
            &|pod| pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into(),
            &|pod| pod["metadata"]["annotations"] = json!({}),
            &|pod| pod["status"]["phase"] = "Succeeded".into(),
        ];
        for change in none {
            assert_eq!(judged(&pod(change), &proxy(), &json!({})), None);
        }
    }

    #[test]
    fn whoever_is_older_than_what_is_read_at_the_start_is_outdated_by_the_spec() {
        let mut read = ReadAtStart::default();
        read.since = Some("2026-01-01T00:00:10Z".parse().unwrap());
        let made = |second: u8| {
            let pod = pod(|pod| {
                pod["metadata"]["creationTimestamp"] = format!("2026-01-01T00:00:{second}Z").into();
            });
            outdated(&Sidecar::of(&pod).unwrap(), &proxy(), &read, &Spec::default())
        };
        assert_eq!(made(10), Some(Outdated::BySpec));
        assert_eq!(made(20), None);
    }

    #[test]
    fn merged_metrics_and_node_agents_are_seen_at_the_pod() {
        let on = json!({ "telemetry": { "metrics": { "prometheusMerge": true } } });
        let scraped = |path: &str, port: &str| {
            pod(|pod| {
                pod["metadata"]["annotations"]["prometheus.io/path"] = path.into();
                pod["metadata"]["annotations"]["prometheus.io/port"] = port.into();
            })
        };
        let is = |pod: &Value, spec: &Value| judged(pod, &proxy(), spec).unwrap();
        assert!(!is(&scraped(PATH, "15020"), &on) && is(&scraped(PATH, "15020"), &json!({})));
        assert!(is(&scraped("/metrics", "8080"), &on) && !is(&scraped("/metrics", "8080"), &json!({})));
        assert!(is(&scraped("/metrics", "15020"), &on) && is(&scraped("/metrics", "15020"), &json!({})));

        let said = |name: &str, value: &str| {
            pod(|pod| pod["metadata"]["annotations"][format!("prometheus.{name}")] = value.into())
        };
        assert!(is(&said("io/scrape", "true"), &on) && !is(&said("io/scrape", "false"), &on));
        assert!(!is(&said("istio.io/merge-metrics", "false"), &on));
        assert!(is(&said("istio.io/merge-metrics", "true"), &json!({})));

        let agents = Proxy { node_agents: true, ..proxy() };
        let validated = pod(|pod| pod["spec"]["initContainers"] = json!([{ "name": "istio-validation" }]));
        assert_eq!(judged(&validated, &agents, &json!({})), Some(false));
        assert_eq!(judged(&validated, &proxy(), &json!({})), Some(true));
        assert_eq!(judged(&pod(|_| {}), &agents, &json!({})), Some(true));
    }
}
