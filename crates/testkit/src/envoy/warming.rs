//! What an Envoy still waits for or has refused, read from its configuration dump and statistics.
//!
//! A cluster or listener that refers to a secret or to endpoints which nobody serves is accepted and stays out of
//! use without limit and without a word; a test that sent traffic then would fail for a reason it cannot see.

use serde_json::Value;

use super::Stats;

pub(super) fn of(dump: &Value, stats: &Stats) -> Vec<String> {
    let mut waiting = Vec::new();
    for section in list(dump, "configs") {
        for cluster in list(section, "dynamic_warming_clusters") {
            waiting.push(format!("cluster {}", name(&cluster["cluster"])));
        }
        for listener in list(section, "dynamic_listeners") {
            if let Some(refused) = listener["error_state"]["details"].as_str() {
                waiting.push(format!("listener {} refused: {refused}", name(listener)));
            } else if listener.get("warming_state").is_some() {
                waiting.push(format!("listener {}", name(listener)));
            }
        }
        for secret in list(section, "dynamic_warming_secrets") {
            waiting.push(format!("secret {}", name(secret)));
        }
    }
    // Static clusters and the first fetch of a subscription show only here.
    for (what, gauge) in [("clusters", "cluster_manager.warming_clusters"), ("listeners", LISTENERS_WARMING)]
    {
        let count = stats.get(gauge);
        if count > 0 && waiting.is_empty() {
            waiting.push(format!("{count} {what}"));
        }
    }
    // A first answer that was refused ends the waiting as well as a good one; the reason is in the log.
    for (stat, refused) in stats.iter() {
        if let Some(what) = stat.strip_suffix(".update_rejected")
            && refused > 0
            && stats.get(&format!("{what}.update_success")) == 0
        {
            waiting.push(format!("{what} refused"));
        }
    }
    waiting
}

const LISTENERS_WARMING: &str = "listener_manager.total_listeners_warming";

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or("without a name")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_warming_is_named() {
        let dump = json!({ "configs": [
            { "dynamic_active_clusters": [{ "cluster": { "name": "fine" } }],
              "dynamic_warming_clusters": [{ "cluster": { "name": "outbound|80||a" } }] },
            { "dynamic_listeners": [
                { "name": "virtualInbound", "warming_state": {} },
                { "name": "odd", "error_state": { "details": "no such filter" } },
                { "name": "virtualOutbound", "active_state": {} }] },
            { "dynamic_warming_secrets": [{ "name": "default" }] },
        ] });
        assert_eq!(
            of(&dump, &Stats::default()),
            [
                "cluster outbound|80||a",
                "listener virtualInbound",
                "listener odd refused: no such filter",
                "secret default"
            ]
        );
    }

    #[test]
    fn what_was_never_accepted_is_named() {
        let count =
            [("sds.ROOTCA.update_rejected", 1), ("cds.update_rejected", 1), ("cds.update_success", 4)];
        let stats = count.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(of(&json!({}), &stats), ["sds.ROOTCA refused"]);
    }

    #[test]
    fn an_empty_dump_waits_for_nothing() {
        assert!(of(&json!({ "configs": [] }), &Stats::default()).is_empty());
    }
}
