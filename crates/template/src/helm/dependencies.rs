//! Which sub-charts take part, under which name, and which of their values the parent takes over: `condition`, `tags`,
//! `alias` and `import-values` of Chart.yaml. In: a chart and the user's values. Out: the chart as it is rendered.

use serde_json::Value;

use super::{
    chart::Chart,
    coalesce::{self, Nulls, coalesced},
    error::HelmError,
    metadata::Dependency,
    values::Table,
    version,
};

/// The chart with its dependencies worked out.
pub(super) fn processed(
    chart: &Chart,
    values: &Table,
    warnings: &mut Vec<String>,
) -> Result<Chart, HelmError> {
    let mut chart = chart.clone();
    let mut process = Process { warnings, charts: 0 };
    process.choose(&mut chart, values, "")?;
    process.import(&mut chart)?;
    Ok(chart)
}

/// Refused where Chart.yaml names a chart that is not there.
pub(super) fn complete(chart: &Chart) -> Result<(), HelmError> {
    let there = |wanted: &&Dependency| chart.dependencies.iter().any(|child| child.name() == wanted.name);
    let missing = chart.metadata.dependencies.iter().filter(|wanted| !there(wanted));
    let missing: Vec<&str> = missing.map(|wanted| wanted.name.as_str()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(HelmError::MissingDependency { chart: chart.name().to_owned(), missing: missing.join(", ") })
}

/// Aliases of aliases multiply: as many charts as are rendered together.
const CHARTS: usize = 256;
/// Steps of a path that values are imported to.
const STEPS: usize = 64;

struct Process<'w> {
    warnings: &'w mut Vec<String>,
    charts: usize,
}

impl Process<'_> {
    /// Aliases, then tags, then conditions. `path` is where the chart's own values are in `values`.
    fn choose(&mut self, chart: &mut Chart, values: &Table, path: &str) -> Result<(), HelmError> {
        if chart.metadata.dependencies.is_empty() {
            return Ok(());
        }
        rename(chart);
        self.charts += chart.dependencies.len();
        if self.charts > CHARTS {
            let message = format!("its dependencies are more than {CHARTS} charts: remove aliases");
            return Err(HelmError::Dependencies { chart: chart.name().to_owned(), message });
        }
        // Helm looks at a sub-chart's defaults on the level of its parent, too.
        let values = coalesced(chart, values.clone(), Nulls::Remove, &mut Vec::new())?;
        let mut off = Vec::new();
        for dependency in &mut chart.metadata.dependencies {
            let by_tags = self.by_tags(dependency, &values);
            dependency.enabled = self.by_condition(dependency, &values, path).unwrap_or(by_tags);
            if !dependency.enabled {
                off.push(dependency.name.clone());
            }
        }
        chart.metadata.dependencies.retain(|dependency| dependency.enabled);
        chart.dependencies.retain(|child| !off.iter().any(|off| off == child.name()));
        for child in &mut chart.dependencies {
            let path = format!("{path}{}.", child.name());
            self.choose(child, &values, &path)?;
        }
        Ok(())
    }

    fn by_tags(&mut self, dependency: &Dependency, values: &Table) -> bool {
        let Some(Value::Object(tags)) = values.get("tags") else { return true };
        let mut off = false;
        for tag in &dependency.tags {
            match tags.get(tag) {
                Some(Value::Bool(true)) => return true,
                Some(Value::Bool(false)) => off = true,
                Some(_) => {
                    self.warn(format!("tags.{tag} of chart {} is neither true nor false", dependency.name));
                }
                None => {}
            }
        }
        !off
    }

    /// The first condition that is a boolean decides.
    fn by_condition(&mut self, dependency: &Dependency, values: &Table, path: &str) -> Option<bool> {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            match at(values, &format!("{path}{condition}")) {
                Some(Value::Bool(enabled)) => return Some(*enabled),
                None | Some(Value::Object(_)) => {}
                Some(_) => self.warn(format!(
                    "condition {condition} of chart {} is neither true nor false",
                    dependency.name
                )),
            }
        }
        None
    }

    /// From the innermost chart outwards.
    fn import(&mut self, chart: &mut Chart) -> Result<(), HelmError> {
        for child in &mut chart.dependencies {
            self.import(child)?;
        }
        if chart.metadata.dependencies.is_empty() {
            return Ok(());
        }
        let mut values = coalesced(chart, Table::new(), Nulls::Keep, &mut Vec::new())?;
        let mut imported = Table::new();
        for dependency in &chart.metadata.dependencies {
            for import in &dependency.import_values {
                let path = format!("{}.{}", dependency.name, import.child);
                let Some(Value::Object(found)) = at(&values, &path) else {
                    self.warn(format!("{path}, which {} imports, is no map", chart.name()));
                    continue;
                };
                if import.parent.split('.').count() > STEPS {
                    let message = format!("import-values has a path of more than {STEPS} steps: shorten it");
                    return Err(HelmError::Dependencies { chart: chart.name().to_owned(), message });
                }
                let found = under(&import.parent, found.clone());
                coalesce::over(&mut imported, found, Nulls::Keep, self.warnings);
            }
        }
        coalesce::over(&mut values, imported, Nulls::Keep, self.warnings);
        chart.values = Value::Object(values);
        Ok(())
    }

    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// Sub-charts as Chart.yaml lists them, one for each alias; those that it does not list come first.
fn rename(chart: &mut Chart) {
    let fits = |child: &Chart, wanted: &Dependency| {
        child.name() == wanted.name && version::fits(&wanted.version, &child.metadata.version)
    };
    let wanted = &mut chart.metadata.dependencies;
    let listed = |child: &&Chart| wanted.iter().any(|wanted| fits(child, wanted));
    let mut children: Vec<Chart> =
        chart.dependencies.iter().filter(|child| !listed(child)).cloned().collect();
    for dependency in wanted {
        if let Some(child) = chart.dependencies.iter().find(|child| fits(child, dependency)) {
            let mut child = child.clone();
            dependency.alias_or_name().clone_into(&mut child.metadata.name);
            children.push(child);
        }
        dependency.name = dependency.alias_or_name().to_owned();
    }
    chart.dependencies = children;
}

/// The value at a dotted path.
fn at<'v>(values: &'v Table, path: &str) -> Option<&'v Value> {
    let mut steps = path.split('.');
    let first = values.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.as_object()?.get(step))
}

/// The table at a dotted path of a new one.
fn under(path: &str, table: Table) -> Table {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |inner, step| Table::from_iter([(step.to_owned(), Value::Object(inner))]))
}
