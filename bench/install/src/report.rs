//! Figures of both sides, and the ratio between them.

use crate::measure::Cost;
use serde_json::{Value, json};

/// Ours first.
pub(crate) fn row(ours: (&[Cost], &Value), theirs: (&[Cost], &Value)) -> Value {
    let ratio = |of: fn(&Cost) -> f64| median(ours.0, of) / median(theirs.0, of);
    let all = |requests: &Value| requests["all"].as_f64().unwrap_or_default();
    json!({
        "mizzen": side(ours), "istioctl": side(theirs),
        "ratio": {
            "seconds": ratio(|cost| cost.seconds), "cpuSeconds": ratio(|cost| cost.cpu_seconds),
            "requests": all(ours.1) / all(theirs.1),
        },
    })
}

fn side((costs, requests): (&[Cost], &Value)) -> Value {
    let seconds = costs.iter().map(|cost| cost.seconds);
    let spread = [seconds.clone().fold(f64::INFINITY, f64::min), seconds.fold(0.0, f64::max)];
    json!({
        "medianSeconds": median(costs, |cost| cost.seconds), "spreadSeconds": spread,
        "medianCpuSeconds": median(costs, |cost| cost.cpu_seconds), "requests": requests,
    })
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn say(figures: &Value) {
    println!("{figures:#}");
}
