//! What a run found: for people as lines and a page, for others as JSON.

use std::{collections::BTreeMap, fmt::Write as _};

use mizzen_testkit::proxy::Kind;
use serde_json::{Value, json};

use super::fleet::Sight;

/// Faults of a proxy that are written down; the first ones tell the cause.
const SHOWN: usize = 12;

/// Resources of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub sent: usize,
    pub taken: usize,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub scenario: String,
    /// By proxy, and of it by kind.
    pub proxies: BTreeMap<String, BTreeMap<Kind, Count>>,
    /// What is wrong, with the proxy's name before it.
    pub faults: Vec<String>,
    /// Why it could not be looked at to its end.
    pub broken: Option<String>,
    pub seconds: f64,
}

impl Outcome {
    pub(super) fn new(scenario: &str) -> Self {
        let scenario = scenario.to_owned();
        Self { scenario, proxies: BTreeMap::new(), faults: Vec::new(), broken: None, seconds: 0.0 }
    }

    pub(super) fn note(&mut self, sight: &Sight) {
        let count = |kind| (kind, Count { sent: sight.sent.count(kind), taken: sight.taken.count(kind) });
        self.proxies.insert(sight.proxy.clone(), Kind::ALL.into_iter().map(count).collect());
        self.faults.extend(sight.faults.iter().map(|fault| format!("{}: {fault}", sight.proxy)));
    }

    /// By every proxy all that was sent, and nothing went wrong on the way.
    pub fn taken(&self) -> bool {
        self.broken.is_none() && self.faults.is_empty() && !self.proxies.is_empty()
    }

    /// Of a kind, by all proxies together.
    pub fn count(&self, kind: Kind) -> Count {
        let each = self.proxies.values().filter_map(|kinds| kinds.get(&kind));
        each.fold(Count::default(), |sum, one| Count {
            sent: sum.sent + one.sent,
            taken: sum.taken + one.taken,
        })
    }

    /// One line of a table.
    pub fn line(&self) -> String {
        let mut line = format!(
            "{} {:<38} {} {:<7}",
            if self.taken() { "=" } else { "≠" },
            self.scenario,
            self.proxies.len(),
            if self.proxies.len() == 1 { "proxy" } else { "proxies" }
        );
        for kind in Kind::ALL {
            let Count { sent, taken } = self.count(kind);
            let _ = write!(line, " {} {:<9}", kind.word(), format!("{sent} / {taken}"));
        }
        let _ = write!(line, " {:>5.1} s", self.seconds);
        for wrong in self.broken.iter().chain(self.faults.iter().take(SHOWN)) {
            let _ = write!(line, "\n    {}", wrong.lines().next().unwrap_or_default());
        }
        line
    }

    fn page(&self) -> String {
        let mut page = format!("## {}\n\n", self.scenario);
        if let Some(broken) = &self.broken {
            let _ = writeln!(page, "broken: {broken}\n");
        }
        for fault in &self.faults {
            let _ = writeln!(page, "- {fault}");
        }
        page.push('\n');
        page
    }

    fn json(&self) -> Value {
        let proxies = self.proxies.iter().map(|(proxy, kinds)| {
            let kinds = kinds.iter().map(|(kind, count)| {
                (kind.word().to_owned(), json!({ "sent": count.sent, "taken": count.taken }))
            });
            (proxy.clone(), Value::Object(kinds.collect()))
        });
        json!({
            "taken": self.taken(), "proxies": proxies.collect::<serde_json::Map<_, _>>(),
            "faults": self.faults, "broken": self.broken,
        })
    }
}

pub struct Summary {
    pub outcomes: Vec<Outcome>,
}

impl Summary {
    pub fn taken(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.taken()).count()
    }

    pub fn total(&self) -> usize {
        self.outcomes.len()
    }

    pub fn proxies(&self) -> usize {
        self.outcomes.iter().map(|outcome| outcome.proxies.len()).sum()
    }

    /// Of a kind, by all proxies of all scenarios.
    pub fn count(&self, kind: Kind) -> Count {
        let each = self.outcomes.iter().map(|outcome| outcome.count(kind));
        each.fold(Count::default(), |sum, one| Count {
            sent: sum.sent + one.sent,
            taken: sum.taken + one.taken,
        })
    }

    pub fn lines(&self) -> String {
        let mut text = format!(
            "taken: {} / {} scenarios by {} Envoys; sent and in use:",
            self.taken(),
            self.total(),
            self.proxies()
        );
        for kind in Kind::ALL {
            let Count { sent, taken } = self.count(kind);
            let _ = write!(text, " {} {sent} / {taken}", kind.word());
        }
        text.push('\n');
        text
    }

    /// The red ones, with all that is wrong.
    pub fn page(&self) -> String {
        let red = self.outcomes.iter().filter(|outcome| !outcome.taken());
        let mut page = format!("# Envoys\n\n{}\n", self.lines());
        page.extend(red.map(Outcome::page));
        page
    }

    pub fn json(&self) -> Value {
        let kinds = Kind::ALL.into_iter().map(|kind| {
            let Count { sent, taken } = self.count(kind);
            (kind.word().to_owned(), json!({ "sent": sent, "taken": taken }))
        });
        let scenarios = self.outcomes.iter().map(|outcome| (outcome.scenario.clone(), outcome.json()));
        json!({
            "taken": self.taken(),
            "total": self.total(),
            "envoys": self.proxies(),
            "resources": kinds.collect::<serde_json::Map<_, _>>(),
            "scenarios": scenarios.collect::<serde_json::Map<_, _>>(),
        })
    }
}
