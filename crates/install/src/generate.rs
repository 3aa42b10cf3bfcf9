//! From what a person gives to the objects of a mesh: merge, validate, render, patch.

use std::{panic::resume_unwind, thread};

use mizzen_template::helm::{self, Capabilities, Chart, KubeVersion, Release, RenderOptions};
use mizzen_text::{Code, Diagnostic, Severity};
use serde_json::Value;

use crate::{
    COMPONENTS, Charts, ChartsError, Component, Entry, Input, Manifest, Merged, Refused, manifest,
    merge::merge,
    settings, tree,
    validation::{self, Finding},
};

/// Everything that is to be installed.
#[derive(Debug)]
pub struct Generated {
    /// Those that are on, in the order in which they are rendered.
    pub components: Vec<ComponentManifests>,
    pub warnings: Vec<Diagnostic>,
    pub merged: Merged,
}

/// The objects of one component; of all of its entries, where it has several.
#[derive(Debug)]
pub struct ComponentManifests {
    pub component: &'static Component,
    /// In the order of the chart's files.
    pub objects: Vec<Manifest>,
}

pub fn generate(input: &Input, charts: &dyn Charts) -> Result<Generated, Refused> {
    let mut merged = merge(input, charts)?;
    let mut warnings = std::mem::take(&mut merged.warnings);
    validate(&merged, input.force, &mut warnings)?;
    if let Some(values @ Value::Object(_)) = tree::get(&merged.tree, &["spec", "unvalidatedValues"]).cloned()
    {
        tree::merge(&mut merged.tree, &serde_json::json!({"spec": {"values": values}}));
    }
    let capabilities = capabilities(input)?;
    let placed = |mut refused: Refused| {
        refused.0.iter_mut().for_each(|diagnostic| place(diagnostic, &merged));
        refused
    };
    let mut jobs = Vec::new();
    for component in &COMPONENTS {
        let entries = component.entries(&merged.tree).map_err(placed)?;
        if !entries.is_empty() {
            jobs.push((component, entries));
        }
    }
    let render = |(component, entries): &(&'static Component, Vec<Entry>)| {
        component_manifests(component, entries, charts, &merged.tree, &capabilities)
    };
    // The first, base with its CRDs, takes as long as the others together.
    let results: Vec<_> = thread::scope(|scope| {
        let Some((first, others)) = jobs.split_first() else { return Vec::new() };
        let first = scope.spawn(|| render(first));
        let others: Vec<_> = others.iter().map(render).collect();
        let first = first.join().unwrap_or_else(|panic| resume_unwind(panic));
        [first].into_iter().chain(others).collect()
    });
    let mut components = Vec::new();
    for result in results {
        let (manifests, told) = result.map_err(placed)?;
        components.push(manifests);
        warnings.extend(told);
    }
    warnings.iter_mut().for_each(|warning| place(warning, &merged));
    Ok(Generated { components, warnings, merged })
}

/// Renders all entries of one component.
fn component_manifests(
    component: &'static Component,
    entries: &[Entry],
    charts: &dyn Charts,
    merged: &Value,
    capabilities: &Capabilities,
) -> Result<(ComponentManifests, Vec<Diagnostic>), Refused> {
    let (mut objects, mut warnings) = (Vec::new(), Vec::new());
    let mut loaded = None;
    for entry in entries {
        let chart = match &loaded {
            Some(chart) => chart,
            None => loaded.insert(chart(component, entry, charts)?),
        };
        let (manifests, told) = render(component, entry, chart, merged, capabilities)?;
        objects.extend(manifests);
        warnings.extend(told);
    }
    Ok((ComponentManifests { component, objects }, warnings))
}

