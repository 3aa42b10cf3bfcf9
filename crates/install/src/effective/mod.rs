//! Everything that a mesh is made of: the merged IstioOperator with the charts' own defaults below its values. It is what
//! `profile dump` shows; rendering does not need it, as charts add their defaults themselves.

mod flags;
mod layers;

use serde_json::{Value, json};

use crate::{COMPONENTS, Charts, ChartsError, Merged, Refused, tree};

pub use flags::flags;

/// The whole tree. Only components that are on have defaults in it.
pub fn effective(merged: &Merged, charts: &dyn Charts) -> Result<Value, Refused> {
    let mut whole = merged.tree.clone();
    let values = tree::get(&whole, &["spec", "values"]).cloned().unwrap_or_else(|| json!({}));
    let mut all = json!({});
    for component in &COMPONENTS {
        if component.entries(&whole)?.is_empty() {
            continue;
        }
        match charts.chart(component.chart) {
            Ok(chart) => tree::merge(&mut all, &layers::defaults(&chart, &values, component)?),
            // It cannot be rendered either, which is told where it is.
            Err(ChartsError::NoChart { .. }) => {}
            Err(error) => return Err(Refused::because(error.to_string())),
        }
    }
    tree::merge(&mut all, &values);
    without_nulls(&mut all);
    // The mesh's configuration has a place of its own, to which it belongs for people.
    if let Some(mesh) = all.as_object_mut().and_then(|values| values.remove("meshConfig")) {
        tree::put(&mut whole, &["spec", "meshConfig"], mesh);
    }
    tree::put(&mut whole, &["spec", "values"], all);
    tree::put(&mut whole, &["spec", "profile"], json!(merged.profile));
    Ok(whole)
}

/// What is set to nothing is not there.
fn without_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        map.values_mut().for_each(without_nulls);
    }
}
