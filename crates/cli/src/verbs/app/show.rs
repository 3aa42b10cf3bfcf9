//! A plan of a release and what became of it, for people and for scripts.

use super::left;
use crate::style::{BAD, CHANGED, GOOD, LITERAL};
use mizzen_app::release::{
    Cause, Event, Leaving, Ledger, Lock, Owner, Plan, PlannedStep, Presence, Release, Report,
};
use mizzen_cluster::{Action, FieldChange, ObjectId, short};
use serde_json::{Value, json};
use std::fmt::Write;

/// Every object that changes, field by field; of those that stay how many they are.
pub(super) fn plan(owner: &Owner, plan: &Plan) -> String {
    let mut text = head(owner, plan.before.as_ref().map(|before| &before.ledger));
    for step in &plan.steps {
        text.push_str(&shown(step));
    }
    leaving(&mut text, &plan.leaving);
    let (mut new, mut changed, mut same) = (0, 0, 0);
    for step in &plan.steps {
        match step.planned.step.action {
            Action::Create => new += 1,
            Action::Unchanged => same += 1,
            _ => changed += 1,
        }
    }
    let gone = plan.leaving.iter().filter(|leaving| leaving.kept.is_none()).count();
    // An autoscaler's field is meant to be its own.
    let left = plan.steps.iter().flat_map(|step| &step.planned.step.left);
    let left = left.filter(|left| !left.meant).count();
    if left > 0 {
        let what = if left == 1 { "a field stays".to_owned() } else { format!("{left} fields stay") };
        let _ = writeln!(text, "{what} as others have set it; --force-conflicts sets all as the Spec says");
    }
    if !plan.failed.is_empty() {
        return text;
    }
    let _ = writeln!(text, "{new} to create, {changed} to update, {gone} to delete, {same} unchanged");
    text
}

fn head(owner: &Owner, ledger: Option<&Ledger>) -> String {
    let name = owner.name();
    let state = match ledger.map(|ledger| (ledger.current(), ledger.newest())) {
        None | Some((None, None)) => "nothing has been applied yet".to_owned(),
        Some((None, Some(newest))) => format!("release {} {}", newest.number, newest.phase.word()),
        Some((Some(current), Some(newest))) if current.number != newest.number => {
            format!(
                "release {} is in force, release {} {}",
                current.number,
                newest.number,
                newest.phase.word()
            )
        }
        Some((Some(current), _)) => format!("release {} is in force", current.number),
    };
    format!("{LITERAL}{name}{LITERAL:#} in namespace {}: {state}\n", owner.namespace)
}

fn shown(step: &PlannedStep) -> String {
    let (id, plan) = (&step.wanted.desired.id, &step.planned.step);
    let others = step.cause == Cause::Others;
    let mut text = match &plan.action {
        Action::Unchanged if plan.left.is_empty() => return String::new(),
        Action::Unchanged => format!("  = {id}\n"),
        Action::Create if others => format!("  {GOOD}+ {id}{GOOD:#} (somebody has deleted it)\n"),
        Action::Create => format!("  {GOOD}+ {id}{GOOD:#}\n"),
        Action::Adopt { from, .. } => {
            let from: Vec<String> = from.iter().map(ToString::to_string).collect();
            format!("  {CHANGED}~ {id}{CHANGED:#} (taken over from {})\n", from.join(", "))
        }
        Action::Change { .. } if others => {
            format!("  {CHANGED}~ {id}{CHANGED:#} (somebody else has changed it)\n")
        }
        Action::Change { .. } => format!("  {CHANGED}~ {id}{CHANGED:#}\n"),
        Action::Delete => format!("  {BAD}- {id}{BAD:#}\n"),
    };
    if let Action::Change { changes } | Action::Adopt { changes, .. } = &plan.action {
        for change in changes {
            text.push_str(&if is_secret(id, &change.path) {
                let what = match (&change.before, &change.after) {
                    (None, _) => "comes",
                    (_, None) => "goes",
                    _ => "changes",
                };
                format!("      {}: {what}\n", change.path)
            } else {
                field(change)
            });
        }
    }
    for line in plan.left.iter().flat_map(|left| left::lines(id, left)) {
        let _ = writeln!(text, "      {line}");
    }
    text
}