/// What is wrong stops everything, unless it is forced.
fn validate(merged: &Merged, force: bool, warnings: &mut Vec<Diagnostic>) -> Result<(), Refused> {
    let findings = validation::check(&merged.tree);
    let diagnostic = |finding: Finding, code: Code| {
        let mut diagnostic = Diagnostic::new(code, finding.message).path(finding.path);
        diagnostic.hint = finding.hint;
        place(&mut diagnostic, merged);
        // Quotes of a flag are the shell's.
        let of_a_flag = diagnostic.place.as_ref().is_some_and(|place| place.span.is_none());
        if of_a_flag && diagnostic.hint.as_deref() == Some("put it in quotes") {
            diagnostic.hint =
                Some("`--set` takes it for a number or a boolean; write it in a file, in quotes".into());
        }
        diagnostic
    };
    let errors: Vec<Diagnostic> =
        findings.errors.into_iter().map(|finding| diagnostic(finding, Code::Invalid)).collect();
    if !errors.is_empty() && !force {
        return Err(Refused(errors));
    }
    warnings.extend(errors.into_iter().map(|error| error.severity(Severity::Warning)));
    warnings.extend(findings.warnings.into_iter().map(|finding| diagnostic(finding, Code::Doubtful)));
    Ok(())
}

fn place(diagnostic: &mut Diagnostic, merged: &Merged) {
    if diagnostic.place.is_none() && !diagnostic.path.0.is_empty() {
        diagnostic.place = merged.origins.place(&diagnostic.path);
    }
}

/// The oldest Kubernetes that Istio 1.31 supports, which is what it renders for where no cluster is asked.
const OLDEST: &str = "v1.32.0";

fn capabilities(input: &Input) -> Result<Capabilities, Refused> {
    let text = input.kube_version.as_deref().unwrap_or(OLDEST);
    let version = KubeVersion::parse(text).ok_or_else(|| {
        Refused::because(format!("`{text}` is no version of Kubernetes: write it like `v1.33.4`"))
    })?;
    Ok(Capabilities::default().with_kube_version(version))
}

fn chart(component: &Component, entry: &Entry, charts: &dyn Charts) -> Result<Chart, Refused> {
    charts.chart(component.chart).map_err(|error| {
        let field = component.field;
        let (message, hint) = match error {
            ChartsError::NoChart { folder, source_name } => (
                format!("`components.{field}` is switched on, but there is no chart `{folder}` in {source_name}"),
                Some(format!(
                    "give Istio's own charts, which have it: `--manifests DIR` with the folder `manifests` of an Istio \
                     release; or switch it off with `--set {}.enabled=false`",
                    entry.path.to_string().trim_start_matches("spec.")
                )),
            ),
            error => (error.to_string(), None),
        };
        let mut diagnostic = Diagnostic::new(Code::Unreadable, message);
        // Where charts cannot be had at all, no component is to blame.
        if hint.is_some() {
            diagnostic = diagnostic.path(entry.path.clone());
        }
        diagnostic.hint = hint;
        diagnostic.into()
    })
}

fn render(
    component: &Component,
    entry: &Entry,
    chart: &Chart,
    merged: &Value,
    capabilities: &Capabilities,
) -> Result<(Vec<Manifest>, Vec<Diagnostic>), Refused> {
    let values = component.values(entry, merged);
    let release = Release {
        name: "istio".to_owned(),
        namespace: entry.namespace.clone(),
        is_install: false,
        is_upgrade: false,
        ..Release::default()
    };
    let rendered = helm::render(chart, &values, &release, capabilities, &RenderOptions::default())
        .map_err(|error| Diagnostic::new(Code::Invalid, error.to_string()))?;
    let mut objects = Vec::new();
    let mut warnings = Vec::new();
    for (file, text) in rendered.files {
        // Notes are for people.
        if file.ends_with(".txt") {
            warnings.extend(notes(&text));
        } else {
            manifest::parse(&file, text, &rendered.printed, &mut objects)?;
        }
    }
    let without_crds = chart.name() == "base"
        && tree::get(&values, &["base", "enableIstioConfigCRDs"]) == Some(&Value::Bool(false));
    if !without_crds {
        for (file, text) in rendered.crds {
            manifest::parse(&file, text, &rendered.printed, &mut objects)?;
        }
    }
    warnings.extend(rendered.notes.iter().flat_map(|text| notes(text)));
    warnings.extend(settings::apply(component, entry, &values, &mut objects)?);
    Ok((objects, warnings))
}

/// Charts warn in their notes.
fn notes(text: &str) -> impl Iterator<Item = Diagnostic> {
    let lines = text.split('\n').filter_map(|line| line.strip_prefix("WARNING: "));
    lines.map(|line| Diagnostic::new(Code::Doubtful, line.trim_end()).severity(Severity::Warning))
}
