//! Which versions run in a cluster: of control planes, and of the proxies that they serve.
//!
//! In: the pods of a cluster, and what the processes in them answer. Out: versions in istioctl's shape. A process that cannot be
//! asked (debug pages are for callers on the same machine; a pod may be reachable from nowhere) is known by its image.

mod ask;
pub(crate) mod image;

use serde::Serialize;
use serde_json::Value;

use image::version_of;

/// How a version is known, where not from the process itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Image,
}

/// One process of a control plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Server {
    /// `pilot`
    pub component: String,
    pub revision: String,
    pub info: Info,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Info {
    pub version: String,
    pub revision: String,
    pub golang_version: String,
    pub status: String,
    pub tag: String,
}

/// One proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Proxy {
    /// `pod.namespace`
    #[serde(rename = "ID")]
    pub id: String,
    pub istio_version: String,
    /// `sidecar`, `gateway`, …
    #[serde(rename = "Type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub servers: Vec<Server>,
    /// None where nobody may know.
    pub proxies: Option<Vec<Proxy>>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotRunning {
    #[error("no running Istio pods in namespace {0:?}")]
    NoPods(String),
    #[error(transparent)]
    Refused(#[from] mizzen_cluster::Refused),
}

impl Info {
    /// Of what a control plane answers: `1.31.0-<commit>-Clean`, or a version alone.
    fn read(answer: &str) -> Self {
        let answer = answer.trim();
        let plain = Self { version: answer.to_owned(), ..Self::default() };
        let Some((rest, status @ ("Clean" | "Modified" | "unknown"))) = answer.rsplit_once('-') else {
            return plain;
        };
        // Sources that were changed: `<commit>-dirty`.
        let (rest, dirty) = rest.strip_suffix("-dirty").map_or((rest, ""), |rest| (rest, "-dirty"));
        let Some((version, revision)) = rest.rsplit_once('-') else { return plain };
        Self {
            version: version.to_owned(),
            revision: format!("{revision}{dirty}"),
            status: status.to_owned(),
            tag: version.to_owned(),
            ..Self::default()
        }
    }
}

/// A pod of a control plane, with what it answers if it does.
fn server(pod: &Value, answer: Option<&str>) -> Server {
    let label = |name: &str| pod["metadata"]["labels"][name].as_str().unwrap_or_default().to_owned();
    let answer = answer.filter(|answer| !answer.trim().is_empty());
    let by_image = || Info { version: version_of(pod, "discovery").unwrap_or_default(), ..Info::default() };
    Server {
        component: label("istio"),
        revision: label("istio.io/rev"),
        info: answer.map_or_else(by_image, Info::read),
        source: answer.is_none().then_some(Source::Image),
    }
}

/// Those that a control plane says are connected to it; none if that is no such page.
fn connected(page: &str) -> Option<Vec<Proxy>> {
    let page: Vec<Value> = serde_json::from_str(page).ok()?;
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let proxies = page.iter().map(|entry| Proxy {
        id: text(entry, "proxy"),
        istio_version: text(entry, "istio_version"),
        kind: kind(&text(entry, "proxy_type")),
        source: None,
    });
    Some(proxies.collect())
}

/// A pod with a proxy in it.
fn proxy(pod: &Value) -> Option<Proxy> {
    let container = image::container(pod, "istio-proxy")?;
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
    Some(Proxy {
        id: format!("{}.{}", text("name"), text("namespace")),
        istio_version: version_of(pod, "istio-proxy").unwrap_or_default(),
        kind: kind(container["args"][1].as_str().unwrap_or("sidecar")),
        source: Some(Source::Image),
    })
}

/// As people call it.
fn kind(of_node: &str) -> String {
    if of_node == "router" { "gateway" } else { of_node }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_a_version_with_or_without_its_commit() {
        let read = |answer: &str| {
            let info = Info::read(answer);
            (info.version, info.revision, info.status)
        };
        let parts = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(read("1.31.0-0ab1-Clean\n"), parts("1.31.0", "0ab1", "Clean"));
        assert_eq!(read("1.31-alpha.0-0ab1-Modified"), parts("1.31-alpha.0", "0ab1", "Modified"));
        assert_eq!(read("0.1.0"), parts("0.1.0", "", ""));
        assert_eq!(read("1.31.0-rc.1-x"), parts("1.31.0-rc.1-x", "", ""));
    }

    #[test]
    fn a_process_that_cannot_be_asked_is_known_by_its_image() {
        let pod = json!({
            "metadata": { "labels": { "istio": "pilot", "istio.io/rev": "canary" } },
            "spec": { "containers": [{ "name": "discovery", "image": "r.example.com:5000/istio/pilot:1.31.0-distroless" }] },
        });
        let known = server(&pod, None);
        assert_eq!((known.info.version.as_str(), known.revision.as_str()), ("1.31.0", "canary"));
        let told = json!(known);
        assert_eq!(
            (&told["Component"], &told["source"], &told["Source"]),
            (&json!("pilot"), &Value::Null, &json!("image"))
        );
        let asked = json!(server(&pod, Some("1.30.2-0ab1-Clean")));
        assert_eq!((&asked["Info"]["version"], asked.get("Source")), (&json!("1.30.2"), None));
    }

    #[test]
    fn proxies_are_those_that_are_connected_or_those_that_are_in_pods() {
        let page = r#"[{"proxy":"a.n","proxy_type":"router","istio_version":"1.31.0"},{"proxy":"b.n"}]"#;
        let found = json!(connected(page).unwrap());
        assert_eq!(found[0], json!({ "ID": "a.n", "IstioVersion": "1.31.0", "Type": "gateway" }));
        assert_eq!(connected("no page"), None);
        let pod = json!({ "metadata": { "name": "p", "namespace": "n" }, "spec": { "initContainers": [
            { "name": "istio-proxy", "image": "proxyv2:1.30.1", "args": ["proxy", "sidecar"] }] } });
        let found = json!(proxy(&pod).unwrap());
        assert_eq!(
            found,
            json!({ "ID": "p.n", "IstioVersion": "1.30.1", "Type": "sidecar", "Source": "image" })
        );
        assert_eq!(proxy(&json!({ "spec": {} })), None);
    }
}
