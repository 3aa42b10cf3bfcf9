//! What an injector injects with is read by it a moment after it was written. Whoever is restarted within that moment has what was there
//! before, and was restarted in vain.

use crate::istio::MESH;
use mizzen_cluster::{Cluster, ObjectId, Refused, SignedDuration, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// For every replica of it to have heard.
const MOMENT: Duration = Duration::from_secs(2);
/// Templates and values, and the configuration of the mesh.
const READ: [&str; 2] = ["istio-sidecar-injector", "istio"];

pub(super) fn moment() -> SignedDuration {
    SignedDuration::try_from(MOMENT).unwrap_or(SignedDuration::MAX)
}

/// How long it takes yet.
pub(super) async fn left(cluster: &Cluster) -> Result<Duration, Refused> {
    Ok(left_of(written(cluster).await?, Timestamp::now()))
}

/// When it was written last, by the server's clock.
pub(super) async fn written(cluster: &Cluster) -> Result<Option<Timestamp>, Refused> {
    let mut last = None;
    for name in READ {
        let map = cluster.get(&ObjectId::new("", "ConfigMap", MESH, name), None).await?;
        last = last.max(written_of(&map.unwrap_or_default()));
    }
    Ok(last)
}

fn written_of(map: &Value) -> Option<Timestamp> {
    let managers = map["metadata"]["managedFields"].as_array().into_iter().flatten();
    managers.filter_map(|manager| manager["time"].as_str()?.parse::<Timestamp>().ok()).max()
}

/// Never more than the whole, whatever the two clocks say. The server tells whole seconds: it may have been written at the end of one.
fn left_of(written: Option<Timestamp>, now: Timestamp) -> Duration {
    let Some(written) = written else { return Duration::ZERO };
    let whole = MOMENT + Duration::from_secs(1);
    match Duration::try_from(now.duration_since(written)) {
        Ok(age) => whole.saturating_sub(age),
        Err(_) => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_written_a_moment_ago_is_given_the_rest_of_it() {
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        let map = |seconds: &[i64]| {
            let fields: Vec<Value> =
                seconds.iter().map(|second| json!({ "time": at(*second).to_string() })).collect();
            written_of(&json!({ "metadata": { "managedFields": fields } }))
        };
        let second = Duration::from_secs(1);
        assert_eq!(left_of(map(&[0, 10]), at(10)), MOMENT + second, "the last one counts");
        assert_eq!(
            left_of(map(&[0, 10]), at(11)),
            MOMENT,
            "it was written just now, at the end of its second"
        );
        assert_eq!(left_of(map(&[0, 10]), at(12)), MOMENT - second);
        assert_eq!(left_of(map(&[0, 10]), at(3600)), Duration::ZERO);
        assert_eq!(left_of(map(&[0, 10]), at(5)), MOMENT + second, "its clock is ahead of ours");
        assert_eq!(left_of(written_of(&json!({})), at(0)), Duration::ZERO);
    }
}
