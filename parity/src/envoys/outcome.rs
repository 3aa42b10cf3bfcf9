//! What a run found: for people as lines and a page, for others as JSON.

use std::{collections::BTreeMap, fmt::Write as _, iter::Sum};

use mizzen_testkit::proxy::Kind;
use serde_json::{Map, Value, json};

use super::fleet::Sight;
use crate::run::Phase;

/// Faults of a proxy that are written down; the first ones tell the cause.
const SHOWN: usize = 12;

/// Resources of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub sent: usize,
    pub taken: usize,
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |sum, one| Self {
            sent: sum.sent + one.sent,
            taken: sum.taken + one.taken,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub scenario: String,
    /// By phase and proxy, and of that by kind.
    pub phases: BTreeMap<Phase, BTreeMap<String, BTreeMap<Kind, Count>>>,
    /// What is wrong, with phase and proxy before it.
    pub faults: Vec<String>,
    /// Why it could not be looked at to its end.
    pub broken: Option<String>,
    pub seconds: f64,
}

impl Outcome {
    pub(super) fn new(scenario: &str) -> Self {
        let scenario = scenario.to_owned();
        Self { scenario, phases: BTreeMap::new(), faults: Vec::new(), broken: None, seconds: 0.0 }
    }

    pub(super) fn note(&mut self, phase: Phase, sight: &Sight) {
        let proxies = sight.sent.iter().map(|(proxy, sent)| {
            let taken = |kind| sight.taken.get(proxy).map_or(0, |taken| taken.count(kind));
            let count = |kind| (kind, Count { sent: sent.count(kind), taken: taken(kind) });
            (proxy.clone(), Kind::ALL.into_iter().map(count).collect())
        });
        self.phases.insert(phase, proxies.collect());
        self.faults.extend(sight.faults.iter().map(|fault| format!("{}: {fault}", phase.word())));
    }

    /// By every proxy all that was sent, in every phase, and nothing went wrong on the way.
    pub fn taken(&self) -> bool {
        self.broken.is_none() && self.faults.is_empty() && self.phases.len() == Phase::ALL.len()
    }

    pub fn proxies(&self) -> usize {
        self.phases.get(&Phase::Cold).map_or(0, BTreeMap::len)
    }

    /// Of a kind, by all proxies together.
    pub fn count(&self, phase: Phase, kind: Kind) -> Count {
        let proxies = self.phases.get(&phase).into_iter().flat_map(BTreeMap::values);
        proxies.filter_map(|kinds| kinds.get(&kind).copied()).sum()
    }

    /// One line of a table.
    pub fn line(&self) -> String {
        let sign = if self.taken() { "=" } else { "≠" };
        let mut line = format!("{sign} {:<38} proxies {}", self.scenario, self.proxies());
        for kind in Kind::ALL {
            let in_phase = |phase| {
                let Count { sent, taken } = self.count(phase, kind);
                if sent == taken { sent.to_string() } else { format!("{taken}/{sent}") }
            };
            let _ = write!(line, "  {} {:<9}", kind.word(), Phase::ALL.map(in_phase).join(" "));
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
        let phases = self.phases.iter().map(|(phase, proxies)| {
            // A line for each count, or the file would be of ten thousand.
            let word = |(kind, count): (&Kind, &Count)| {
                (kind.word().to_owned(), format!("{} / {}", count.taken, count.sent).into())
            };
            let proxies = proxies
                .iter()
                .map(|(proxy, kinds)| (proxy.clone(), Value::Object(kinds.iter().map(word).collect())));
            (phase.word().to_owned(), Value::Object(proxies.collect()))
        });
        json!({
            "taken": self.taken(), "inUse / sent": phases.collect::<Map<_, _>>(),
            "faults": self.faults, "broken": self.broken,
        })
    }
}

fn counts(of: impl Fn(Kind) -> Count) -> Value {
    let each = Kind::ALL.into_iter().map(|kind| {
        let Count { sent, taken } = of(kind);
        (kind.word().to_owned(), json!({ "sent": sent, "taken": taken }))
    });
    Value::Object(each.collect())
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
        self.outcomes.iter().map(Outcome::proxies).sum()
    }

    /// Of a kind, by all proxies of all scenarios.
    pub fn count(&self, phase: Phase, kind: Kind) -> Count {
        self.outcomes.iter().map(|outcome| outcome.count(phase, kind)).sum()
    }

    pub fn lines(&self) -> String {
        let (taken, total) = (self.taken(), self.total());
        let mut text =
            format!("taken: {taken} / {total} scenarios by {} Envoys; in use / sent:\n", self.proxies());
        for phase in Phase::ALL {
            let _ = write!(text, "{:<8}", phase.word());
            for kind in Kind::ALL {
                let Count { sent, taken } = self.count(phase, kind);
                let _ = write!(text, "  {} {taken} / {sent}", kind.word());
            }
            text.push('\n');
        }
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
        let phases =
            Phase::ALL.map(|phase| (phase.word().to_owned(), counts(|kind| self.count(phase, kind))));
        let scenarios = self.outcomes.iter().map(|outcome| (outcome.scenario.clone(), outcome.json()));
        json!({
            "taken": self.taken(),
            "total": self.total(),
            "envoys": self.proxies(),
            "resources": Map::from_iter(phases),
            "scenarios": scenarios.collect::<Map<_, _>>(),
        })
    }
}
