//! Which components are on, and what each is told: one entry for a single component, one for each item of a list.

use mizzen_text::{Code, Diagnostic, Path, Step};
use serde_json::{Map, Value};

use super::Component;
use crate::{Refused, tree};

/// A component that is switched on.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub namespace: String,
    /// A gateway's own name; else empty.
    pub name: String,
    pub hub: String,
    /// Text or number.
    pub tag: Option<Value>,
    /// A gateway's labels.
    pub labels: Map<String, Value>,
    /// Kubernetes settings; none where there is no `k8s`.
    pub k8s: Option<Map<String, Value>>,
    /// Where it stands in the IstioOperator.
    pub path: Path,
}

impl Component {
    /// What is on of this component.
    pub fn entries(&self, merged: &Value) -> Result<Vec<Entry>, Refused> {
        let enabled_by =
            self.also_enabled_by.and_then(|way| tree::get(tree::get(merged, &["spec", "values"])?, way));
        let forced = enabled_by == Some(&Value::Bool(true));
        let namespace = tree::text(merged, &["metadata", "namespace"]).unwrap_or_default();
        let path = Path(["spec", "components", self.field].map(|name| Step::Field(name.to_owned())).to_vec());
        let found = tree::get(merged, &["spec", "components", self.field]);
        let items: Vec<(&Value, Path)> = match found {
            Some(Value::Array(items)) if self.list => {
                let at = |index| Path(path.0.iter().cloned().chain([Step::Index(index)]).collect());
                items.iter().enumerate().map(|(index, item)| (item, at(index))).collect()
            }
            Some(single @ Value::Object(_)) if !self.list => vec![(single, path)],
            None | Some(Value::Null) => {
                let on = self.default || forced;
                return Ok(if on { vec![self.bare(namespace, path)] } else { Vec::new() });
            }
            Some(_) => {
                let must = if self.list { "a list of gateways" } else { "a map" };
                return Err(wrong(&path, &[], must));
            }
        };
        let mut entries = Vec::new();
        for (item, path) in items {
            let (entry, enabled) = read(item, namespace, path)?;
            if enabled || forced {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// The component when nobody says anything about it.
    fn bare(&self, namespace: &str, path: Path) -> Entry {
        let namespace = if namespace.is_empty() { "istio-system" } else { namespace }.to_owned();
        let name = if self.list { self.workload.as_ref().map_or("", |workload| workload.name) } else { "" };
        let name = name.to_owned();
        Entry { namespace, name, hub: String::new(), tag: None, labels: Map::new(), k8s: None, path }
    }
}

/// One entry, and whether it is switched on; it is when nothing is said.
fn read(item: &Value, default: &str, path: Path) -> Result<(Entry, bool), Refused> {
    let empty = Map::new();
    let map = match item {
        Value::Object(map) => map,
        Value::Null => &empty,
        _ => return Err(wrong(&path, &[], "a map")),
    };
    let text = |field: &str| match map.get(field) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(wrong(&path, &[field], "a text")),
    };
    let object = |field: &str| match map.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map.clone())),
        Some(_) => Err(wrong(&path, &[field], "a map")),
    };
    let enabled = match map.get("enabled") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(enabled)) => *enabled,
        Some(_) => return Err(wrong(&path, &["enabled"], "true or false")),
    };
    let namespace = [text("namespace")?, default.to_owned(), "istio-system".to_owned()];
    let namespace = namespace.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let labels = object("label")?.unwrap_or_default();
    if let Some((name, _)) = labels.iter().find(|(_, value)| !value.is_string()) {
        return Err(wrong(&path, &["label", name], "a text"));
    }
    let tag = map.get("tag").filter(|tag| !tag.is_null()).cloned();
    let (name, hub, k8s) = (text("name")?, text("hub")?, object("k8s")?);
    Ok((Entry { namespace, name, hub, tag, labels, k8s, path }, enabled))
}

fn wrong(path: &Path, fields: &[&str], must: &str) -> Refused {
    let mut path = path.clone();
    path.0.extend(fields.iter().map(|field| Step::Field((*field).to_owned())));
    Diagnostic::new(Code::WrongType, format!("it must be {must}")).path(path).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;
    use crate::COMPONENTS;

    fn names(merged: &Value) -> Vec<String> {
        let all = COMPONENTS.iter().flat_map(|component| {
            let entries = component.entries(merged).unwrap();
            entries
                .into_iter()
                .map(move |entry| format!("{} {}/{}", component.name, entry.namespace, entry.name))
        });
        all.collect()
    }

    #[test]
    fn without_a_word_the_core_and_one_ingress_gateway_are_on() {
        let expected = [
            "Base istio-system/",
            "Pilot istio-system/",
            "IngressGateways istio-system/istio-ingressgateway",
        ];
        assert_eq!(names(&json!({})), expected);
    }

    #[test]
    fn an_entry_without_a_word_about_it_is_on_in_the_namespace_of_the_mesh() {
        let merged = json!({
            "metadata": {"namespace": "mesh"},
            "spec": {"components": {
                "base": {"enabled": false}, "pilot": {}, "cni": {"namespace": "kube-system"},
                "ingressGateways": [{"name": "a"}, {"name": "b", "enabled": false}], "egressGateways": []
            }}
        });
        assert_eq!(names(&merged), ["Pilot mesh/", "IngressGateways mesh/a", "Cni kube-system/"]);
    }

    #[test]
    fn a_value_switches_every_gateway_of_a_list_on() {
        let merged = json!({"spec": {
            "components": {"base": {"enabled": false}, "pilot": {"enabled": false}, "ingressGateways": [],
                           "egressGateways": [{"name": "a", "enabled": false}, {"name": "b"}]},
            "values": {"gateways": {"istio-egressgateway": {"enabled": true}}}
        }});
        assert_eq!(names(&merged), ["EgressGateways istio-system/a", "EgressGateways istio-system/b"]);
    }

    #[test]
    fn what_has_the_wrong_type_is_named() {
        let merged = json!({"spec": {"components": {"ingressGateways": [{}, {"enabled": "yes"}]}}});
        let refused = COMPONENTS[2].entries(&merged).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "spec.components.ingressGateways[1].enabled: it must be true or false"
        );
    }
}
