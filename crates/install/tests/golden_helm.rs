//! Every case of upstream's helm_test.go: a chart of the module, values, a golden.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod upstream;

use std::fs;

use mizzen_install::{Charts, get_path};
use mizzen_template::helm::{Capabilities, Release, RenderOptions, render};
use mizzen_testkit::needs;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use upstream::{difference, documents, live, module, selected};

/// One case, as the Go table has it.
struct Case {
    name: String,
    release: String,
    namespace: String,
    chart: String,
    select: String,
    upgrade: bool,
}

/// The table is read out of the Go file: its literals are one field a line.
fn cases() -> Vec<Case> {
    let text = fs::read_to_string(module("operator/pkg/helm/helm_test.go")).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let Some((field, value)) = line.trim().trim_end_matches(',').split_once(':') else { continue };
        let value = value.trim().trim_matches('"').to_owned();
        match field {
            "desc" => cases.push(Case {
                name: value,
                release: String::new(),
                namespace: String::new(),
                chart: String::new(),
                select: String::new(),
                upgrade: false,
            }),
            "releaseName" => cases.last_mut().unwrap().release = value,
            "namespace" => cases.last_mut().unwrap().namespace = value,
            "chartName" => cases.last_mut().unwrap().chart = value,
            "diffSelect" => cases.last_mut().unwrap().select = value,
            "isUpgrade" => cases.last_mut().unwrap().upgrade = value == "true",
            _ => {}
        }
    }
    cases
}

#[test]
fn every_chart_golden_of_upstream_is_reproduced() {
    needs!(upstream::NEEDS);
    let charts = live();
    let cases = cases();
    assert_eq!(cases.len(), 32);
    let (mut equal, mut bytes, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let file = |kind: &str, suffix: &str| {
            fs::read_to_string(module(&format!(
                "operator/pkg/helm/testdata/{kind}/{}{suffix}.yaml",
                case.name
            )))
            .unwrap()
        };
        let source = Source::new(case.name.as_str(), file("input", ""));
        let input =
            yaml::load_all(&source, &Options::KUBERNETES).next().map(|document| document.unwrap().value);
        let input = input.unwrap_or_default();
        let values = get_path(&input, "spec.values").cloned().unwrap_or_default();
        let chart = charts.chart(&case.chart).unwrap();
        let release = Release {
            name: case.release.clone(),
            namespace: case.namespace.clone(),
            is_upgrade: case.upgrade,
            is_install: !case.upgrade,
            ..Release::default()
        };
        let rendered = render(&chart, &values, &release, &Capabilities::default(), &RenderOptions::default());
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(error) => {
                wrong.push(format!("{}: {error}", case.name));
                continue;
            }
        };
        let texts: Vec<&str> = rendered.files.iter().map(|(_, text)| text.as_str()).collect();
        let (text, ours) = selected(&texts.join("\n---\n"), &case.select);
        let golden = file("output", ".golden");
        let theirs: Vec<_> = documents(&golden).into_iter().map(|(.., value)| value).collect();
        bytes += usize::from(text == golden);
        if ours.len() != theirs.len() {
            wrong.push(format!("{}: {} objects, {} in the golden", case.name, ours.len(), theirs.len()));
        } else if let Some(difference) =
            ours.iter().zip(&theirs).enumerate().find_map(|(at, (a, b))| difference(&format!("[{at}]"), a, b))
        {
            wrong.push(format!("{}: {difference}", case.name));
        } else {
            equal += 1;
        }
    }
    println!("helm: {equal} of {} equal, {bytes} byte for byte", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((equal, bytes), (cases.len(), cases.len()));
}
