//! What a proxy reads only when it starts, and since when the mesh says so: whoever is older has read something else, and does not show
//! it. It is remembered in the resource's status, so that nobody is forgotten who has to wait: for a window, a budget, a batch, somebody's
//! hand. Annotations would not do: whoever replaces the resource replaces them, too.

use super::{pod::Pod, settling};
use crate::{carried::Teller, istio::telling::Telling};
use mizzen_api::istio::{self, Spec};
use mizzen_cluster::{Cluster, Refused, Timestamp};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::istio) struct ReadAtStart {
    dns: Option<bool>,
    /// Sorted.
    stats: Vec<String>,
    /// By the server's clock. Nothing where nobody is known to have read anything else.
    pub(super) since: Option<Timestamp>,
    /// Something else is about to be written, in the place of what was written at this time: whatever becomes of it, some may read it.
    touched: Option<Timestamp>,
}

impl ReadAtStart {
    fn of(spec: &Spec) -> Self {
        let mut stats = spec.config.proxy_stats_matcher.inclusion_regexps.clone();
        stats.sort();
        Self { dns: spec.config.enable_dns_proxying, stats, since: None, touched: None }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.dns, &self.stats) == (other.dns, &other.stats)
    }

    fn remembered(told: &istio::ReadAtStart) -> Self {
        let time = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
        Self {
            dns: told.enable_dns_proxying,
            stats: told.inclusion_regexps.clone(),
            since: time(&told.since),
            touched: time(&told.touched),
        }
    }

    fn told(&self) -> istio::ReadAtStart {
        let text = |time: Option<Timestamp>| time.map(|time| time.to_string());
        istio::ReadAtStart {
            enable_dns_proxying: self.dns,
            inclusion_regexps: self.stats.clone(),
            since: text(self.since),
            touched: text(self.touched),
        }
    }

    /// Whether a pod has read it: by its age, or because it was made for that.
    pub(super) fn is_read_by(&self, pod: &Pod) -> bool {
        let Some(since) = self.since else { return true };
        // An injector hears of it a moment later.
        let is_younger =
            pod.created.is_some_and(|created| created.duration_since(since) > settling::moment());
        is_younger || made_for(&pod.restarted_for) == Some(since)
    }
}

/// In the cause that a pod was made for: since when what it has read was so.
pub(super) const SINCE: &str = "readSince";

fn made_for(cause: &str) -> Option<Timestamp> {
    serde_json::from_str::<Value>(cause).ok()?[SINCE].as_str()?.parse().ok()
}

/// What is known: as it was remembered, or by the spec that was applied last. Nothing the first time: everything has just started.
fn known(remembered: Option<&istio::ReadAtStart>, before: Option<&Spec>) -> Option<ReadAtStart> {
    remembered.map(ReadAtStart::remembered).or_else(|| before.map(ReadAtStart::of))
}

/// What has to be remembered before something else is written, if it is to be; `written` is when the mesh's configuration was.
fn announced(known: ReadAtStart, wanted: &ReadAtStart, written: Timestamp) -> Option<ReadAtStart> {
    let is_new = known.touched.is_none() && !known.is_same(wanted);
    is_new.then_some(ReadAtStart { touched: Some(written), ..known })
}

/// What is to be read from now on.
fn decide(known: ReadAtStart, wanted: ReadAtStart, written: Timestamp) -> ReadAtStart {
    // What was written meanwhile, and is taken back, was read by some.
    let was_written = known.touched.is_some_and(|touched| written > touched);
    if was_written || !known.is_same(&wanted) {
        return ReadAtStart { since: Some(written), ..wanted };
    }
    ReadAtStart { touched: None, ..known }
}

async fn written(cluster: &Cluster) -> Result<Timestamp, Refused> {
    Ok(settling::written(cluster).await?.unwrap_or_else(Timestamp::now))
}

/// Before anything is written to the mesh. `before` is the spec that was applied last.
pub(in crate::istio) async fn announce(
    cluster: &Cluster,
    before: Option<&Spec>,
    spec: &Spec,
    telling: &mut Telling,
) -> Result<(), Refused> {
    let (known, wanted) = (known(telling.status.read_at_start.as_ref(), before), ReadAtStart::of(spec));
    let Some(known) = known.filter(|known| !known.is_same(&wanted)) else { return Ok(()) };
    match announced(known, &wanted, written(cluster).await?) {
        Some(read) => remembers(telling, &read).await,
        None => Ok(()),
    }
}

