//! A lease: of several processes that could do a work, one does it.
//!
//! Clocks of different machines are not compared: a lease has run out when nobody has renewed it for its length while we looked on.
//! Its holder stops earlier, after the deadline, so that two never work at the same time.

use crate::{
    cluster::{Cluster, Refused},
    object::ObjectId,
};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout};

const GROUP: &str = "coordination.k8s.io";

/// This second, as Kubernetes writes it.
pub fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// Others take it when it was not renewed for so long.
    pub duration: Duration,
    /// Its holder stops when it could not renew it for so long.
    pub deadline: Duration,
    /// Between two looks.
    pub retry: Duration,
}

impl Term {
    /// With room between the holder's end and the next one's beginning.
    pub fn of_deadline(deadline: Duration) -> Self {
        let deadline = deadline.max(Duration::from_secs(2));
        Self { duration: deadline + deadline / 2, deadline, retry: deadline / 5 }
    }
}

pub struct Lease {
    cluster: Arc<Cluster>,
    id: ObjectId,
    /// Our name: no other process has it.
    holder: String,
    term: Term,
}

/// What somebody who looks at a lease does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Create,
    /// It is free, or it has run out.
    Take,
    /// It is ours.
    Renew,
    Wait,
}

fn verdict(lease: Option<&Value>, us: &str, unchanged_for: Duration) -> Verdict {
    let Some(lease) = lease else { return Verdict::Create };
    match lease.pointer("/spec/holderIdentity").and_then(Value::as_str).unwrap_or_default() {
        "" => Verdict::Take,
        holder if holder == us => Verdict::Renew,
        _ => {
            let length = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_u64).unwrap_or(15);
            if unchanged_for > Duration::from_secs(length) { Verdict::Take } else { Verdict::Wait }
        }
    }
}

fn is_terminating(refused: &Refused) -> bool {
    matches!(refused, Refused::Forbidden { message, .. } if message.contains("because it is being terminated"))
}

/// The next version of it.
fn written(lease: Option<Value>, id: &ObjectId, us: &str, term: Term, now: &str) -> Value {
    let mut lease = lease.unwrap_or_else(|| {
        json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": "Lease",
            "metadata": { "name": id.name, "namespace": id.namespace }, "spec": {},
        })
    });
    let is_ours = lease["spec"]["holderIdentity"] == us;
    let spec = &mut lease["spec"];
    if !is_ours {
        let before = spec["leaseTransitions"].as_u64();
        spec["leaseTransitions"] = before.map_or(0, |count| count + 1).into();
        spec["acquireTime"] = now.into();
        spec["holderIdentity"] = us.into();
    }
    spec["leaseDurationSeconds"] = term.duration.as_secs().max(1).into();
    spec["renewTime"] = now.into();
    lease
}

/// The last version that was seen, and since when there was no other.
#[derive(Default)]
struct Observed(Option<(String, Instant)>);

impl Observed {
    fn unchanged_for(&mut self, lease: Option<&Value>, now: Instant) -> Duration {
        let version = lease.and_then(|lease| lease.pointer("/metadata/resourceVersion")?.as_str());
        match (&self.0, version) {
            (Some((known, since)), Some(version)) if known == version => now.duration_since(*since),
            (_, version) => {
                self.0 = version.map(|version| (version.to_owned(), now));
                Duration::ZERO
            }
        }
    }
}

/// Somebody who wants to know whether anybody is at work, and does not want the lease. It takes more than one look to see that its holder
/// is no more.
#[derive(Default)]
pub struct Onlooker(Observed);

impl Onlooker {
    pub fn sees_a_holder(&mut self, lease: Option<&Value>) -> bool {
        let unchanged_for = self.0.unchanged_for(lease, Instant::now());
        verdict(lease, "", unchanged_for) == Verdict::Wait
    }
}

impl Lease {
    pub fn new(cluster: Arc<Cluster>, namespace: &str, name: &str, holder: &str, term: Term) -> Self {
        let id = ObjectId::new(GROUP, "Lease", namespace, name);
        Self { cluster, id, holder: holder.to_owned(), term }
    }

    /// Returns when it is ours.
    pub async fn acquire(&self) {
        let mut observed = Observed::default();
        let mut told = String::new();
        loop {
            let why = match timeout(self.term.deadline, self.attempt(&mut observed)).await {
                Ok(Ok(true)) => return,
                Ok(Ok(false)) => format!("{} is another one's", self.id),
                Ok(Err(refused)) => refused.to_string(),
                Err(_) => "the API server does not answer".to_owned(),
            };
            if why != told {
                tracing::info!("waiting for the lease: {why}");
                told = why;
            }
            sleep(self.term.retry).await;
        }
    }

