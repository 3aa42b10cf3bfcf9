//! A pass for people: the lines of Kyma's local command, and what was done below them.

use mizzen_install::deploy::Event;
use mizzen_operator::istio::reconcile::{Order, Outcome, Status, Told};
use std::fmt::Write;

/// `line` is that of an event of the installer.
pub(super) fn told(told: &Told, order: &Order, line: fn(&Event) -> Option<String>) -> String {
    match told {
        Told::Begins(_) if order.dry_run => String::new(),
        Told::Begins(component) => format!("Component '{component}' has status 'running'\n"),
        // Nothing is left to wait for.
        Told::Event(Event::Waits { for_what, .. }) if for_what.is_empty() => String::new(),
        Told::Event(event) => line(event).map(|line| format!("  {line}\n")).unwrap_or_default(),
        Told::Ends(outcome) if order.dry_run => planned(outcome, order),
        Told::Ends(outcome) => {
            let mut text = notes(outcome);
            let _ = writeln!(text, "  {}", count(outcome, if order.delete { "deleted" } else { "written" }));
            let _ = writeln!(text, "Component '{}' has status '{}'", outcome.component, word(outcome.status));
            text
        }
    }
}

/// Every object.
fn planned(outcome: &Outcome, order: &Order) -> String {
    let what = if order.delete { "to delete" } else { "to write" };
    let mut text = match outcome.status {
        Status::Success => format!("Component '{}': {}\n", outcome.component, count(outcome, what)),
        status => format!("Component '{}': {}\n", outcome.component, word(status)),
    };
    for step in &outcome.steps {
        let _ = writeln!(text, "  {}", step.to_string().replace('\n', "\n  "));
    }
    text + &notes(outcome)
}

fn count(outcome: &Outcome, what: &str) -> String {
    match outcome.steps.len() {
        0 => format!("nothing {what}"),
        1 => format!("1 object {what}"),
        count => format!("{count} objects {what}"),
    }
}

fn notes(outcome: &Outcome) -> String {
    outcome.notes.iter().map(|note| format!("  {}\n", note.replace('\n', "\n  "))).collect()
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Success => "success",
        Status::Error => "error",
        Status::NotStarted => "notstarted",
    }
}

/// One line of the error at the end.
pub(super) fn failure(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("  {}: {}", outcome.component, error.replace('\n', "\n    ")),
        None => format!("  {}: not started", outcome.component),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_cluster::{ObjectId, wait::Waiting};
    use mizzen_operator::istio::reconcile::Values;
    use std::time::Duration;

    #[test]
    fn a_wait_that_is_over_is_no_line() {
        let order = Order {
            components: Vec::new(),
            values: Values::default(),
            size: None,
            kyma: String::new(),
            delete: true,
            dry_run: false,
            force: false,
            patience: Duration::ZERO,
        };
        let of = |for_what: Vec<Waiting>| {
            let event = Event::Waits { component: "The mesh", for_what };
            told(&Told::Event(event), &order, crate::verbs::install::line)
        };
        let id = ObjectId::new("", "Pod", "n", "p");
        let waits = of(vec![Waiting { id, reason: "it is going".to_owned() }]);
        assert!(waits.contains("The mesh waits for") && waits.contains("n/p"), "{waits}");
        assert_eq!(of(Vec::new()), "");
    }
}
