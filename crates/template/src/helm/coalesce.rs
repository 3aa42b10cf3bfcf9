//! A user's values over a chart's defaults, and through its sub-charts: what `.Values` becomes.
//!
//! Maps are merged, all else the user's value replaces. A null of the user removes the default's key. Sub-charts get the
//! part under their own name, with the parent's `global` in it.

use serde_json::Value;

use super::{chart::Chart, error::HelmError, values::Table};

const GLOBAL: &str = "global";

/// What is done with a null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// The user's removes the default; the defaults' own are no values.
    Remove,
    /// They stay, for whoever coalesces later.
    Keep,
}

/// `.Values` of a chart for these values, without regard to conditions of sub-charts.
pub fn effective_values(chart: &Chart, values: &Value) -> Result<Value, HelmError> {
    coalesced(chart, table(values)?, Nulls::Remove, &mut Vec::new()).map(Value::Object)
}

/// Values must be a map; null is an empty one.
pub(super) fn table(values: &Value) -> Result<Table, HelmError> {
    match values {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(Table::new()),
        _ => Err(HelmError::Values("values must be a map of keys and values".to_owned())),
    }
}

pub(super) fn coalesced(
    chart: &Chart,
    mut values: Table,
    nulls: Nulls,
    warnings: &mut Vec<String>,
) -> Result<Table, HelmError> {
    Coalesce { warnings }.chart(chart, &mut values, "", nulls)?;
    Ok(values)
}

/// One table over another one.
pub(super) fn over(top: &mut Table, bottom: Table, nulls: Nulls, warnings: &mut Vec<String>) {
    Coalesce { warnings }.tables(top, bottom, "", nulls);
}

struct Coalesce<'w> {
    warnings: &'w mut Vec<String>,
}

impl Coalesce<'_> {
    fn chart(
        &mut self,
        chart: &Chart,
        values: &mut Table,
        path: &str,
        nulls: Nulls,
    ) -> Result<(), HelmError> {
        let path = join(path, chart.name());
        self.defaults(chart, values, &path, nulls);
        for child in &chart.dependencies {
            let name = child.name();
            let entry = values.entry(name).or_insert_with(|| Value::Object(Table::new()));
            let Value::Object(below) = entry.take() else {
                return Err(HelmError::Values(format!(
                    "{path}.{name} must be a map: it holds the values of sub-chart {name}"
                )));
            };
            let mut below = below;
            self.globals(&mut below, values.get(GLOBAL), &path);
            self.chart(child, &mut below, &path, nulls)?;
            values.insert(name.to_owned(), Value::Object(below));
        }
        Ok(())
    }

    fn defaults(&mut self, chart: &Chart, values: &mut Table, path: &str, nulls: Nulls) {
        for (key, default) in chart.defaults() {
            match (values.get_mut(&key), default) {
                (Some(Value::Null), _) if nulls == Nulls::Remove => {
                    values.remove(&key);
                }
                (Some(Value::Object(value)), Value::Object(mut default)) => {
                    // Nulls for a sub-chart wait until that is coalesced.
                    let is_child = chart.dependencies.iter().any(|child| child.name() == key);
                    let nulls = if is_child { Nulls::Keep } else { nulls };
                    if nulls == Nulls::Remove {
                        remove_nulls(&mut default);
                    }
                    self.tables(value, default, &join(path, &key), nulls);
                }
                (Some(Value::Object(_)), default) => {
                    if !default.is_null() {
                        self.warn(format!(
                            "{path}.{key} is a map here, but {default} in the chart's defaults"
                        ));
                    }
                }
                (Some(_), _) => {}
                (None, Value::Null) if nulls == Nulls::Remove => {}
                (None, mut default) => {
                    if let (Value::Object(default), Nulls::Remove) = (&mut default, nulls) {
                        remove_nulls(default);
                    }
                    values.insert(key, default);
                }
            }
        }
    }

    /// The parent's globals into a sub-chart's, which they override.
    fn globals(&mut self, below: &mut Table, above: Option<&Value>, path: &str) {
        let mut globals = match below.remove(GLOBAL) {
            None => Table::new(),
            Some(Value::Object(map)) => map,
            Some(other) => {
                below.insert(GLOBAL.to_owned(), other);
                return self.warn(format!("{path}: a sub-chart's `global` is no map, so it gets none"));
            }
        };
        let above = match above {
            None => &Table::new(),
            Some(Value::Object(map)) => map,
            Some(_) => {
                below.insert(GLOBAL.to_owned(), Value::Object(globals));
                return self.warn(format!("{path}.global is no map, so sub-charts do not get it"));
            }
        };
        for (key, value) in above {
            match (value, globals.get_mut(key)) {
                (Value::Object(map), Some(Value::Object(own))) => {
                    let mut merged = map.clone();
                    self.tables(&mut merged, std::mem::take(own), &join(path, key), Nulls::Keep);
                    *own = merged;
                }
                (Value::Object(_), Some(_)) => {
                    self.warn(format!(
                        "{path}.global.{key} is a map, but none in a sub-chart, which keeps its own"
                    ));
                }
                (_, Some(Value::Object(_))) => {
                    self.warn(format!(
                        "{path}.global.{key} is no map, but one in a sub-chart, which keeps its own"
                    ));
                }
                (value, _) => {
                    globals.insert(key.clone(), value.clone());
                }
            }
        }
        below.insert(GLOBAL.to_owned(), Value::Object(globals));
    }

    fn tables(&mut self, top: &mut Table, bottom: Table, path: &str, nulls: Nulls) {
        for (key, under) in bottom {
            match (top.get_mut(&key), under) {
                (None, under) => {
                    top.insert(key, under);
                }
                (Some(Value::Null), under) => {
                    // A null where there is no default is a value like any other.
                    if nulls == Nulls::Remove && !under.is_null() {
                        top.remove(&key);
                    }
                }
                (Some(Value::Object(over)), Value::Object(under)) => {
                    self.tables(over, under, &join(path, &key), nulls);
                }
                (Some(over), Value::Object(_)) => {
                    let over = over.to_string();
                    self.warn(format!("{}: {over} replaces a map of the chart's defaults", join(path, &key)));
                }
                (Some(Value::Object(_)), under) => {
                    if !under.is_null() {
                        let path = join(path, &key);
                        self.warn(format!("{path} is a map here, but {under} in the chart's defaults"));
                    }
                }
                (Some(_), _) => {}
            }
        }
    }

    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

pub(super) fn remove_nulls(table: &mut Table) {
    table.retain(|_, value| !value.is_null());
    for value in table.values_mut() {
        if let Value::Object(inner) = value {
            remove_nulls(inner);
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
