//! The objects that a tag's are taken from: charts, rendered with little more than the tag's name.

use mizzen_template::helm::{self, Capabilities, Chart, Release, RenderOptions};
use mizzen_text::{Code, Diagnostic, Source};
use serde_json::{Value, json};

use crate::{Charts, Input, Manifest, Refused, generate, manifest, tree};

/// The objects of a control plane that has nothing but this tag.
pub(super) fn control_plane(
    values: &Value,
    revision: &str,
    namespace: &str,
    charts: &dyn Charts,
) -> Result<Vec<Manifest>, Refused> {
    let mut values = values.clone();
    tree::put(&mut values, &["global", "istioNamespace"], json!(namespace));
    let mut spec =
        json!({ "profile": "empty", "components": { "pilot": { "enabled": true } }, "values": values });
    if !revision.is_empty() {
        spec["revision"] = json!(revision);
    }
    let operator =
        json!({ "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator", "spec": spec });
    let files = vec![Source::new("the tag", operator.to_string())];
    let generated = generate(&Input { files, ..Input::default() }, charts)?;
    Ok(generated.components.into_iter().flat_map(|component| component.objects).collect())
}

/// The objects of one chart that belongs to no component.
pub(super) fn alone(chart: &Chart, values: &Value, namespace: &str) -> Result<Vec<Manifest>, Refused> {
    let release = Release {
        name: "istio".to_owned(),
        namespace: namespace.to_owned(),
        is_install: false,
        is_upgrade: false,
        ..Release::default()
    };
    let rendered = helm::render(chart, values, &release, &Capabilities::default(), &RenderOptions::default())
        .map_err(|error| Diagnostic::new(Code::Invalid, error.to_string()))?;
    let mut objects = Vec::new();
    for (file, text) in rendered.files {
        if !file.ends_with(".txt") {
            manifest::parse(&file, text, &rendered.printed, &mut objects)?;
        }
    }
    Ok(objects)
}
