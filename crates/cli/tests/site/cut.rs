//! A run that is cut off in the middle: at which of its writes, how, and whether what is there afterwards is what it should be.

use super::Ended;
use mizzen_testkit::{
    Faults, Result,
    faults::{Fault, Verb},
    wait::{self, PATIENCE, Seen},
};
use serde_json::Value;
use std::{collections::BTreeMap, env, future::Future};

/// All writes from the one on that `MIZZEN_EVERY_CUT` says; else the first, the last and about so many between.
pub(crate) fn points(writes: u64, between: u64) -> Vec<u64> {
    if let Ok(first) = env::var("MIZZEN_EVERY_CUT") {
        return (first.parse().unwrap()..=writes).collect();
    }
    let mut some: Vec<u64> =
        (1..=writes).step_by(usize::try_from(writes / between).unwrap().max(1)).collect();
    some.push(writes);
    some.dedup();
    some
}

/// How many writes pass while something runs, and what it ends with.
pub(crate) async fn counted(faults: &Faults, run: impl Future<Output = Ended>) -> (u64, Ended) {
    let before = faults.seen(Verb::Write);
    let ended = run.await;
    (faults.seen(Verb::Write) - before, ended)
}

/// Lets it run until its n-th write, which the API server still does; then nothing passes, and the process is killed. How it ended if it
/// did before that.
pub(crate) async fn at_write(
    faults: &Faults,
    n: u64,
    run: impl Future<Output = Ended>,
) -> Result<Option<Ended>> {
    let cut = faults.inject(Fault::break_off().on(Verb::Write).nth(n));
    let met = wait::until("the cut", PATIENCE, async || {
        Seen::when(cut.hits() > 0, || "it was not reached".to_owned())
    });
    let ended = tokio::select! {
        ended = run => Some(ended),
        met = met => {
            met?;
            None
        }
    };
    faults.clear();
    Ok(ended)
}

/// Object by object.
#[track_caller]
pub(crate) fn same(what: &str, found: &BTreeMap<String, Value>, expected: &BTreeMap<String, Value>) {
    for key in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(key), expected.get(key), "{what}: {key}");
    }
}
