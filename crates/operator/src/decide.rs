//! What has to be done about a resource, by what it says of itself.

use crate::finalizers;
use serde_json::Value;

pub const GROUP: &str = "install.istio.io";
pub const VERSION: &str = "v1alpha1";
pub const KIND: &str = "IstioOperator";
/// Keeps a resource until its mesh is gone.
pub const FINALIZER: &str = "istio-finalizer.install.istio.io";
pub(crate) const IGNORE: &str = "install.istio.io/ignoreReconcile";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is not there any more, or nothing of ours holds it.
    Gone,
    /// It says that it is to be left alone.
    Ignored,
    /// An operator of its own revision has it.
    Others,
    /// It is to be kept until its mesh is gone, which has to be said first.
    Claim,
    Bring,
    Remove,
    /// It goes, and its mesh was to be left alone.
    Release,
}

/// `own` is the revision of this operator; one without has all resources.
pub(crate) fn decide(resource: Option<&Value>, own: &str) -> Decision {
    let Some(resource) = resource else { return Decision::Gone };
    if !own.is_empty() && revision(resource) != own {
        return Decision::Others;
    }
    let ignored = resource.pointer("/metadata/annotations").is_some_and(|all| all[IGNORE] == "true");
    let going = resource.pointer("/metadata/deletionTimestamp").is_some();
    match (going, finalizers::has(resource, FINALIZER), ignored) {
        (true, false, _) => Decision::Gone,
        (true, true, true) => Decision::Release,
        (true, true, false) => Decision::Remove,
        (false, _, true) => Decision::Ignored,
        (false, false, false) => Decision::Claim,
        (false, true, false) => Decision::Bring,
    }
}

/// Empty for the one without a name.
pub(crate) fn revision(resource: &Value) -> &str {
    let text = |pointer: &str| resource.pointer(pointer).and_then(Value::as_str);
    let said = text("/spec/revision").or_else(|| text("/spec/values/revision")).unwrap_or_default();
    if said == "default" { "" } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource(revision: &str, claimed: bool, going: bool, ignored: bool) -> Value {
        let mut resource = json!({ "metadata": {}, "spec": { "revision": revision } });
        if claimed {
            resource["metadata"]["finalizers"] = json!(["other", FINALIZER]);
        }
        if going {
            resource["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        if ignored {
            resource["metadata"]["annotations"] = json!({ IGNORE: "true" });
        }
        resource
    }

    #[test]
    fn a_resource_is_claimed_then_brought_and_removed_before_it_goes() {
        let cases = [
            ((false, false, false), Decision::Claim),
            ((true, false, false), Decision::Bring),
            ((true, true, false), Decision::Remove),
            ((false, true, false), Decision::Gone),
            ((true, false, true), Decision::Ignored),
            ((true, true, true), Decision::Release),
        ];
        for ((claimed, going, ignored), expected) in cases {
            let found = decide(Some(&resource("", claimed, going, ignored)), "");
            assert_eq!(found, expected, "{claimed} {going} {ignored}");
        }
        assert_eq!(decide(None, ""), Decision::Gone);
    }

    #[test]
    fn an_operator_of_a_revision_has_only_its_own_and_one_without_has_all() {
        let canary = resource("canary", true, false, false);
        assert_eq!(decide(Some(&canary), "canary"), Decision::Bring);
        assert_eq!(decide(Some(&canary), "blue"), Decision::Others);
        assert_eq!(decide(Some(&canary), ""), Decision::Bring);
        assert_eq!(decide(Some(&resource("", true, true, false)), "canary"), Decision::Others);
        assert_eq!(revision(&resource("default", true, false, false)), "");
    }
}