/// What is shown ends up in logs that others read.
pub(super) fn is_secret(id: &ObjectId, path: &str) -> bool {
    let within = |part: &str| {
        path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    id.group.is_empty() && id.kind == "Secret" && (within("data") || within("stringData"))
}

/// Paths of changes and of what is left, without the values of Secrets.
fn values(id: &ObjectId, all: Value) -> Value {
    let mut all = all;
    for one in all.as_array_mut().into_iter().flatten() {
        if is_secret(id, one["path"].as_str().unwrap_or_default()) {
            for part in ["before", "after", "ours", "theirs"] {
                if one.get(part).is_some_and(|value| !value.is_null()) {
                    one[part] = "(hidden)".into();
                }
            }
        }
    }
    all
}

pub(super) fn field(change: &FieldChange) -> String {
    let path = &change.path;
    match (&change.before, &change.after) {
        (Some(Value::String(before)), Some(Value::String(after)))
            if before.contains('\n') || after.contains('\n') =>
        {
            // The lines that go and the lines that come.
            let coloured = |line: &str| match line.trim_start().chars().next() {
                Some('-') => format!("      {BAD}{line}{BAD:#}\n"),
                Some('+') => format!("      {GOOD}{line}{GOOD:#}\n"),
                _ => format!("      {line}\n"),
            };
            change.to_string().lines().map(coloured).collect()
        }
        (Some(before), Some(after)) => {
            format!("      {path}: {BAD}{}{BAD:#} → {GOOD}{}{GOOD:#}\n", short(before), short(after))
        }
        (None, Some(after)) => format!("      {path}: {GOOD}+ {}{GOOD:#}\n", short(after)),
        (Some(before), None) => format!("      {path}: {BAD}- {}{BAD:#}\n", short(before)),
        (None, None) => String::new(),
    }
}

fn leaving(text: &mut String, all: &[Leaving]) {
    for Leaving { id, kept } in all {
        let _ = match kept {
            Some(why) => writeln!(text, "  = {id} (stays: {why})"),
            None => writeln!(text, "  {BAD}- {id}{BAD:#}{}", along(id)),
        };
    }
}

/// What goes with it.
fn along(id: &ObjectId) -> &'static str {
    match id.kind.as_str() {
        "Namespace" => " (with everything in it)",
        "CustomResourceDefinition" => " (with every object of its kind that is this application's)",
        _ => "",
    }
}

pub(super) fn removal(owner: &Owner, ledger: Option<&Ledger>, all: &[Leaving]) -> String {
    let mut text = head(owner, ledger);
    leaving(&mut text, all);
    let gone = all.iter().filter(|leaving| leaving.kept.is_none()).count();
    let _ = writeln!(text, "{gone} to delete");
    text
}

/// `ana@laptop (apply of release 4, 3 of 12 objects, since …)`
pub(super) fn at_work(lock: &Lock, release: Option<&Release>) -> String {
    let doing = release.map(|release| {
        format!(
            "{} as release {}, {} of {} objects, ",
            release.what, release.number, release.done, release.objects
        )
    });
    format!("{} ({}since {})", lock.who, doing.unwrap_or_default(), lock.since)
}

/// Who has the lock, and whether anybody is still behind it.
pub(super) fn presence(presence: Presence, lock: &Lock, release: Option<&Release>) -> String {
    let who = at_work(lock, release);
    match presence {
        Presence::AtWork => format!("at work: {who}"),
        Presence::Gone => format!(
            "nobody is at work: the process of {who} is gone; the next `mizzen app apply` goes on from there"
        ),
        Presence::Silent => format!(
            "nothing is heard of {who}; if you know that it has ended, --break-lock goes on from there"
        ),
    }
}

