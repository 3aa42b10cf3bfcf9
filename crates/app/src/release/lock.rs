//! Waiting for whoever is at work. Clocks of different machines are not compared: somebody is not heard of when the ledger did not
//! change while we looked on.

use super::{
    ledger::{Lock, Release},
    owner::Owner,
    record::{Found, NoRelease, read},
};
use mizzen_cluster::{Cluster, Timestamp};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Between two signs of life.
pub(super) const BEAT: Duration = Duration::from_secs(5);
/// Without a sign of life.
const QUIET: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(400);
/// Between two lines about the same one.
const AGAIN: Duration = Duration::from_secs(15);

/// Who we are.
pub struct Person {
    /// `ana@laptop`
    pub who: String,
    /// This process; no other has the same words.
    pub process: String,
    /// Whether a process is known to be no more: one of this machine can be looked for.
    pub is_gone: fn(&str) -> bool,
}

/// Whether the one who has the lock is still there, as far as one look can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Presence {
    AtWork,
    /// Its process is known to be no more.
    Gone,
    /// Nothing was heard of it for longer than whoever is at work is silent. Two clocks are compared for that, so it is a guess, and
    /// good for nothing but to be shown.
    Silent,
}

impl Presence {
    /// Nothing if nobody has the lock.
    pub fn of(found: &Found, me: &Person) -> Option<Self> {
        let lock = found.ledger.lock.as_ref()?;
        let heard = found.heard.as_deref().and_then(|heard| heard.parse::<Timestamp>().ok());
        let silence = heard.map(|heard| Timestamp::now().as_second() - heard.as_second());
        let quiet = i64::try_from(QUIET.as_secs()).unwrap_or(i64::MAX);
        Some(if (me.is_gone)(&lock.process) {
            Self::Gone
        } else if silence.is_some_and(|silence| silence > quiet) {
            Self::Silent
        } else {
            Self::AtWork
        })
    }
}

/// What is told while it is waited.
#[derive(Debug)]
pub enum Waits<'a> {
    For {
        lock: &'a Lock,
        release: Option<&'a Release>,
    },
    /// Its process is gone: the work is gone on with.
    TakesOver {
        lock: &'a Lock,
        release: Option<&'a Release>,
    },
    /// Because we were told to.
    Breaks {
        lock: &'a Lock,
        release: Option<&'a Release>,
    },
}

/// The ledger when nobody is at work. `break_lock` takes it from whoever has it now.
pub async fn until_free(
    cluster: &Cluster,
    owner: &Owner,
    me: &Person,
    break_lock: bool,
    told: &mut (dyn FnMut(Waits<'_>) + Send),
) -> Result<Option<Found>, NoRelease> {
    let mut seen: Option<(String, Instant)> = None;
    let mut said: Option<(String, Instant)> = None;
    loop {
        let Some(found) = read(cluster, owner).await? else { return Ok(None) };
        let Some(lock) = &found.ledger.lock else { return Ok(Some(found)) };
        let release = found.ledger.newest();
        if break_lock || (me.is_gone)(&lock.process) {
            told(if break_lock {
                Waits::Breaks { lock, release }
            } else {
                Waits::TakesOver { lock, release }
            });
            return Ok(Some(found));
        }
        let now = Instant::now();
        let since = match &seen {
            Some((version, since)) if *version == found.version => *since,
            _ => {
                seen = Some((found.version.clone(), now));
                now
            }
        };
        if now.duration_since(since) > QUIET {
            let (owner, lock) = (owner.name(), Box::new(lock.clone()));
            return Err(NoRelease::Stale { owner, lock, quiet: QUIET.as_secs() });
        }
        let is_news = said
            .as_ref()
            .is_none_or(|(process, last)| *process != lock.process || now.duration_since(*last) > AGAIN);
        if is_news {
            told(Waits::For { lock, release });
            said = Some((lock.process.clone(), now));
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::ledger::Ledger;

    #[test]
    fn who_is_not_heard_of_is_not_shown_as_at_work() {
        let me =
            Person { who: "me".into(), process: "1".into(), is_gone: |process| process.starts_with("gone") };
        let found = |process: &str, heard: Option<i64>| {
            let (who, since) = ("ana".to_owned(), String::new());
            let lock = Lock { who, process: process.to_owned(), since, beat: 0 };
            let heard = heard.map(|ago| Timestamp::from_second(Timestamp::now().as_second() - ago).unwrap());
            let ledger = Ledger { lock: Some(lock), ..Ledger::default() };
            Found { ledger, heard: heard.map(|heard| heard.to_string()), version: "1".into() }
        };
        for (process, heard, expected) in [
            ("there", Some(3), Presence::AtWork),
            ("there", None, Presence::AtWork),
            ("there", Some(600), Presence::Silent),
            ("gone", Some(3), Presence::Gone),
        ] {
            assert_eq!(Presence::of(&found(process, heard), &me), Some(expected), "{process} {heard:?}");
        }
        let nobody = Found { ledger: Ledger::default(), heard: None, version: "1".into() };
        assert_eq!(Presence::of(&nobody, &me), None);
    }
}
