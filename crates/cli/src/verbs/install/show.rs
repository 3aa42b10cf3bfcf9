//! A plan, and what became of it, for people and for scripts.

use mizzen_cluster::Action;
use mizzen_install::deploy::{Event, Mesh, Plan, Problem, Report};
use serde_json::{Value, json};
use std::fmt::Write;

/// Every object that changes; new ones of a component in one line, unless all are asked for.
pub(super) fn plan(mesh: &Mesh, plan: &Plan, whole: bool) -> String {
    let mut text = String::new();
    if plan.makes_namespace {
        let _ = writeln!(text, "Namespace {}: new", mesh.namespace);
    }
    for part in &plan.parts {
        let count = |wanted: fn(&Action) -> bool| {
            part.objects.iter().filter(|(_, planned)| wanted(&planned.step.action)).count()
        };
        let (new, same) =
            (count(|action| *action == Action::Create), count(|action| *action == Action::Unchanged));
        let changed = part.objects.len() - new - same;
        let _ = writeln!(
            text,
            "{}: {}",
            part.component.title,
            counts(&[(new, "new"), (changed, "changed"), (same, "unchanged")])
        );
        for (_, planned) in &part.objects {
            let step = &planned.step;
            let shown = match step.action {
                Action::Unchanged => !step.left.is_empty(),
                Action::Create => whole,
                _ => true,
            };
            if shown {
                let _ = writeln!(text, "  {}", step.to_string().replace('\n', "\n  "));
            }
        }
    }
    if !plan.prune.is_empty() {
        let _ = writeln!(text, "Not wanted any more: {}", plan.prune.len());
    }
    for id in &plan.prune {
        let _ = writeln!(text, "  - {id}");
    }
    text
}

fn counts(counts: &[(usize, &str)]) -> String {
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") }
}

pub(super) fn plan_json(mesh: &Mesh, plan: &Plan, problems: &[Problem]) -> Value {
    let components: Vec<Value> = plan
        .parts
        .iter()
        .map(|part| {
            let steps: Vec<_> = part.objects.iter().map(|(_, planned)| &planned.step).collect();
            json!({ "component": part.component.name, "objects": steps })
        })
        .collect();
    let failed: Vec<Value> = plan
        .failed
        .iter()
        .map(|failed| json!({ "object": failed.id, "reason": failed.reason.to_string() }))
        .collect();
    json!({
        "namespace": mesh.namespace, "revision": mesh.revision, "profile": mesh.profile,
        "version": mesh.version.as_ref().map(ToString::to_string),
        "makesNamespace": plan.makes_namespace, "components": components, "prune": plan.prune,
        "problems": problems, "refused": failed, "changes": !plan.changes_nothing(),
    })
}

/// Objects that are named in one line.
const NAMED: usize = 3;

/// A line for an event; nothing where it would only be noise.
pub(crate) fn line(event: &Event) -> Option<String> {
    match event {
        Event::Begins { .. } | Event::Brought { .. } => None,
        Event::Waits { component, for_what } => {
            let more = for_what.len().saturating_sub(NAMED);
            let mut what: Vec<String> = for_what.iter().take(NAMED).map(ToString::to_string).collect();
            if more > 0 {
                what.push(format!("and {more} more"));
            }
            Some(format!("  {component} waits for {}", what.join("; ")))
        }
        Event::Ready { component } => Some(format!("✔ {component} is ready")),
        Event::Failed { component, reason } => Some(format!("✘ {component}: {reason}")),
        Event::Deleted { object } => Some(format!("  removed {object}")),
        Event::Kept { object, why } => Some(format!("  kept {object}: {why}")),
    }
}

pub(super) fn report_json(report: &Report, requests: u64, writes: u64) -> Value {
    let failures: Vec<Value> = report
        .failures
        .iter()
        .map(|failure| json!({ "component": failure.component, "reason": failure.reason }))
        .collect();
    json!({
        "done": report.failures.is_empty(), "objects": report.steps, "deleted": report.deleted, "failures": failures,
        "requests": requests, "writes": writes,
    })
}
