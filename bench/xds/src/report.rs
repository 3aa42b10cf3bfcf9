//! The table, and the same as JSON.

use std::{collections::BTreeSet, fmt, fs};

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::{
    Arguments,
    plane::Which,
    rounds::{Figures, median},
};

#[expect(clippy::print_stderr, reason = "progress of a command for the person who runs it")]
pub(crate) fn say(line: fmt::Arguments<'_>) {
    eprintln!("{line}");
}

/// Everything that was measured of one side, run by run.
fn values(runs: &[(Which, Figures)], which: Which, what: &str, unit: &str) -> Vec<f64> {
    let of = runs.iter().filter(|(of, _)| *of == which);
    of.filter_map(|(_, figures)| figures.get(what)?.get(unit).copied()).collect()
}

fn shown(unit: &str, value: f64) -> String {
    match unit {
        "bytes" if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        "bytes" => format!("{:.1} kB", value / 1e3),
        "seconds" | "worstSeconds" | "cpuSeconds" if value < 1.0 => format!("{:.1} ms", value * 1e3),
        "seconds" | "worstSeconds" | "cpuSeconds" => format!("{value:.2} s"),
        _ => format!("{value:.0}"),
    }
}

#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
pub(crate) fn print(arguments: &Arguments, runs: &[(Which, Figures)]) -> Result<()> {
    let sides: BTreeSet<Which> = runs.iter().map(|(which, _)| *which).collect();
    let rows: BTreeSet<(&str, &str)> = runs
        .iter()
        .flat_map(|(_, figures)| {
            figures.iter().flat_map(|(what, units)| units.keys().map(move |unit| (*what, *unit)))
        })
        .collect();
    let mut table = Map::new();
    for (what, unit) in rows {
        let ours = values(runs, Which::Mizzen, what, unit);
        let mut row = Map::new();
        let mut line = format!("{what:<17} {unit:<13}");
        for &side in &sides {
            let values = values(runs, side, what, unit);
            let (low, high) =
                values.iter().fold((f64::MAX, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
            let middle = median(values);
            line += &format!(
                "  {} {} ({}–{})",
                side.name(),
                shown(unit, middle),
                shown(unit, low),
                shown(unit, high)
            );
            let ratio = median(ours.clone()) / middle;
            if side != Which::Mizzen {
                line += &format!("  ratio {ratio:.3}");
                row.insert(format!("ratio to {}", side.name()), json!(ratio));
            }
            row.insert(side.name().to_owned(), json!({ "median": middle, "spread": [low, high] }));
        }
        println!("{line}");
        table.insert(format!("{what}, {unit}"), Value::Object(row));
    }
    if let Some(out) = &arguments.out {
        let document = json!({
            "services": arguments.services, "endpoints": arguments.endpoints, "proxies": arguments.proxies,
            "objects": arguments.objects * 2, "runs": arguments.runs, "changes": arguments.changes,
            "churnSeconds": arguments.churn, "figures": table,
        });
        fs::write(out, serde_json::to_string_pretty(&document)? + "\n")?;
    }
    Ok(())
}
