//! What a run found: for people as lines and a page, for others as JSON.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use super::pair::Sight;
use crate::compare::{Allowed, Difference, Report};

/// Differing leaves of a phase that are written down; the first ones tell the cause.
const SHOWN: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Cold,
    Deleted,
    Updated,
}

impl Phase {
    pub const ALL: [Self; 3] = [Self::Cold, Self::Deleted, Self::Updated];

    pub fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Deleted => "deleted",
            Self::Updated => "updated",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub scenario: String,
    pub phases: BTreeMap<Phase, Report>,
    pub notes: Vec<String>,
    /// Why it could not be looked at to its end.
    pub broken: Option<String>,
    /// Whether a change planted in a random leaf turned it red.
    pub seen: bool,
    pub seconds: f64,
}

impl Outcome {
    pub(super) fn new(scenario: &str) -> Self {
        Self {
            scenario: scenario.to_owned(),
            phases: BTreeMap::new(),
            notes: Vec::new(),
            broken: None,
            seen: false,
            seconds: 0.0,
        }
    }

    pub(super) fn note(&mut self, phase: Phase, sight: &Sight) {
        self.phases.insert(phase, sight.report.clone());
        self.notes.extend(sight.notes.iter().map(|note| format!("{}: {note}", phase.word())));
    }

    /// In every phase, and nothing went wrong on the way.
    pub fn equal(&self) -> bool {
        self.broken.is_none()
            && self.seen
            && self.notes.is_empty()
            && self.phases.len() == Phase::ALL.len()
            && self.phases.values().all(Report::equal)
    }

    /// One line of a table.
    pub fn line(&self) -> String {
        let mut line = format!("{} {:<38}", if self.equal() { "=" } else { "≠" }, self.scenario);
        for phase in Phase::ALL {
            let word = match self.phases.get(&phase) {
                None => "–".to_owned(),
                Some(report) if report.equal() => "=".to_owned(),
                Some(report) => format!("{} leaves", report.different.len()),
            };
            let _ = write!(line, " {} {word:<12}", phase.word());
        }
        let (theirs, ours) = self.leaves();
        let _ = write!(line, " {theirs:>7} / {ours:<7} {:>5.1} s", self.seconds);
        if let Some(reason) = self.broken.as_deref().and_then(|broken| broken.lines().next()) {
            let _ = write!(line, "\n  broken: {reason}");
        }
        line
    }

    /// Leaves of istiod and of ours, all phases.
    fn leaves(&self) -> (usize, usize) {
        let phases = self.phases.values();
        phases.fold((0, 0), |sum, report| (sum.0 + report.theirs, sum.1 + report.ours))
    }

    fn page(&self) -> String {
        let mut page = format!("## {}\n\n", self.scenario);
        if let Some(broken) = &self.broken {
            let _ = writeln!(page, "broken: {broken}\n");
        }
        if !self.seen && self.broken.is_none() {
            let _ = writeln!(page, "a planted change was not seen\n");
        }
        for note in &self.notes {
            let _ = writeln!(page, "{note}\n");
        }
        for (phase, report) in self.phases.iter().filter(|(_, report)| !report.equal()) {
            let _ = writeln!(page, "{}: {} differing leaves\n", phase.word(), report.different.len());
            for Difference { proxy, path, theirs, ours } in report.different.iter().take(SHOWN) {
                let word = |value: &Option<Value>| {
                    value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string)
                };
                let _ = writeln!(
                    page,
                    "- {proxy} {path}\n    istiod: {}\n    ours:   {}",
                    word(theirs),
                    word(ours)
                );
            }
            page.push('\n');
        }
        page
    }
}

pub struct Summary {
    pub outcomes: Vec<Outcome>,
    /// What each allowed difference has excused: path, reason, leaves.
    pub excused: Vec<(String, String, usize)>,
}

impl Summary {
    pub(super) fn new(outcomes: Vec<Outcome>, allowed: &Allowed) -> Self {
        let reports = || outcomes.iter().flat_map(|outcome| outcome.phases.values());
        let excused = allowed.0.iter().enumerate().map(|(place, allowance)| {
            let leaves = reports().filter_map(|report| report.excused.get(&place)).sum();
            (allowance.path.to_string(), allowance.reason.clone(), leaves)
        });
        Self { excused: excused.collect(), outcomes }
    }

    pub fn equal(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.equal()).count()
    }

    pub fn total(&self) -> usize {
        self.outcomes.len()
    }

    /// Leaves of istiod and of ours in all scenarios and phases.
    pub fn leaves(&self) -> (usize, usize) {
        let each = self.outcomes.iter().map(Outcome::leaves);
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Allowed differences that nobody needs.
    pub fn idle(&self) -> impl Iterator<Item = &str> {
        self.excused.iter().filter(|(_, _, leaves)| *leaves == 0).map(|(path, _, _)| path.as_str())
    }

    /// Scenarios in which a planted change was seen.
    pub fn proven(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.seen).count()
    }

    pub fn lines(&self) -> String {
        let (theirs, ours) = self.leaves();
        let mut text = format!(
            "equal: {} / {} scenarios; leaves: {theirs} of istiod, {ours} of ours; a planted change seen in {} / {}\n",
            self.equal(),
            self.total(),
            self.proven(),
            self.total()
        );
        for (path, reason, leaves) in &self.excused {
            let _ = writeln!(text, "allowed {leaves:>7} × {path}: {reason}");
        }
        text
    }

    /// The red ones, with their first differences.
    pub fn page(&self) -> String {
        let red = self.outcomes.iter().filter(|outcome| !outcome.equal());
        let mut page = format!("# Parity\n\n{}\n", self.lines());
        page.extend(red.map(Outcome::page));
        page
    }

    pub fn json(&self) -> Value {
        let (theirs, ours) = self.leaves();
        let scenario = |outcome: &Outcome| {
            let phases = outcome.phases.iter().map(|(phase, report)| {
                let row = json!({ "istiod": report.theirs, "ours": report.ours, "different": report.different.len() });
                (phase.word().to_owned(), row)
            });
            let row = json!({
                "equal": outcome.equal(), "leaves": phases.collect::<serde_json::Map<_, _>>(),
                "broken": outcome.broken, "notes": outcome.notes,
            });
            (outcome.scenario.clone(), row)
        };
        let allowed = self
            .excused
            .iter()
            .map(|(path, reason, leaves)| json!({ "path": path, "reason": reason, "leaves": leaves }));
        json!({
            "equal": self.equal(),
            "total": self.total(),
            "leaves": { "istiod": theirs, "ours": ours },
            "plantedChangesSeen": self.proven(),
            "allowed": allowed.collect::<Vec<_>>(),
            "scenarios": self.outcomes.iter().map(scenario).collect::<serde_json::Map<_, _>>(),
        })
    }
}
