//! What an installer that was cut off leaves behind: two injectors that are both on, so that pods would be injected twice, and every
//! installation after it is refused. The default revision's own one serves; those of the default tag go, and come again with the mesh.

use mizzen_cluster::{Cluster, ObjectId};
use serde_json::{Value, json};

const REVISION: &str = "istio.io/rev";
const TAG: &str = "istio.io/tag";

/// Which have to go, of all configurations. None where the default revision's is switched off or not there: then those of the tag are the
/// ones that serve.
fn superfluous(configurations: &[Value]) -> Vec<&Value> {
    let label = |one: &Value, name: &str| {
        one["metadata"]["labels"].get(name).and_then(Value::as_str).map(str::to_owned)
    };
    let default = configurations
        .iter()
        .find(|one| label(one, REVISION).as_deref() == Some("default") && label(one, TAG).is_none());
    if default.is_none_or(is_off) {
        return Vec::new();
    }
    configurations.iter().filter(|one| label(one, TAG).as_deref() == Some("default")).collect()
}

/// One webhook that selects nothing is enough.
fn is_off(configuration: &Value) -> bool {
    let nothing = json!({ "istio.io/deactivated": "never-match" });
    let mut webhooks = configuration["webhooks"].as_array().into_iter().flatten();
    webhooks.any(|webhook| {
        ["namespaceSelector", "objectSelector"]
            .iter()
            .all(|selector| webhook[*selector]["matchLabels"] == nothing)
    })
}

/// The names of those that are gone. Nothing that goes wrong here hides why the installation failed.
pub(super) async fn clean_up(cluster: &Cluster) -> Vec<String> {
    let kind = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration");
    let configurations = match cluster.list(kind.0, kind.1, "").await {
        Ok(configurations) => configurations,
        Err(refused) => {
            tracing::warn!(%refused, "webhooks could not be looked at");
            return Vec::new();
        }
    };
    let mut gone = Vec::new();
    for configuration in superfluous(&configurations) {
        let Ok(id) = ObjectId::of(configuration) else { continue };
        match cluster.delete(&id, configuration["metadata"]["uid"].as_str()).await {
            Ok(_) => gone.push(id.name),
            Err(refused) => tracing::warn!(%refused, "a webhook is in the way of another"),
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(name: &str, labels: &Value, off: &[bool]) -> Value {
        let webhooks = off.iter().map(|off| {
            let labels = if *off { json!({ "istio.io/deactivated": "never-match" }) } else { json!({ "istio-injection": "enabled" }) };
            json!({ "namespaceSelector": { "matchLabels": labels }, "objectSelector": { "matchLabels": labels } })
        });
        json!({ "metadata": { "name": name, "labels": labels }, "webhooks": webhooks.collect::<Vec<_>>() })
    }

    #[test]
    fn the_default_tag_goes_only_where_the_default_revision_serves() {
        let default =
            |off: &[bool]| configuration("istio-sidecar-injector", &json!({ REVISION: "default" }), off);
        let tag = configuration("tag", &json!({ REVISION: "default", TAG: "default" }), &[false]);
        let mine = configuration("mine", &json!({ REVISION: "canary", TAG: "default" }), &[false]);
        let other = configuration("other-tag", &json!({ REVISION: "default", TAG: "prod" }), &[false]);
        let canary = configuration("canary", &json!({ REVISION: "canary" }), &[false]);
        let cases: [(&str, Vec<Value>, &[&str]); 8] = [
            ("two are on", vec![default(&[false]), tag.clone()], &["tag"]),
            (
                "all of the default tag",
                vec![tag.clone(), default(&[false]), mine, other.clone()],
                &["tag", "mine"],
            ),
            ("switched off", vec![default(&[true]), tag.clone()], &[]),
            ("one webhook of it is enough", vec![default(&[false, true]), tag.clone()], &[]),
            ("there is none", vec![canary, tag.clone()], &[]),
            ("a tag is no default revision", vec![tag.clone(), other], &[]),
            ("there is no tag", vec![default(&[false])], &[]),
            ("nothing at all", Vec::new(), &[]),
        ];
        for (case, all, expected) in cases {
            let names: Vec<&str> =
                superfluous(&all).into_iter().map(|one| one["metadata"]["name"].as_str().unwrap()).collect();
            assert_eq!(names, expected, "{case}");
        }
        // Both selectors have to say so.
        let mut half = default(&[true]);
        half["webhooks"][0]["objectSelector"] = json!({});
        assert_eq!(superfluous(&[half, tag]).len(), 1);
    }
}
