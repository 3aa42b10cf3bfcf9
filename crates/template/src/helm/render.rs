//! A chart and values in, the text of every template out.
//!
//! Templates run by descending name, deeper ones first, on one root for each chart that they may change. That order can
//! be seen: Istio's `zzz_profile.yaml` runs first and replaces `.Values` for all others.

use std::{cmp::Reverse, rc::Rc};

use serde_json::Value as Json;

use super::{
    capabilities::Capabilities,
    chart::Chart,
    coalesce::{self, Nulls, coalesced},
    dependencies,
    error::HelmError,
    rendered::Rendered,
    root::{self, Release, Renderable},
    schema, version,
};
use crate::{Limits, Map, MissingKey, Printed, Run, Templates, Value};

/// How a chart is rendered.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    pub limits: Limits,
    /// A missing key is an error, as `helm lint --strict` has it.
    pub strict: bool,
    pub skip_schema: bool,
    /// Conditions, tags, aliases and imported values of sub-charts count, as `helm template` has it; istioctl does without.
    pub dependencies: bool,
}

const NOTES: &str = "NOTES.txt";

pub fn render(
    chart: &Chart,
    values: &Json,
    release: &Release,
    capabilities: &Capabilities,
    options: &RenderOptions,
) -> Result<Rendered, HelmError> {
    let mut warnings = chart.warnings.clone();
    let values = coalesce::table(values)?;
    let processed;
    let chart = if options.dependencies {
        installable(chart, capabilities)?;
        processed = dependencies::processed(chart, &values, &mut warnings)?;
        &processed
    } else {
        chart
    };
    let values = Json::Object(coalesced(chart, values, Nulls::Remove, &mut warnings)?);
    if !options.skip_schema {
        fits_schema(chart, &values)?;
    }
    let mut templates = root::renderables(chart, &values, release, capabilities);
    templates
        .sort_by_cached_key(|template| Reverse((template.name.matches('/').count(), template.name.clone())));
    let (outputs, printed) = run(&templates, options)?;

    let own_notes = format!("{}/templates/{NOTES}", chart.name());
    let mut rendered = Rendered { crds: crds(chart)?, warnings, printed, ..Rendered::default() };
    for (name, text) in outputs {
        if name == own_notes {
            rendered.notes = Some(text);
        } else if !name.ends_with(NOTES) {
            rendered.files.push((name, text));
        }
    }
    rendered.files.sort();
    Ok(rendered)
}

/// What `helm template` refuses before it renders.
fn installable(chart: &Chart, capabilities: &Capabilities) -> Result<(), HelmError> {
    let name = || chart.name().to_owned();
    if chart.metadata.is_library() {
        return Err(HelmError::Library { chart: name() });
    }
    dependencies::complete(chart)?;
    let wanted = &chart.metadata.kube_version;
    let version = capabilities.kube_version.normalized();
    if !wanted.is_empty() && !version::fits(wanted, &version) {
        return Err(HelmError::KubeVersion { chart: name(), wanted: wanted.clone(), version });
    }
    Ok(())
}

fn fits_schema(chart: &Chart, values: &Json) -> Result<(), HelmError> {
    if let Some(schema) = &chart.schema {
        let name = || chart.name().to_owned();
        let findings = schema::check(schema, values)
            .map_err(|schema::Unusable(message)| HelmError::BadSchema { chart: name(), message })?;
        if !findings.is_empty() {
            return Err(HelmError::Schema { chart: name(), findings });
        }
    }
    for child in &chart.dependencies {
        if let Some(below) = values.get(child.name()).filter(|below| !below.is_null()) {
            fits_schema(child, below)?;
        }
    }
    Ok(())
}

/// The text of every template, and what `toYaml` printed.
fn run(
    renderables: &[Renderable<'_>],
    options: &RenderOptions,
) -> Result<(Vec<(String, String)>, Printed), HelmError> {
    let functions = super::functions::functions();
    let mut templates = Templates::new();
    for renderable in renderables {
        templates.add(&renderable.name, renderable.file.text()?, &functions)?;
    }
    let missing = if options.strict { MissingKey::Error } else { MissingKey::Zero };
    let mut run = Run::new(&templates, &functions, &options.limits).missing_key(missing);
    let mut outputs = Vec::new();
    for renderable in renderables.iter().filter(|renderable| !root::is_partial(&renderable.name)) {
        let about = [
            ("Name", Value::from(renderable.name.as_str())),
            ("BasePath", Value::Text(Rc::clone(&renderable.base_path))),
        ];
        renderable.root.insert("Template", Map::from_iter(about));
        let text = run.render(&renderable.name, &Value::Map(renderable.root.clone()))?;
        outputs.push((renderable.name.clone(), without_no_value(text)));
    }
    Ok((outputs, run.into_printed()))
}

/// What Go prints for a missing key is nothing in Helm.
fn without_no_value(text: String) -> String {
    if text.contains("<no value>") { text.replace("<no value>", "") } else { text }
}

fn crds(chart: &Chart) -> Result<Vec<(String, String)>, HelmError> {
    let text = |(name, data): (String, bytes::Bytes)| match str::from_utf8(&data) {
        Ok(text) => Ok((name, text.to_owned())),
        Err(error) => Err(super::ChartError::NotText { file: name, offset: error.valid_up_to() }.into()),
    };
    chart.crds().into_iter().map(text).collect()
}
