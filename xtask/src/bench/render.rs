//! `manifest generate` beside istioctl and `chart render` beside helm, both sides on Istio's own charts. What both print
//! is compared before anything is measured.

use std::{ffi::OsStr, path::Path, process::ExitCode};

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::side::{Side, build, in_turn};
use crate::{result, tools};

const NEEDS: [&str; 3] = ["istioctl", "helm", "modules/istio"];

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let rounds = if quick { 3 } else { 31 };
    if let Some(lack) = tools::ensure(|tool| NEEDS.contains(&tool), false)?.first() {
        bail!("not installed: {lack}");
    }
    let cache = tools::cache_folder()?;
    let (istioctl, helm) = (cache.join("bin/istioctl"), cache.join("bin/helm"));
    let manifests = cache.join("modules/istio/manifests");
    let mizzen = build(quick)?;
    let mut rows = Map::new();

    for profile in ["default", "demo"] {
        let choice = format!("profile={profile}");
        let generate = |program: &Path| {
            let words = ["manifest", "generate", "--set", &choice];
            // Each has images of its own unless told.
            let images = ["--set", "hub=mesh.example/images", "--set", "tag=1", "--manifests"];
            let words = words.into_iter().chain(images).map(OsStr::new);
            Side::new(program, words.chain([manifests.as_os_str()]))
        };
        let row = compared(&generate(&mizzen), &generate(&istioctl), rounds)?;
        rows.insert(format!("manifest generate, {profile}"), row);
    }
    for (name, folder) in
        [("istiod", "istio-control/istio-discovery"), ("gateway", "gateway"), ("base", "base")]
    {
        let chart = manifests.join("charts").join(folder);
        let side = |program: &Path, words: [&str; 3]| {
            let words = words.map(OsStr::new).into_iter().chain([chart.as_os_str()]);
            Side::new(program, words.chain(["--namespace", "istio-system"].map(OsStr::new)))
        };
        let ours = side(&mizzen, ["chart", "render", name]);
        let theirs = side(&helm, ["template", "--debug=false", name]);
        rows.insert(format!("chart {name}"), compared(&ours, &theirs, rounds)?);
    }
    let row = Value::Object(rows);
    println!("{row:#}");
    if save {
        result::save("render", &row)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compared(ours: &Side, theirs: &Side, rounds: usize) -> anyhow::Result<Value> {
    let (our_text, their_text) = (ours.output()?, theirs.output()?);
    if our_text != their_text {
        bail!("the two sides do not print the same: {} and {} bytes", our_text.len(), their_text.len());
    }
    let mut row = in_turn(ours, theirs, rounds)?;
    row["equalBytes"] = json!(our_text.len());
    Ok(row)
}
