//! Verbs that will be there: Istio's, and those of our own that are announced. Whoever types one learns that it is not
//! here yet, not that it is a typo. What is here is not in these lists.

use crate::{failure::Usage, program::Program, verbs};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::{OsStr, OsString};

/// First words only, with aliases; from Istio 1.31, and for `istioctl` the verbs that older lines had.
const ISTIOCTL: &str = "admin istiod analyze authz bug-report create-remote-secret d dash dashboard \
    kube-inject options pc proxy-config proxy-status ps remote-clusters \
    waypoint zc ztunnel-config";
const PILOT_DISCOVERY: &str = "request";
const PILOT_AGENT: &str = "istio-iptables proxy request wait";

/// Tasks of verbs that are here: what is missing of them.
const TASKS: &[&str] = &[
    "manifest install",
    "manifest translate",
    "x authz",
    "x check-inject",
    "x config",
    "x describe",
    "x envoy-stats",
    "x injector",
    "x internal-debug",
    "x metrics",
    "x proxy-status",
    "x version",
    "x workload",
];

/// Those that Istio has not.
const OWN: &str = "describe explain module";

/// `mizzen` itself takes the verbs of all of them.
fn knows(program: Program, word: &str) -> bool {
    let has = |list: &str| list.split_whitespace().any(|verb| verb == word);
    match program {
        Program::Mizzen => has(ISTIOCTL) || has(PILOT_DISCOVERY) || has(PILOT_AGENT) || has(OWN),
        Program::Istioctl => has(ISTIOCTL),
        Program::PilotDiscovery => has(PILOT_DISCOVERY),
        Program::PilotAgent => has(PILOT_AGENT),
    }
}

/// The sentence for a command line that clap has refused, if what it lacks is a verb of these.
pub(crate) fn sentence(program: Program, words: &[OsString], error: &clap::Error) -> Option<anyhow::Error> {
    let verb = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) => word.clone(),
        // The option may be unknown to us because its verb is.
        (ErrorKind::UnknownArgument, _) => verb_of(words)?.to_owned(),
        _ => return None,
    };
    let first = verb_of(words).and_then(|first| verbs::named(program, first)).map(|verb| verb.name);
    let verb = match first {
        // A word behind a verb that is here is one of its tasks, whatever else is called so.
        Some(first) => format!("{first} {verb}"),
        None => verb,
    };
    let missing = if first.is_some() { TASKS.contains(&verb.as_str()) } else { knows(program, &verb) };
    if !missing {
        return None;
    }
    let name = program.name();
    let text = format!("`{name} {verb}` is not in this version of Mizzen yet; `{name} --help` lists what is");
    Some(Usage(text).into())
}

/// The first word that can be a verb: no option, and not what follows one, which may be its value.
fn verb_of(words: &[OsString]) -> Option<&str> {
    let words: Vec<&str> = words.iter().filter_map(|word| OsStr::to_str(word)).collect();
    let takes_value = |word: &str| word.starts_with('-') && !word.contains('=');
    let may_be_verb = |at: &usize| {
        let follows_option = *at > 0 && takes_value(words[at - 1]);
        !follows_option && !words[*at].starts_with('-')
    };
    (0..words.len()).find(may_be_verb).map(|at| words[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_not_called_missing() {
        for program in Program::ALL {
            for verb in verbs::of(*program) {
                assert!(!knows(*program, verb.name), "{} {}", program.name(), verb.name);
                for alias in verb.command(*program).get_all_aliases() {
                    assert!(!knows(*program, alias), "{} {alias}", program.name());
                }
            }
        }
    }

    #[test]
    fn each_program_knows_its_own_verbs_and_mizzen_all() {
        assert!(knows(Program::Istioctl, "analyze") && knows(Program::Mizzen, "analyze"));
        assert!(knows(Program::PilotDiscovery, "request") && knows(Program::Mizzen, "request"));
        assert!(knows(Program::PilotAgent, "wait") && knows(Program::Mizzen, "wait"));
        assert!(!knows(Program::Istioctl, "wait"));
        assert!(!knows(Program::PilotAgent, "analyze"));
        assert!(!knows(Program::Mizzen, "anlyze"));
    }
}