/// What is to be read now; remembered before anybody is restarted for it.
pub(in crate::istio) async fn remember(
    cluster: &Cluster,
    before: Option<&Spec>,
    spec: &Spec,
    telling: &mut Telling,
) -> Result<ReadAtStart, Refused> {
    let wanted = ReadAtStart::of(spec);
    let known = known(telling.status.read_at_start.as_ref(), before).unwrap_or_else(|| wanted.clone());
    if known.touched.is_none() && known.is_same(&wanted) {
        // Nobody is restarted for it: it is written with the next thing that is told.
        telling.status.read_at_start = Some(known.told());
        return Ok(known);
    }
    let read = decide(known, wanted, written(cluster).await?);
    remembers(telling, &read).await?;
    Ok(read)
}

async fn remembers(telling: &mut Telling, read: &ReadAtStart) -> Result<(), Refused> {
    telling.status.read_at_start = Some(read.told());
    telling.tells().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(config: &Value) -> Spec {
        Spec::of(&json!({ "spec": { "config": config } })).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    #[test]
    fn it_counts_from_when_it_changed_until_it_changes_again() {
        let of = |all: &[&str]| {
            ReadAtStart::of(&spec(&json!({ "proxyStatsMatcher": { "inclusionRegexps": all } })))
        };
        let (plain, a, b) = (of(&[]), of(&["a", "x"]), of(&["b"]));
        assert!(a.is_same(&of(&["x", "a"])) && !a.is_same(&b));
        let first = decide(plain, a.clone(), at(10));
        assert_eq!(first, ReadAtStart { since: Some(at(10)), ..a.clone() });
        // Whatever was applied since: who has to wait is still older.
        assert_eq!(decide(first.clone(), a.clone(), at(20)), first);
        let second = decide(first.clone(), b, at(30));
        assert_eq!(second.since, Some(at(30)));
        let back = decide(second, a, at(40));
        assert_eq!(back.since, Some(at(40)), "those that were restarted meanwhile have read the other");

        let applied = spec(&json!({ "enableDNSProxying": true }));
        assert_eq!(known(Some(&first.told()), Some(&applied)), Some(first), "not what was applied");
        assert_eq!(known(None, Some(&applied)), Some(ReadAtStart::of(&applied)));
        assert_eq!(known(None, None), None);
    }

    #[test]
    fn what_was_written_and_taken_back_was_read_by_some() {
        let [a, b] =
            [json!({}), json!({ "enableDNSProxying": true })].map(|config| ReadAtStart::of(&spec(&config)));
        let known = ReadAtStart { since: Some(at(1)), ..a.clone() };
        assert_eq!(announced(known.clone(), &a, at(10)), None, "nothing else is to be written");
        let touched = announced(known.clone(), &b, at(10)).unwrap();
        assert_eq!(announced(touched.clone(), &b, at(20)), None, "it is known already");
        // It failed before it was written, or behind that; then it is taken back.
        assert_eq!(decide(touched.clone(), a.clone(), at(10)), known);
        assert_eq!(decide(touched.clone(), a, at(20)).since, Some(at(20)));
        assert_eq!(decide(touched, b.clone(), at(20)), ReadAtStart { since: Some(at(20)), ..b });
    }

    #[test]
    fn whoever_was_made_a_moment_later_or_for_it_has_read_it() {
        let read = ReadAtStart { since: Some(at(10)), ..ReadAtStart::default() };
        let pod = |created: Option<Timestamp>, cause: &str| Pod {
            created,
            restarted_for: cause.into(),
            ..Pod::default()
        };
        let by_age = |second: i64| read.is_read_by(&pod(Some(at(second)), ""));
        assert!(!by_age(9) && !by_age(11) && !by_age(12) && by_age(13));
        assert!(!read.is_read_by(&pod(None, "")));
        assert!(ReadAtStart::default().is_read_by(&pod(Some(at(0)), "")));
        let made_for = |second: i64| format!("{{\"image\":\"another\",\"readSince\":\"{}\"}}", at(second));
        assert!(read.is_read_by(&pod(Some(at(12)), &made_for(10))), "whatever else has changed since");
        assert!(!read.is_read_by(&pod(Some(at(9)), &made_for(5))));
    }
}
