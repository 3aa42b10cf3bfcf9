//! A chart's defaults with the profile, the compatibility version and the platform laid over them. Templates do that
//! while they render; here it is data. Two ways to keep it are known: ours (`defaults` and `files/layers.yaml`) and Istio's
//! (`_internal_defaults_do_not_set` and a file for each).

use mizzen_template::helm::Chart;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::{Map, Value, json};

use crate::{Component, Refused, shapes::Shapes, tree};

const OURS: &str = "defaults";
const ISTIOS: &str = "_internal_defaults_do_not_set";

/// What the chart adds to values that do not say anything, where an IstioOperator has it.
pub(super) fn defaults(chart: &Chart, values: &Value, component: &Component) -> Result<Value, Refused> {
    let choices = [
        ("profile", "profile", &[&["profile"][..], &["global", "profile"]][..]),
        ("compatibilityVersion", "profile-compatibility-version", &[&["compatibilityVersion"]]),
        ("platform", "profile-platform", &[&["platform"], &["global", "platform"]]),
    ];
    let chosen = |ways: &[&[&str]]| {
        ways.iter().find_map(|way| tree::text(values, way)).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    if let Some(defaults) = chart.values.get(OURS) {
        let mut all = defaults.clone();
        let layers = read(chart, "files/layers.yaml")?.unwrap_or_default();
        for (kind, _, ways) in choices {
            if let Some(layer) = chosen(ways).and_then(|name| layers.get(kind)?.get(&name).cloned()) {
                tree::merge(&mut all, &layer);
            }
        }
        return Ok(only_known(all, defaults));
    }
    let Some(defaults) = chart.values.get(ISTIOS) else { return Ok(chart.values.clone()) };
    let mut all = defaults.clone();
    for (_, file, ways) in choices {
        if let Some(name) = chosen(ways)
            && let Some(layer) = read(chart, &format!("files/{file}-{name}.yaml"))?
        {
            tree::merge(&mut all, &layer);
        }
    }
    Ok(placed(all, component))
}

/// Layers are the same in every chart: what this one has no defaults for belongs to another.
fn only_known(all: Value, defaults: &Value) -> Value {
    match (all, defaults) {
        (Value::Object(all), Value::Object(defaults)) => {
            Value::Object(all.into_iter().filter(|(key, _)| defaults.contains_key(key)).collect())
        }
        (all, _) => all,
    }
}

/// Istio's charts have a component's values at the top, an IstioOperator below the component's name.
fn placed(all: Value, component: &Component) -> Value {
    let Value::Object(all) = all else { return all };
    let known = |key: &str| Shapes::values().named("Values").is_some_and(|shape| shape.field(key).is_some());
    let (top, own): (Map<_, _>, Map<_, _>) = all.into_iter().partition(|(key, _)| known(key));
    let mut placed = json!({});
    tree::put(&mut placed, component.root(), Value::Object(own));
    tree::merge(&mut placed, &Value::Object(top));
    placed
}

fn read(chart: &Chart, name: &str) -> Result<Option<Value>, Refused> {
    let Some(file) = chart.files.iter().find(|file| file.name == name) else { return Ok(None) };
    let source = Source::new(format!("{}/{name}", chart.name()), file.data.as_ref());
    Ok(yaml::load_first(&source, &Options::KUBERNETES)?)
}
