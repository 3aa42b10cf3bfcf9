//! Which resource is looked at next, and when. Time is given, so that all of it can be tested.
//!
//! A resource that changed is looked at once. One whose objects changed waits a moment, because changes come in swarms; and longer
//! each time that a look had to repair something again, so that two who want different things do not wear each other out; what people
//! change in the resource is no repair. One that failed comes again, later each time. All come again after some minutes.

use crate::bucket::Bucket;
use mizzen_cluster::Key;
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// Why it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The resource itself: what is being done about it is for nothing.
    Changed,
    /// An object of its mesh.
    Drifted,
    /// It is time.
    Again,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was as it should be.
    Unchanged,
    /// Something was written.
    Wrote,
    Failed,
    /// Somebody has to do something first, of which nothing tells us.
    Blocked,
    /// There is something that people should know of, and nothing more to do.
    Noted,
    /// Nothing more happens until the resource or its surroundings change.
    Settled,
    /// There is nothing to look at any more.
    Gone,
}

const SWARM: Duration = Duration::from_secs(1);
/// For what has to be repaired again and again.
const SLOWEST: Duration = Duration::from_secs(256);

/// When a resource is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Where all is well.
    pub regular: Duration,
    /// For what somebody else has to do.
    pub blocked: Duration,
    /// Where people have been told something.
    pub noted: Duration,
    /// After the first failure; twice as long each time.
    pub first: Duration,
    /// After many.
    pub longest: Duration,
    /// Failures of all resources together that are tried again without a further wait.
    pub burst: u32,
    /// How many more of them each second.
    pub frequency: u32,
}

impl Pace {
    pub(crate) const ISTIO_OPERATOR: Self = Self {
        regular: Duration::from_secs(300),
        blocked: Duration::from_secs(10),
        noted: Duration::from_secs(300),
        first: Duration::from_secs(1),
        longest: Duration::from_secs(256),
        burst: 200,
        frequency: 30,
    };
}

#[derive(Debug)]
pub(crate) struct Queue {
    due: BTreeMap<Key, (Instant, Cause)>,
    history: HashMap<Key, History>,
    pace: Pace,
    retries: Bucket,
    jitter: fn(Duration) -> Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct History {
    failures: u32,
    repairs: u32,
}

impl Queue {
    pub(crate) fn new(pace: Pace, jitter: fn(Duration) -> Duration) -> Self {
        let retries = Bucket::new(pace.burst, pace.frequency);
        Self { due: BTreeMap::new(), history: HashMap::new(), pace, retries, jitter }
    }

    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }

    pub(crate) fn add(&mut self, key: Key, cause: Cause, now: Instant) {
        if let (Cause::Changed, Some(history)) = (cause, self.history.get_mut(&key)) {
            history.repairs = 0;
        }
        let history = self.history.get(&key).copied().unwrap_or_default();
        let wait = match cause {
            Cause::Changed => Duration::ZERO,
            Cause::Drifted => doubled(SWARM, history.repairs.saturating_sub(1), SLOWEST),
            Cause::Again => (self.jitter)(self.pace.regular),
        };
        self.put(key, now + wait, cause);
    }

    /// The earlier counts; and so does the graver cause.
    fn put(&mut self, key: Key, at: Instant, cause: Cause) {
        let entry = self.due.entry(key).or_insert((at, cause));
        *entry = (entry.0.min(at), entry.1.min(cause));
    }

    /// When there is something to do.
    pub(crate) fn when(&self) -> Option<Instant> {
        self.due.values().map(|(at, _)| *at).min()
    }

    /// The one that is due longest.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Key> {
        let due = self.due.iter().filter(|(_, (at, _))| *at <= now);
        let key = due.min_by_key(|(_, (at, _))| *at)?.0.clone();
        self.due.remove(&key);
        Some(key)
    }

    /// Whether what is being done about this one is for nothing.
    pub(crate) fn is_outdated(&self, key: &Key) -> bool {
        self.due.get(key).is_some_and(|(_, cause)| *cause == Cause::Changed)
    }

    /// When others are due while this one is worked on.
    pub(crate) fn when_others(&self, key: &Key) -> Option<Instant> {
        self.due.iter().filter(|(other, _)| *other != key).map(|(_, (at, _))| *at).min()
    }

    pub(crate) fn done(&mut self, key: &Key, outcome: Outcome, now: Instant) {
        if matches!(outcome, Outcome::Gone | Outcome::Settled) {
            self.history.remove(key);
            return;
        }
        let history = self.history.entry(key.clone()).or_default();
        match outcome {
            Outcome::Failed => history.failures = history.failures.saturating_add(1),
            Outcome::Wrote => {
                *history = History { failures: 0, repairs: history.repairs.saturating_add(1) };
            }
            Outcome::Unchanged | Outcome::Blocked | Outcome::Noted | Outcome::Settled | Outcome::Gone => {
                *history = History::default();
            }
        }
        let wait = match outcome {
            Outcome::Failed => {
                let Pace { first, longest, .. } = self.pace;
                (self.jitter)(doubled(first, history.failures - 1, longest)).max(self.retries.take(now))
            }
            Outcome::Blocked => (self.jitter)(self.pace.blocked),
            Outcome::Noted => (self.jitter)(self.pace.noted),
            Outcome::Unchanged | Outcome::Wrote | Outcome::Settled | Outcome::Gone => {
                (self.jitter)(self.pace.regular)
            }
        };
        self.put(key.clone(), now + wait, Cause::Again);
    }
}

fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(1 << times.min(20)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace::ISTIO_OPERATOR;

    fn key(name: &str) -> Key {
        Key { namespace: "n".into(), name: name.into() }
    }

    fn queue() -> (Queue, Instant) {
        (Queue::new(PACE, |wait| wait), Instant::now())
    }

    #[test]
    fn a_changed_resource_comes_at_once_and_a_swarm_of_changed_objects_is_one_look() {
        let (mut queue, now) = queue();
        queue.add(key("drifted"), Cause::Drifted, now);
        queue.add(key("drifted"), Cause::Drifted, now + SWARM / 2);
        queue.add(key("changed"), Cause::Changed, now);
        assert_eq!(queue.next(now), Some(key("changed")));
        assert_eq!(queue.next(now), None);
        assert_eq!(queue.when(), Some(now + SWARM), "later ones do not put it off");
        assert_eq!(queue.next(now + SWARM), Some(key("drifted")));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn failures_come_again_later_each_time_up_to_a_limit_and_success_forgets_them() {
        let (mut queue, now) = queue();
        let mut waits = Vec::new();
        for _ in 0..20 {
            queue.done(&key("a"), Outcome::Failed, now);
            waits.push(queue.when().unwrap() - now);
            queue.due.clear();
        }
        assert!(waits.is_sorted() && waits[0] == PACE.first && waits[1] == PACE.first * 2);
        assert_eq!(waits[19], PACE.longest);
        queue.done(&key("a"), Outcome::Unchanged, now);
        assert_eq!(queue.when(), Some(now + PACE.regular));
        queue.due.clear();
        queue.done(&key("a"), Outcome::Failed, now);
        assert_eq!(queue.when(), Some(now + PACE.first));
        queue.due.clear();
        queue.done(&key("a"), Outcome::Blocked, now);
        assert_eq!(queue.when(), Some(now + PACE.blocked));
    }

    #[test]
    fn what_has_to_be_repaired_again_and_again_is_repaired_ever_more_slowly() {
        let (mut queue, now) = queue();
        let mut waits = Vec::new();
        for _ in 0..4 {
            queue.done(&key("a"), Outcome::Wrote, now);
            queue.add(key("a"), Cause::Drifted, now);
            waits.push((queue.when().unwrap() - now).as_secs());
            queue.due.clear();
        }
        assert_eq!(waits, [1, 2, 4, 8]);
        // Somebody has changed the resource: what is written for that was no repair.
        queue.add(key("a"), Cause::Changed, now);
        queue.next(now);
        queue.done(&key("a"), Outcome::Wrote, now);
        queue.add(key("a"), Cause::Drifted, now);
        assert_eq!(queue.when(), Some(now + SWARM));
        queue.due.clear();
        queue.done(&key("a"), Outcome::Unchanged, now);
        queue.add(key("a"), Cause::Drifted, now);
        assert_eq!(queue.when(), Some(now + SWARM));
    }

    #[test]
    fn work_is_outdated_by_a_change_of_its_resource_only() {
        let (mut queue, now) = queue();
        queue.add(key("a"), Cause::Drifted, now);
        assert!(!queue.is_outdated(&key("a")), "our own writes are told, too");
        assert_eq!((queue.when_others(&key("a")), queue.when_others(&key("b"))), (None, Some(now + SWARM)));
        queue.add(key("a"), Cause::Changed, now);
        assert!(queue.is_outdated(&key("a")));
    }

    #[test]
    fn what_is_gone_or_settled_does_not_come_again() {
        let (mut queue, now) = queue();
        queue.done(&key("a"), Outcome::Gone, now);
        queue.done(&key("a"), Outcome::Settled, now);
        assert_eq!(queue.when(), None);
    }

    #[test]
    fn each_outcome_has_its_wait() {
        let (mut queue, now) = queue();
        for (outcome, wait) in [
            (Outcome::Unchanged, PACE.regular),
            (Outcome::Wrote, PACE.regular),
            (Outcome::Blocked, PACE.blocked),
            (Outcome::Noted, PACE.noted),
            (Outcome::Failed, PACE.first),
        ] {
            queue.done(&key("a"), outcome, now);
            assert_eq!(queue.when(), Some(now + wait), "{outcome:?}");
            queue.due.clear();
        }
    }

    #[test]
    fn many_failures_of_different_resources_are_spread_out() {
        let pace = Pace { burst: 2, frequency: 1, ..PACE };
        let (mut queue, now) = (Queue::new(pace, |wait| wait), Instant::now());
        for name in ["a", "b", "c", "d", "e"] {
            queue.done(&key(name), Outcome::Failed, now);
        }
        let waits: Vec<u64> = queue.due.values().map(|(at, _)| (*at - now).as_secs()).collect();
        assert_eq!(waits, [1, 1, 1, 2, 3], "two at once, and one more each second");
    }
}
