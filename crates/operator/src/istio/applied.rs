//! What was applied last, remembered at the resource: the spec, and with it the tag of what is installed.
//!
//! It is in an annotation, as Kyma's operator has it. Whoever replaces the resource takes that away: then the status says it, which is
//! written a moment later.

use super::program::Program;
use mizzen_api::istio::Spec;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Map, Value, json};

pub(crate) const ANNOTATION: &str = "operator.kyma-project.io/lastAppliedConfiguration";
/// Beside it, whose tag that is.
const PROGRAM: &str = "mizzen.io/installed-program";
const TAG: &str = "IstioTag";

/// As somebody wrote it.
fn noted(resource: &Value) -> Option<Map<String, Value>> {
    let text = resource["metadata"]["annotations"].get(ANNOTATION)?.as_str()?;
    serde_json::from_str(text).ok()
}

/// As the status has it, where that is lost.
fn remembered(resource: &Value) -> Option<Map<String, Value>> {
    noted(resource).or_else(|| resource["status"]["applied"].as_object().cloned())
}

/// The tag of the mesh that is installed; none before the first.
pub(super) fn tag(resource: &Value) -> Option<String> {
    let noted = noted(resource).and_then(|all| all.get(TAG)?.as_str().map(str::to_owned));
    let told = || resource["status"]["installedVersion"].as_str().map(str::to_owned);
    noted.or_else(told).filter(|tag| !tag.is_empty())
}

/// The spec that was applied; none before the first was.
pub(super) fn spec(resource: &Value) -> Option<Spec> {
    let spec = |all: Map<String, Value>| Spec::of(&json!({ "spec": all })).ok();
    noted(resource)
        .and_then(spec)
        .or_else(|| resource["status"]["applied"].as_object().cloned().and_then(spec))
}

/// Whose program is installed; Kyma's operator, which does not say so, installs Istio's.
pub(super) fn program(resource: &Value) -> Option<Program> {
    tag(resource)?;
    let named = match noted(resource) {
        Some(_) => &resource["metadata"]["annotations"][PROGRAM],
        None => &resource["status"]["installedProgram"],
    };
    Some(named.as_str().and_then(Program::named).unwrap_or(Program::Istio))
}

/// The tag is new: what else was done is not known yet, but for the first time, when everything has just started with this spec.
pub(super) fn with_tag(resource: &Value, spec: &Value, tag: &str) -> String {
    let mut all = remembered(resource).or_else(|| spec.as_object().cloned()).unwrap_or_default();
    all.insert(TAG.to_owned(), tag.into());
    Value::Object(all).to_string()
}

/// All of this spec is done, which is not always the one that is there by now.
pub(super) fn whole(spec: &Value, tag: &str) -> String {
    let mut all = spec.as_object().cloned().unwrap_or_default();
    all.insert(TAG.to_owned(), tag.into());
    Value::Object(all).to_string()
}

/// With whose program it is, in one write, if that is anything new: a tag of one says nothing about another. Of the very version that is
/// there now.
pub(super) async fn remember(
    cluster: &Cluster,
    id: &ObjectId,
    program: Option<Program>,
    text: impl Fn(&Value) -> String,
) -> Result<(), Refused> {
    let Some(now) = cluster.get(id, None).await? else { return Ok(()) };
    let known = now["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    let mut annotations = known.clone();
    annotations.insert(ANNOTATION.to_owned(), text(&now).into());
    if let Some(program) = program {
        annotations.insert(PROGRAM.to_owned(), program.name().into());
    }
    if annotations == known {
        return Ok(());
    }
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
        let next = with_tag(&resource, &json!({ "compatibilityMode": true }), "1.31.0");
        assert_eq!(
            serde_json::from_str::<Value>(&next).unwrap(),
            json!({ "config": { "numTrustedProxies": 1 }, TAG: "1.31.0" })
        );
        let all = whole(&resource["spec"], "1.31.0");
        assert_eq!(
            serde_json::from_str::<Value>(&all).unwrap(),
            json!({ "compatibilityMode": true, TAG: "1.31.0" })
        );
        resource["metadata"]["annotations"] = json!({ ANNOTATION: "nonsense" });
        assert_eq!(tag(&resource), None);
        let first = with_tag(&resource, &json!({ "compatibilityMode": true }), "1");
        assert_eq!(
            first, r#"{"IstioTag":"1","compatibilityMode":true}"#,
            "everything has just started with it"
        );
        assert_eq!(program(&resource), None);
        resource["status"] = json!({ "installedVersion": "1.30.0" });
        assert_eq!(tag(&resource).as_deref(), Some("1.30.0"), "the status knows it still");
        assert_eq!(program(&resource), Some(Program::Istio), "Kyma's operator does not say it");
        resource["metadata"]["annotations"] = json!({ ANNOTATION: "{}", PROGRAM: "mizzen" });
        assert_eq!(program(&resource), Some(Program::Mizzen));
    }

    #[test]
    fn where_the_annotations_are_lost_the_status_knows_it() {
        let mut resource = json!({ "metadata": {}, "status": {
            "installedVersion": "0.1.0", "installedProgram": "mizzen", "applied": { "config": { "numTrustedProxies": 1 } },
        } });
        let known = |resource: &Value| {
            let proxies = spec(resource).and_then(|spec| spec.config.num_trusted_proxies);
            (tag(resource), program(resource), proxies)
        };
        assert_eq!(known(&resource), (Some("0.1.0".to_owned()), Some(Program::Mizzen), Some(1)));
        let next = with_tag(&resource, &json!({ "config": { "numTrustedProxies": 2 } }), "0.2.0");
        assert_eq!(
            next, r#"{"IstioTag":"0.2.0","config":{"numTrustedProxies":1}}"#,
            "the rest is not done yet"
        );
        let note = r#"{"IstioTag":"1.30.0","config":{"numTrustedProxies":2}}"#;
        resource["metadata"]["annotations"] = json!({ ANNOTATION: note });
        assert_eq!(
            known(&resource),
            (Some("1.30.0".to_owned()), Some(Program::Istio), Some(2)),
            "not otherwise"
        );
    }
}
