//! `istio.…`: fields of the IstioOperator's `spec`, by the paths of `install --set`, and what they change.

use mizzen_install::{Assignment, SetError};
use mizzen_text::{Path, Step};
use serde_json::{Value, json};

/// Fields that are for istioctl alone: the mesh is where it is, and `--manifests` says where charts are.
const UNREAD: [&str; 2] = ["namespace", "installPackagePath"];

/// In order, each with what was typed. They are laid when the rest is known: an item of a list is one of those that are there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(Vec<(String, Assignment)>);

impl Fields {
    /// Whether anything here reads it.
    pub(super) fn add(&mut self, typed: &str, path: &str, value: &str) -> Result<bool, SetError> {
        let assignment = Assignment::read(&format!("{path}={value}"));
        match assignment.apply(&mut json!({})) {
            Ok(way) if way.0.len() < 2 => return Err(SetError::Empty),
            Ok(way) if is_unread(&way) => return Ok(false),
            // Whether there is such an item is seen later.
            Ok(_) | Err(SetError::NoItem { .. } | SetError::NoIndex { .. }) => {}
            Err(wrong) => return Err(wrong),
        }
        self.0.push((typed.to_owned(), assignment));
        Ok(true)
    }

    /// What a path does not name stays.
    pub(super) fn lay(&self, operator: &mut Value) -> Result<(), String> {
        for (typed, assignment) in &self.0 {
            let way = assignment.apply(operator).map_err(|wrong| format!("--value {typed}: {wrong}"))?;
            if assignment.value.is_null() {
                remove(operator, &way);
            }
        }
        // Node agents are looked at before anything is validated.
        for block in ["/spec/components", "/spec/components/cni"] {
            if operator.pointer(block).is_some_and(|found| !found.is_object() && !found.is_null()) {
                let key = block.replace("/spec", "istio").replace('/', ".");
                return Err(format!("--value {key}: it must be a map"));
            }
        }
        Ok(())
    }
}

fn is_unread(way: &Path) -> bool {
    matches!(&way.0[..], [_, Step::Field(name)] if UNREAD.contains(&name.as_str()))
}

/// What was set to nothing goes. In values and the mesh's configuration nothing stays: it is how a chart's own default is removed.
fn remove(tree: &mut Value, way: &Path) {
    let Some((last, above)) = way.0.split_last() else { return };
    let to_charts =
        matches!(way.0.get(1), Some(Step::Field(name)) if name == "values" || name == "meshConfig");
    let holder = above.iter().try_fold(tree, |here, step| match step {
        Step::Field(name) => here.get_mut(name),
        Step::Index(index) => here.get_mut(index),
    });
    match (holder, last) {
        (Some(Value::Array(items)), Step::Index(index)) => drop(items.remove(*index)),
        (Some(Value::Object(fields)), Step::Field(name)) if !to_charts => drop(fields.remove(name)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::istio::merge::{Surroundings, merged};
    use mizzen_api::istio::Spec;

    fn profile() -> Value {
        merged(&Spec::default(), &Surroundings::default()).unwrap()
    }

    fn laid(path: &str, value: &str) -> Result<Value, String> {
        let (mut fields, mut operator) = (Fields::default(), profile());
        assert_eq!(fields.add("typed", path, value), Ok(true), "{path}");
        fields.lay(&mut operator).map(|()| operator)
    }

    fn gateways(operator: &mut Value) -> &mut Vec<Value> {
        operator["spec"]["components"]["ingressGateways"].as_array_mut().unwrap()
    }

    #[test]
    fn a_path_changes_what_it_names_and_leaves_the_rest_of_the_profile() {
        let mut expected = profile();
        let size = &mut gateways(&mut expected)[0]["k8s"]["hpaSpec"];
        assert!(size["maxReplicas"].is_number() && size["minReplicas"] != 2, "{size}");
        size["minReplicas"] = 2.into();
        for item in ["[0]", "[name:istio-ingressgateway]"] {
            let path = format!("components.ingressGateways{item}.k8s.hpaSpec.minReplicas");
            assert_eq!(laid(&path, "2").as_ref(), Ok(&expected), "{path}");
        }
    }

    #[test]
    fn behind_the_end_of_a_list_is_a_new_item_as_with_set() {
        let mut expected = profile();
        gateways(&mut expected).push(json!({ "name": "other" }));
        assert_eq!(laid("components.ingressGateways[9].name", "other"), Ok(expected));
    }

    #[test]
    fn nothing_takes_away() {
        let mut without = laid("components.ingressGateways[0]", "null").unwrap();
        assert_eq!(gateways(&mut without).len(), 0);
        let without = laid("components.pilot.k8s.hpaSpec", "null").unwrap();
        assert_eq!(without["spec"]["components"]["pilot"]["k8s"].get("hpaSpec"), None);
        let without = laid("values.global.hub", "null").unwrap();
        assert_eq!(without["spec"]["values"]["global"].get("hub"), Some(&Value::Null), "for the charts");
    }

    #[test]
    fn an_item_that_is_not_there_is_told() {
        let wrong =
            laid("components.ingressGateways[name:istio-ingresgateway].enabled", "false").unwrap_err();
        assert!(wrong.starts_with("--value typed: "), "{wrong}");
        assert!(wrong.contains("did you mean `istio-ingressgateway`?"), "{wrong}");
        let wrong = laid("components.ingressGateways[9]", "null").unwrap_err();
        assert!(wrong.contains("nothing to remove"), "{wrong}");
    }

    #[test]
    fn what_cannot_be_laid_over_anything_is_told() {
        assert_eq!(Fields::default().add("", ".", "5"), Err(SetError::Empty));
        for path in ["components", "components.cni"] {
            let wrong = laid(path, "off").unwrap_err();
            assert_eq!(wrong, format!("--value istio.{path}: it must be a map"));
        }
    }

    #[test]
    fn only_at_the_top_a_field_is_istioctls() {
        let read = |path: &str| Fields::default().add("", path, "foo");
        assert_eq!((read("namespace"), read("installPackagePath")), (Ok(false), Ok(false)));
        assert_eq!(read("components.ingressGateways[0].namespace"), Ok(true));
    }
}