/// In Kusion's words, which programs know.
fn word(action: &Action) -> &'static str {
    match action {
        Action::Create => "Create",
        Action::Change { .. } | Action::Adopt { .. } => "Update",
        Action::Unchanged => "UnChanged",
        Action::Delete => "Delete",
    }
}

pub(super) fn plan_json(owner: &Owner, plan: &Plan, warnings: &[String]) -> Value {
    let ledger = plan.before.as_ref().map(|before| &before.ledger);
    let mut steps: Vec<Value> = Vec::new();
    for step in &plan.steps {
        let planned = &step.planned.step;
        let mut shown = json!({ "object": planned.id, "action": word(&planned.action) });
        match &planned.action {
            Action::Change { changes } => shown["changes"] = values(&planned.id, json!(changes)),
            Action::Adopt { from, changes } => {
                shown["changes"] = values(&planned.id, json!(changes));
                shown["takenOverFrom"] = json!(from);
            }
            _ => {}
        }
        if !planned.left.is_empty() {
            shown["left"] = values(&planned.id, json!(planned.left));
        }
        if step.cause == Cause::Others {
            shown["changedByOthers"] = true.into();
        }
        steps.push(shown);
    }
    for leaving in &plan.leaving {
        steps.push(match &leaving.kept {
            None => json!({ "object": leaving.id, "action": "Delete" }),
            Some(why) => json!({ "object": leaving.id, "action": "UnChanged", "stays": why }),
        });
    }
    let refused: Vec<Value> = plan
        .failed
        .iter()
        .map(|failed| json!({ "object": failed.id, "reason": failed.reason.to_string() }))
        .collect();
    json!({
        "application": owner.app, "stack": owner.stack, "namespace": owner.namespace,
        "release": ledger.and_then(|ledger| ledger.current()).map(|release| release.number),
        "lock": ledger.and_then(|ledger| ledger.lock.as_ref()),
        "steps": steps, "warnings": warnings, "refused": refused, "changes": !plan.does_nothing(),
    })
}

/// A line for an event; nothing where it would only be noise.
pub(super) fn event(event: &Event) -> Option<String> {
    /// Objects that are named in one line.
    const NAMED: usize = 3;
    match event {
        Event::Brought { step, .. } if step.action == Action::Unchanged => None,
        Event::Brought { step, done, of } => {
            let done_to = match &step.action {
                Action::Create => "created",
                Action::Adopt { .. } => "taken over",
                _ => "updated",
            };
            Some(format!("  [{done}/{of}] {done_to} {}", step.id))
        }
        Event::Failed { id, reason } => {
            let named = if reason.contains(&id.to_string()) { String::new() } else { format!("{id}: ") };
            Some(format!("{BAD}✘{BAD:#} {named}{reason}"))
        }
        Event::Waits { for_what } => {
            let more = for_what.len().saturating_sub(NAMED);
            let mut what: Vec<String> = for_what.iter().take(NAMED).map(ToString::to_string).collect();
            if more > 0 {
                what.push(format!("and {more} more"));
            }
            Some(format!("  waits for {}", what.join("; ")))
        }
        Event::Deleted { id } => Some(format!("  deleted {id}")),
        Event::Kept { id, why } => Some(format!("  {id} stays: {why}")),
    }
}

pub(super) fn report_json(report: &Report, requests: u64, writes: u64) -> Value {
    let told = |list: &[(ObjectId, String)]| -> Vec<Value> {
        list.iter().map(|(id, why)| json!({ "object": id, "reason": why })).collect()
    };
    let steps: Vec<Value> = report
        .steps
        .iter()
        .map(|step| json!({ "object": step.id, "action": word(&step.action), "left": values(&step.id, json!(step.left)) }))
        .collect();
    json!({
        "release": report.number, "steps": steps, "deleted": report.deleted, "stays": told(&report.kept),
        "failed": told(&report.failures), "notBegun": report.given_up, "interrupted": report.interrupted,
        "inForce": report.is_well() && left::of(&report.steps).is_empty(),
        "requests": requests, "writes": writes,
    })
}
