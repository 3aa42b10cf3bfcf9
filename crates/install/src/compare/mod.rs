//! Two sets of objects and what differs between them: `manifest diff`, `profile diff`.
//!
//! Objects are paired by kind, namespace and name, after renaming and selecting. Lists are compared item by item at the
//! same place, as people read them.

mod choice;
mod values;

use std::collections::BTreeMap;

use serde_json::Value;

pub use choice::{Choice, Pattern, Rename, WrongPattern};
pub use values::{Change, changes};

/// What happened to one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    OnlyOld { object: String },
    OnlyNew { object: String },
    Changed { object: String, changes: Vec<Change> },
}

/// Whatever differs, sorted by object. Of several objects with one name the last counts, as it would in a cluster.
pub fn compare(old: &[Value], new: &[Value], choice: &Choice) -> Vec<Difference> {
    let (old, new) = (named(old, choice, true), named(new, choice, false));
    let mut objects: Vec<&String> = old.keys().chain(new.keys()).collect();
    objects.sort();
    objects.dedup();
    let difference = |object: &String| match (old.get(object), new.get(object)) {
        (Some(old), Some(new)) => {
            let changes = changes(old, new);
            (!changes.is_empty()).then(|| Difference::Changed { object: object.clone(), changes })
        }
        (Some(_), None) => Some(Difference::OnlyOld { object: object.clone() }),
        (None, _) => Some(Difference::OnlyNew { object: object.clone() }),
    };
    objects.into_iter().filter_map(difference).collect()
}

fn named<'o>(objects: &'o [Value], choice: &Choice, old: bool) -> BTreeMap<String, &'o Value> {
    let mut named = BTreeMap::new();
    for object in objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut name = [
            text(&object["kind"]),
            text(&object["metadata"]["namespace"]),
            text(&object["metadata"]["name"]),
        ];
        if old {
            choice.rename(&mut name);
        }
        if choice.takes(&name) {
            named.insert(name.join(":"), object);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, name: &str, spec: &Value) -> Value {
        json!({"kind": kind, "metadata": {"namespace": "mesh", "name": name}, "spec": spec})
    }

    #[test]
    fn objects_are_paired_by_name_and_the_rest_is_missing_on_one_side() {
        let old = [object("Service", "a", &json!({"port": 1})), object("Service", "b", &json!({}))];
        let new = [object("Service", "c", &json!({})), object("Service", "a", &json!({"port": 2}))];
        let found = compare(&old, &new, &Choice::default());
        let [Difference::Changed { object, changes }, gone, added] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(object, "Service:mesh:a");
        assert_eq!(changes[0].to_string(), "spec.port: 1 -> 2");
        assert_eq!(*gone, Difference::OnlyOld { object: "Service:mesh:b".into() });
        assert_eq!(*added, Difference::OnlyNew { object: "Service:mesh:c".into() });
    }

    #[test]
    fn a_renamed_object_is_compared_under_its_new_name() {
        let old = [object("Service", "istio-pilot", &json!({"port": 1}))];
        let new = [object("Service", "istiod", &json!({"port": 1}))];
        let choice = Choice::default().renaming("Service:*:istio-pilot->Service:*:istiod").unwrap();
        let found = compare(&old, &new, &choice);
        let [Difference::Changed { changes, .. }] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(changes[0].to_string(), "metadata.name: istio-pilot -> istiod");
    }

    #[test]
    fn only_what_is_selected_and_not_ignored_is_compared() {
        let old = [object("Service", "a", &json!({})), object("ConfigMap", "b", &json!({}))];
        let select = Choice::default().selecting("Service:*:*").unwrap();
        assert_eq!(compare(&old, &[], &select).len(), 1);
        let ignore = Choice::default().ignoring("Service:*:a,ConfigMap::b").unwrap();
        assert!(compare(&old, &[], &ignore).is_empty());
    }
}