    /// Renews it, and returns when it is lost.
    pub async fn keep(&self) {
        let mut renewed = Instant::now();
        let mut observed = Observed::default();
        loop {
            sleep(self.term.retry).await;
            let left = self.term.deadline.saturating_sub(renewed.elapsed());
            match timeout(left, self.attempt(&mut observed)).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => return,
                // Its namespace is on its way out, and waits for us: nobody else can have the lease either.
                Ok(Err(refused)) if is_terminating(&refused) => renewed = Instant::now(),
                Ok(Err(refused)) => tracing::warn!(%refused, "the lease could not be renewed"),
                Err(_) => return,
            }
        }
    }

    /// Gives it back, so that nobody has to wait.
    pub async fn release(&self) {
        let result = timeout(self.term.retry, async {
            let Some(mut lease) = self.cluster.get(&self.id, None).await? else { return Ok(()) };
            if lease["spec"]["holderIdentity"] == self.holder.as_str() {
                lease["spec"]["holderIdentity"] = "".into();
                lease["spec"]["leaseDurationSeconds"] = 1.into();
                self.cluster.replace(&self.id, &lease).await?;
            }
            Ok::<(), Refused>(())
        });
        if let Ok(Err(refused)) = result.await {
            tracing::info!(%refused, "the lease could not be given back; it runs out");
        }
    }

    /// Whether it is ours now.
    async fn attempt(&self, observed: &mut Observed) -> Result<bool, Refused> {
        let lease = self.cluster.get(&self.id, None).await?;
        let unchanged_for = observed.unchanged_for(lease.as_ref(), Instant::now());
        let verdict = verdict(lease.as_ref(), &self.holder, unchanged_for);
        let now = format!("{:.6}", Timestamp::now());
        let next = |lease| written(lease, &self.id, &self.holder, self.term, &now);
        let result = match verdict {
            Verdict::Wait => return Ok(false),
            Verdict::Create => {
                let path = format!("/apis/{GROUP}/v1/namespaces/{}/leases", self.id.namespace);
                self.cluster.ask(&format!("making {}", self.id), &path, next(None)).await
            }
            Verdict::Take | Verdict::Renew => self.cluster.replace(&self.id, &next(lease)).await,
        };
        match result {
            Ok(Some(_)) => Ok(true),
            Ok(None) => Err(Refused::NoNamespace { id: self.id.clone() }),
            // Another one was quicker, or our own answer was lost: the next look says which.
            Err(Refused::Conflict { .. }) if verdict != Verdict::Renew => Ok(false),
            Err(refused) => Err(refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: &str) -> Value {
        json!({ "metadata": { "resourceVersion": version },
                "spec": { "holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3 } })
    }

    #[test]
    fn a_lease_is_taken_when_it_is_free_or_nobody_renewed_it_for_its_length() {
        let (short, long) = (Duration::from_secs(14), Duration::from_secs(16));
        assert_eq!(verdict(None, "us", long), Verdict::Create);
        assert_eq!(verdict(Some(&lease("", "1")), "us", Duration::ZERO), Verdict::Take);
        assert_eq!(verdict(Some(&lease("us", "1")), "us", Duration::ZERO), Verdict::Renew);
        assert_eq!(verdict(Some(&lease("them", "1")), "us", short), Verdict::Wait);
        assert_eq!(verdict(Some(&lease("them", "1")), "us", long), Verdict::Take);
    }

    #[test]
    fn its_age_is_what_was_seen_of_it() {
        let (mut observed, start) = (Observed::default(), Instant::now());
        let later = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(observed.unchanged_for(Some(&lease("them", "1")), start), Duration::ZERO);
        assert_eq!(observed.unchanged_for(Some(&lease("them", "1")), later(9)), Duration::from_secs(9));
        assert_eq!(observed.unchanged_for(Some(&lease("them", "2")), later(10)), Duration::ZERO);
        assert_eq!(observed.unchanged_for(None, later(30)), Duration::ZERO);
    }

    #[test]
    fn a_new_holder_counts_and_an_old_one_only_renews() {
        let id = ObjectId::new(GROUP, "Lease", "n", "lock");
        let term = Term::of_deadline(Duration::from_secs(10));
        assert!(term.deadline < term.duration && term.retry < term.deadline);
        let taken = written(Some(lease("them", "1")), &id, "us", term, "now");
        assert_eq!(
            (&taken["spec"]["leaseTransitions"], &taken["spec"]["acquireTime"]),
            (&json!(4), &json!("now"))
        );
        let renewed = written(Some(taken), &id, "us", term, "later");
        assert_eq!(
            (
                &renewed["spec"]["leaseTransitions"],
                &renewed["spec"]["acquireTime"],
                &renewed["spec"]["renewTime"]
            ),
            (&json!(4), &json!("now"), &json!("later"))
        );
        assert_eq!(written(None, &id, "us", term, "now")["spec"]["leaseTransitions"], 0);
    }
}
