//! What is recorded of an application in one stack: who is at work, which releases there were, and every object that may be there.
//! Pure: from one state of the record to the next.

use super::{
    plan::digest,
    wanted::{Wanted, wanted},
};
use crate::spec::Spec;
use mizzen_cluster::ObjectId;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// So many releases are kept; the one that is in force is always among them.
const KEPT: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// Everything that may be there: until a release is complete, what was there before it and what it makes.
    #[serde(default)]
    pub objects: Vec<Recorded>,
    /// The oldest first.
    #[serde(default)]
    pub releases: Vec<Release>,
}

/// Somebody is at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// `ana@laptop`
    pub who: String,
    /// The process, in words that only its own machine understands.
    #[serde(default)]
    pub process: String,
    pub since: String,
    /// Counted up while they are at work, so that others see that they are.
    #[serde(default)]
    pub beat: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    #[serde(flatten)]
    pub id: ObjectId,
    /// The release that brought it last; nothing if none has yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<u32>,
    /// Those that it needs: they go after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<ObjectId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum What {
    Apply,
    Rollback { to: u32 },
    Destroy,
}

impl fmt::Display for What {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apply => out.write_str("apply"),
            Self::Rollback { to } => write!(out, "rollback to {to}"),
            Self::Destroy => out.write_str("destroy"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    Running,
    Succeeded,
    Failed,
    /// By the one who ran it.
    Interrupted,
    /// Nobody has recorded its end.
    CutOff,
}

impl Phase {
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::CutOff => "cut off",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub number: u32,
    pub what: What,
    pub phase: Phase,
    pub by: String,
    pub began: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Of its Spec: two with the same are the same.
    pub digest: String,
    /// How many objects it has to work on, and how many it is done with.
    pub objects: usize,
    pub done: usize,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Who begins what, and when.
pub(crate) struct Beginning<'a> {
    pub(crate) what: What,
    pub(crate) digest: &'a str,
    pub(crate) who: &'a str,
    pub(crate) process: &'a str,
    pub(crate) now: &'a str,
}

impl Ledger {
    /// Made again of the Specs of releases, with when each was recorded: all objects that they name may be there. Only the Spec of a
    /// release that succeeded is kept, and that of one that was at work.
    pub(crate) fn of_specs<'a>(specs: impl Iterator<Item = (u32, &'a Spec, &'a str)>) -> Self {
        let mut ledger = Self::default();
        let mut objects: BTreeMap<ObjectId, Recorded> = BTreeMap::new();
        for (number, spec, made) in specs {
            // What cannot be sent was never sent.
            let wanted = wanted(spec).unwrap_or_default();
            ledger.releases.push(Release {
                number,
                what: What::Apply,
                phase: Phase::Succeeded,
                by: "?".to_owned(),
                began: made.to_owned(),
                ended: None,
                digest: digest(spec),
                objects: wanted.len(),
                done: wanted.len(),
                message: Some("read from its Spec; the record was deleted".to_owned()),
            });
            for one in wanted {
                let id = one.desired.id;
                objects.insert(id.clone(), Recorded { id, release: Some(number), needs: one.needs });
            }
        }
        ledger.objects = objects.into_values().collect();
        ledger
    }

    /// The release that is in force: the last that succeeded.
    pub fn current(&self) -> Option<&Release> {
        self.releases.iter().rev().find(|release| release.phase == Phase::Succeeded)
    }

    pub fn newest(&self) -> Option<&Release> {
        self.releases.last()
    }

    /// The one that a rollback without a number means: what was in force before the newest.
    pub fn previous(&self) -> Option<&Release> {
        let mut succeeded = self.releases.iter().rev().filter(|release| release.phase == Phase::Succeeded);
        match self.newest() {
            // What did not succeed is taken back to the last that did.
            Some(newest) if newest.phase != Phase::Succeeded => succeeded.next(),
            _ => succeeded.nth(1),
        }
    }

    pub(crate) fn object(&self, id: &ObjectId) -> Option<&Recorded> {
        self.objects.iter().find(|recorded| recorded.id == *id)
    }

