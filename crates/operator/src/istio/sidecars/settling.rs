//! What an injector injects with is read by it a moment after it was written. Whoever is restarted within that moment has what was there
//! before, and was restarted in vain.

use crate::istio::MESH;
use mizzen_cluster::{Cluster, ObjectId, Refused, Timestamp};
use serde_json::Value;
use std::time::Duration;

/// For every replica of it to have heard.
const MOMENT: Duration = Duration::from_secs(2);
/// Templates and values, and the configuration of the mesh.
const READ: [&str; 2] = ["istio-sidecar-injector", "istio"];

/// How long it takes yet.
pub(super) async fn left(cluster: &Cluster) -> Result<Duration, Refused> {
    let mut longest = Duration::ZERO;
    for name in READ {
        let id = ObjectId {
            group: String::new(),
            kind: "ConfigMap".to_owned(),
            namespace: MESH.to_owned(),
            name: name.to_owned(),
        };
        let map = cluster.get(&id, None).await?.unwrap_or_default();
        longest = longest.max(left_of(&map, Timestamp::now()));
    }
    Ok(longest)
}

/// By the server's clock, so that never more than the whole is waited for.
fn left_of(map: &Value, now: Timestamp) -> Duration {
    let managers = map["metadata"]["managedFields"].as_array().into_iter().flatten();
    let times = managers.filter_map(|manager| manager["time"].as_str()?.parse::<Timestamp>().ok());
    let Some(written) = times.max() else { return Duration::ZERO };
    match Duration::try_from(now.duration_since(written)) {
        Ok(age) => MOMENT.saturating_sub(age),
        Err(_) => MOMENT,
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
            json!({ "metadata": { "managedFields": fields } })
        };
        assert_eq!(left_of(&map(&[0, 10]), at(10)), MOMENT, "the last one counts");
        assert_eq!(left_of(&map(&[0, 10]), at(11)), MOMENT - Duration::from_secs(1));
        assert_eq!(left_of(&map(&[0, 10]), at(3600)), Duration::ZERO);
        assert_eq!(left_of(&map(&[0, 10]), at(5)), MOMENT, "its clock is ahead of ours");
        assert_eq!(left_of(&json!({}), at(0)), Duration::ZERO);
    }
}
