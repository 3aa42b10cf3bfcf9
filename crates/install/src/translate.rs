//! Fields of the IstioOperator that charts know as values: copied to where charts look for them.

use serde_json::{Map, Value, json};

use crate::tree;

/// What `spec` says, as values.
fn translated(merged: &Value) -> Value {
    let mut values = json!({});
    let copied: [(&str, &[&str]); 4] = [
        ("hub", &["global", "hub"]),
        ("tag", &["global", "tag"]),
        ("revision", &["revision"]),
        ("compatibilityVersion", &["compatibilityVersion"]),
    ];
    for (field, way) in copied {
        let value = match tree::get(merged, &["spec", field]) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => Value::from(text.trim()),
            Some(Value::Number(number)) => Value::from(number.to_string()),
            Some(other) => other.clone(),
        };
        tree::put(&mut values, way, value);
    }
    if let Some(mesh @ Value::Object(_)) = tree::get(merged, &["spec", "meshConfig"]) {
        tree::put(&mut values, &["meshConfig"], mesh.clone());
    }
    let enabled = |component: &str| {
        let enabled = tree::get(merged, &["spec", "components", component, "enabled"]);
        Value::Bool(enabled == Some(&Value::Bool(true)))
    };
    // Charts ask for each other.
    tree::put(&mut values, &["pilot", "enabled"], enabled("pilot"));
    tree::put(&mut values, &["pilot", "cni", "enabled"], enabled("cni"));
    values
}

/// Copies into `spec.values` of the merged tree. `profile` are the profile's values as they were before the user's were
/// laid on them; what the user said in `values` counts more than what is copied, with an exception, see [`share`].
pub(crate) fn translate(merged: &mut Value, profile: &Value, user: &Value) {
    let copied = translated(merged);
    let mut user = user.clone();
    share(Some(profile), &mut user, &copied);
    let spec = tree::map_at(tree::map_at(merged).entry("spec").or_insert(Value::Null));
    let values = spec.entry("values").or_insert_with(|| Value::Object(Map::new()));
    tree::merge(values, &copied);
    let namespace = tree::text(values, &["global", "istioNamespace"]).unwrap_or_default().to_owned();
    if user.is_object() {
        tree::merge(values, &user);
    }
    if !namespace.is_empty() {
        tree::put(merged, &["metadata", "namespace"], Value::from(namespace));
    }
}

/// Where the user has a map that the profile has not, istioctl's merged tree holds the user's own map: what is copied
/// into the one is in the other, too, so it wins over what the user wrote there. `spec.meshConfig` is stronger than
/// `spec.values.meshConfig` for that reason alone, and people rely on the outcome.
fn share(profile: Option<&Value>, user: &mut Value, copied: &Value) {
    let (Value::Object(own), Value::Object(over)) = (&mut *user, copied) else { return };
    let Some(Value::Object(profile)) = profile else {
        tree::merge(user, copied);
        return;
    };
    for (key, value) in over {
        if let Some(own @ Value::Object(_)) = own.get_mut(key) {
            share(profile.get(key), own, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(profile: &Value, spec: &Value) -> Value {
        let user = spec.get("values").cloned().unwrap_or(Value::Null);
        let mut merged = json!({"spec": {"values": profile}});
        tree::merge(&mut merged, &json!({"spec": spec}));
        translate(&mut merged, profile, &user);
        merged
    }

    #[test]
    fn fields_become_values_and_numbers_become_text() {
        let merged = run(
            &json!({}),
            &json!({"hub": "h", "tag": 2, "revision": "r", "components": {"cni": {"enabled": true}}}),
        );
        assert_eq!(
            merged["spec"]["values"],
            json!({"global": {"hub": "h", "tag": "2"}, "revision": "r",
                   "pilot": {"enabled": false, "cni": {"enabled": true}}})
        );
    }

    #[test]
    fn a_user_without_values_leaves_the_profiles() {
        let merged = run(&json!({"a": 1}), &json!({"hub": "h"}));
        assert_eq!(
            (&merged["spec"]["values"]["a"], &merged["spec"]["values"]["global"]["hub"]),
            (&json!(1), &json!("h"))
        );
    }

    #[test]
    fn an_explicit_value_beats_a_copied_one_where_the_profile_has_the_map() {
        let spec = json!({"hub": "spec", "values": {"global": {"hub": "value"}}});
        assert_eq!(run(&json!({"global": {}}), &spec)["spec"]["values"]["global"]["hub"], "value");
        assert_eq!(run(&json!({}), &spec)["spec"]["values"]["global"]["hub"], "spec");
    }

    #[test]
    fn the_mesh_configuration_is_merged_and_its_own_field_wins() {
        let spec =
            json!({"meshConfig": {"a": 1, "b": {"c": 1}}, "values": {"meshConfig": {"a": 2, "b": {"d": 2}}}});
        assert_eq!(
            run(&json!({}), &spec)["spec"]["values"]["meshConfig"],
            json!({"a": 1, "b": {"c": 1, "d": 2}})
        );
    }

    #[test]
    fn the_namespace_is_that_of_the_values() {
        let merged = run(&json!({"global": {"istioNamespace": "a"}}), &json!({}));
        assert_eq!(merged["metadata"]["namespace"], "a");
    }
}