    /// Before the first write: everything that may be there until the last, and who is at work.
    pub(crate) fn begin(&mut self, beginning: &Beginning<'_>, wanted: &[Wanted]) -> u32 {
        for release in self.releases.iter_mut().filter(|release| release.phase == Phase::Running) {
            release.phase = Phase::CutOff;
        }
        let number = self.newest().map_or(0, |newest| newest.number) + 1;
        let mut objects: BTreeMap<ObjectId, Recorded> =
            self.objects.drain(..).map(|recorded| (recorded.id.clone(), recorded)).collect();
        for one in wanted {
            let id = one.desired.id.clone();
            let release = objects.get(&id).and_then(|before| before.release);
            objects.insert(id.clone(), Recorded { id, release, needs: one.needs.clone() });
        }
        self.objects = objects.into_values().collect();
        self.releases.push(Release {
            number,
            what: beginning.what,
            phase: Phase::Running,
            by: beginning.who.to_owned(),
            began: beginning.now.to_owned(),
            ended: None,
            digest: beginning.digest.to_owned(),
            objects: if beginning.what == What::Destroy { self.objects.len() } else { wanted.len() },
            done: 0,
            message: None,
        });
        self.lock = Some(Lock {
            who: beginning.who.to_owned(),
            process: beginning.process.to_owned(),
            since: beginning.now.to_owned(),
            beat: 0,
        });
        number
    }

    /// An object is as this release wants it.
    pub(crate) fn brought(&mut self, id: &ObjectId) {
        let Some(running) = self.releases.last_mut() else { return };
        running.done += 1;
        let number = running.number;
        // They are in order of their ids since the beginning.
        if let Ok(place) = self.objects.binary_search_by(|recorded| recorded.id.cmp(id)) {
            self.objects[place].release = Some(number);
        }
    }

    /// An object is not there any more, or not ours.
    pub(crate) fn gone(&mut self, id: &ObjectId) {
        self.objects.retain(|recorded| recorded.id != *id);
        if let Some(running) = self.releases.last_mut().filter(|running| running.what == What::Destroy) {
            running.done += 1;
        }
    }

    /// After the last write.
    pub(crate) fn end(&mut self, phase: Phase, message: Option<String>, now: &str) {
        if let Some(running) = self.releases.last_mut() {
            running.phase = phase;
            running.message = message;
            running.ended = Some(now.to_owned());
        }
        self.lock = None;
    }

    /// Releases that nobody needs any more leave the record.
    pub(crate) fn forget_old(&mut self) {
        let current = self.current().map(|release| release.number);
        let surplus = self.releases.len().saturating_sub(KEPT);
        let old: Vec<u32> = self.releases.iter().take(surplus).map(|release| release.number).collect();
        self.releases.retain(|release| !old.contains(&release.number) || Some(release.number) == current);
    }

    /// As it is when nobody is at work any more.
    #[must_use]
    pub fn cut_off(mut self) -> Self {
        for release in self.releases.iter_mut().filter(|release| release.phase == Phase::Running) {
            release.phase = Phase::CutOff;
        }
        self
    }

