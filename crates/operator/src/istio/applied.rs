//! What was applied last, remembered at the resource: the spec, and with it the tag of what is installed.

use mizzen_api::istio::Spec;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Map, Value, json};

pub(crate) const ANNOTATION: &str = "operator.kyma-project.io/lastAppliedConfiguration";
const TAG: &str = "IstioTag";

/// As somebody wrote it; whoever wrote nonsense there has forgotten everything.
fn remembered(resource: &Value) -> Option<Map<String, Value>> {
    let text = resource["metadata"]["annotations"].get(ANNOTATION)?.as_str()?;
    serde_json::from_str(text).ok()
}

/// The tag of the mesh that is installed; none before the first.
pub(super) fn tag(resource: &Value) -> Option<String> {
    remembered(resource)?.get(TAG)?.as_str().map(str::to_owned)
}

/// The spec that was applied; none before the first was.
pub(super) fn spec(resource: &Value) -> Option<Spec> {
    Spec::of(&json!({ "spec": remembered(resource)? })).ok()
}

/// Only the tag is new: what else was done is not known yet.
pub(super) fn with_tag(resource: &Value, tag: &str) -> String {
    let mut all = remembered(resource).unwrap_or_default();
    all.insert(TAG.to_owned(), tag.into());
    Value::Object(all).to_string()
}

/// All of this spec is done, which is not always the one that is there by now; but for what only sidecars read, where some of them
/// still have to.
pub(super) fn whole(resource: &Value, spec: &Value, tag: &str, sidecars: bool) -> String {
    let mut all = spec.as_object().cloned().unwrap_or_default();
    if !sidecars && let Some(before) = remembered(resource) {
        let config = |name: &str| before.get("config").and_then(|config| config.get(name)).cloned();
        for name in ["enableDNSProxying", "proxyStatsMatcher"] {
            let known = all.entry("config").or_insert_with(|| json!({}));
            match (known.as_object_mut(), config(name)) {
                (Some(known), Some(before)) => drop(known.insert(name.to_owned(), before)),
                (Some(known), None) => drop(known.remove(name)),
                (None, _) => {}
            }
        }
    }
    all.insert(TAG.to_owned(), tag.into());
    Value::Object(all).to_string()
}

/// If it is something new; of the very version that is there now.
pub(super) async fn remember(
    cluster: &Cluster,
    id: &ObjectId,
    text: impl Fn(&Value) -> String,
) -> Result<(), Refused> {
    let Some(now) = cluster.get(id, None).await? else { return Ok(()) };
    let text = text(&now);
    let annotations = &now["metadata"]["annotations"];
    if annotations.get(ANNOTATION).is_some_and(|known| *known == *text) {
        return Ok(());
    }
    let mut annotations = annotations.as_object().cloned().unwrap_or_default();
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let patch = json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": now["metadata"]["resourceVersion"] },
        { "op": "add", "path": "/metadata/annotations", "value": annotations },
    ]);
    cluster.patch(id, patch).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_is_remembered_before_the_rest_is() {
        let mut resource = json!({ "metadata": {}, "spec": { "compatibilityMode": true } });
        assert_eq!(tag(&resource), None);
        let mut remember = |text: String| resource["metadata"]["annotations"] = json!({ ANNOTATION: text });
        remember(r#"{"config":{"numTrustedProxies":1},"IstioTag":"1.30.0"}"#.to_owned());
        let next = with_tag(&resource, "1.31.0");
        assert_eq!(
            serde_json::from_str::<Value>(&next).unwrap(),
            json!({ "config": { "numTrustedProxies": 1 }, TAG: "1.31.0" })
        );
        let all = whole(&resource, &resource["spec"], "1.31.0", true);
        assert_eq!(
            serde_json::from_str::<Value>(&all).unwrap(),
            json!({ "compatibilityMode": true, TAG: "1.31.0" })
        );
        resource["spec"] = json!({ "config": { "numTrustedProxies": 2, "enableDNSProxying": true } });
        let half: Value =
            serde_json::from_str(&whole(&resource, &resource["spec"], "1.31.0", false)).unwrap();
        assert_eq!(half, json!({ "config": { "numTrustedProxies": 2 }, TAG: "1.31.0" }));
        resource["metadata"]["annotations"] = json!({ ANNOTATION: "nonsense" });
        assert_eq!(tag(&resource), None);
        assert_eq!(with_tag(&resource, "1"), r#"{"IstioTag":"1"}"#);
    }
}