    pub(crate) fn beat(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.beat += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Resource;
    use mizzen_cluster::Desired;
    use serde_json::json;

    fn wanted(name: &str, needs: &[&str]) -> Wanted {
        let object = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": name}});
        Wanted { desired: Desired::new(object).unwrap(), needs: needs.iter().map(|name| id(name)).collect() }
    }

    fn id(name: &str) -> ObjectId {
        ObjectId::new("", "A", "", name)
    }

    fn begin(ledger: &mut Ledger, wanted: &[Wanted]) -> u32 {
        let what = What::Apply;
        ledger.begin(&Beginning { what, digest: "d", who: "ana@laptop", process: "1", now: "t" }, wanted)
    }

    fn apply(ledger: &mut Ledger, wanted: &[Wanted]) -> u32 {
        let number = begin(ledger, wanted);
        for one in wanted {
            ledger.brought(&one.desired.id);
        }
        let surplus: Vec<ObjectId> = ledger.objects.iter().map(|recorded| recorded.id.clone()).collect();
        for id in surplus.iter().filter(|id| wanted.iter().all(|one| one.desired.id != **id)) {
            ledger.gone(id);
        }
        ledger.end(Phase::Succeeded, None, "t");
        number
    }

    #[test]
    fn until_the_end_everything_that_may_be_there_is_recorded() {
        let mut ledger = Ledger::default();
        assert_eq!(apply(&mut ledger, &[wanted("old", &[]), wanted("both", &["old"])]), 1);
        assert_eq!(begin(&mut ledger, &[wanted("both", &["new"]), wanted("new", &[])]), 2);
        let names: Vec<&str> = ledger.objects.iter().map(|recorded| recorded.id.name.as_str()).collect();
        assert_eq!(names, ["both", "new", "old"]);
        assert_eq!(ledger.object(&id("both")).unwrap().needs, [id("new")]);
        let at = |ledger: &Ledger, name: &str| ledger.object(&id(name)).unwrap().release;
        assert_eq!((at(&ledger, "both"), at(&ledger, "new"), at(&ledger, "old")), (Some(1), None, Some(1)));
        ledger.brought(&id("both"));
        assert_eq!((at(&ledger, "both"), ledger.newest().unwrap().done), (Some(2), 1));
        assert_eq!(ledger.lock.as_ref().unwrap().who, "ana@laptop");
        // Cut off here, and begun again by somebody who wants neither.
        assert_eq!(begin(&mut ledger, &[]), 3);
        assert_eq!(ledger.objects.len(), 3);
        assert_eq!(ledger.releases[1].phase, Phase::CutOff);
    }

    #[test]
    fn a_rollback_means_what_was_in_force_before_the_newest() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.previous(), None);
        apply(&mut ledger, &[]);
        assert_eq!(ledger.previous(), None);
        apply(&mut ledger, &[]);
        let previous = |ledger: &Ledger| ledger.previous().map(|release| release.number);
        assert_eq!(previous(&ledger), Some(1));
        begin(&mut ledger, &[]);
        ledger.end(Phase::Failed, None, "t");
        assert_eq!(previous(&ledger), Some(2), "what failed is taken back to the last that did not");
        assert_eq!(ledger.current().unwrap().number, 2);
    }

    #[test]
    fn old_releases_go_but_never_the_one_in_force() {
        let mut ledger = Ledger::default();
        apply(&mut ledger, &[]);
        for _ in 0..20 {
            begin(&mut ledger, &[]);
            ledger.end(Phase::Failed, None, "t");
            ledger.forget_old();
        }
        assert_eq!(ledger.releases.len(), KEPT + 1);
        assert_eq!(ledger.current().unwrap().number, 1);
        assert_eq!(ledger.newest().unwrap().number, 21);
    }

    #[test]
    fn what_was_deleted_is_made_again_of_the_specs() {
        let resource = |name: &str, needs: &[&str]| {
            let object = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": name}});
            let needs = needs.iter().map(|name| format!("v1:A:{name}")).collect();
            Resource::new(format!("v1:A:{name}"), object, needs)
        };
        let first = Spec { resources: vec![resource("a", &["b"]), resource("b", &[])] };
        let second = Spec { resources: vec![resource("a", &[])] };
        let ledger = Ledger::of_specs([(3, &first, "t1"), (7, &second, "t2")].into_iter());
        let objects: Vec<(&str, Option<u32>, usize)> = ledger
            .objects
            .iter()
            .map(|recorded| (recorded.id.name.as_str(), recorded.release, recorded.needs.len()))
            .collect();
        assert_eq!(objects, [("a", Some(7), 0), ("b", Some(3), 0)]);
        assert_eq!(
            ledger.current().map(|release| (release.number, release.digest.clone())),
            Some((7, digest(&second)))
        );
        assert_eq!((ledger.previous().unwrap().number, ledger.lock.is_none()), (3, true));
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_with_less_in_it() {
        let mut ledger = Ledger::default();
        apply(&mut ledger, &[wanted("a", &["b"]), wanted("b", &[])]);
        let text = serde_json::to_string(&ledger).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
        assert_eq!(serde_json::from_str::<Ledger>("{}").unwrap(), Ledger::default());
    }
}
