//! PodDisruptionBudgets, in the choice of what is restarted next.
//!
//! A rollout asks no budget, so that we do. One that starts new pods before it ends old ones never lowers how many are available, and is
//! free to go. Every other waits while a budget of its pods allows none to be missing; unless none of them is missing and the budget still
//! allows nothing: that one never will, and whoever wrote it lives with rollouts of his own. Under one budget, one workload goes at a time.

use super::selector::{Labels, labels, matches};
use mizzen_cluster::{Cluster, Refused};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Budgets(Vec<Budget>);

#[derive(Debug)]
struct Budget {
    namespace: String,
    name: String,
    selector: Value,
    allows: Allows,
    /// A workload of it is on its way already.
    is_used: bool,
}

/// What a budget has to say about one more pod that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allows {
    One,
    NotNow,
    Never,
}

impl Budgets {
    pub(super) async fn read(cluster: &Cluster) -> Result<Self, Refused> {
        let all = cluster.list("policy", "PodDisruptionBudget", "").await?;
        Ok(Self(all.iter().map(Budget::of).collect()))
    }

    /// The name of one that a restart of this workload has to wait for.
    pub(super) fn in_the_way(&self, workload: &Value) -> Option<&str> {
        let lowers = lowers_availability(workload);
        let held = |budget: &&Budget| lowers && (budget.is_used || budget.allows == Allows::NotNow);
        self.of(workload).filter(held).map(|budget| budget.name.as_str()).next()
    }

    /// It goes.
    pub(super) fn use_for(&mut self, workload: &Value) {
        if !lowers_availability(workload) {
            return;
        }
        let (namespace, labels) = place(workload);
        self.0.iter_mut().filter(|one| one.covers(&namespace, &labels)).for_each(|one| one.is_used = true);
    }

    fn of(&self, workload: &Value) -> impl Iterator<Item = &Budget> {
        let (namespace, labels) = place(workload);
        self.0.iter().filter(move |budget| budget.covers(&namespace, &labels))
    }
}

fn place(workload: &Value) -> (String, Labels) {
    let namespace = workload["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    (namespace, labels(&workload["spec"]["template"]))
}

impl Budget {
    fn of(budget: &Value) -> Self {
        let text = |key: &str| budget["metadata"][key].as_str().unwrap_or_default().to_owned();
        Self {
            namespace: text("namespace"),
            name: text("name"),
            selector: budget["spec"]["selector"].clone(),
            allows: allows(budget),
            is_used: false,
        }
    }

    /// One without a selector is about nobody.
    fn covers(&self, namespace: &str, labels: &Labels) -> bool {
        self.namespace == namespace && self.selector.is_object() && matches(&self.selector, labels)
    }
}

fn allows(budget: &Value) -> Allows {
    let status = &budget["status"];
    let number = |key: &str| status[key].as_i64().unwrap_or_default();
    let is_current = status["observedGeneration"] == budget["metadata"]["generation"];
    match () {
        () if !is_current => Allows::NotNow,
        () if number("disruptionsAllowed") > 0 => Allows::One,
        () if number("currentHealthy") >= number("expectedPods") => Allows::Never,
        () => Allows::NotNow,
    }
}

/// Whether pods of it are ended before there are others in their place.
fn lowers_availability(workload: &Value) -> bool {
    let spec = &workload["spec"];
    let is_none = |value: &Value| *value == 0 || *value == "0" || *value == "0%";
    match workload["kind"].as_str().unwrap_or_default() {
        "Deployment" => {
            let rolling = &spec["strategy"]["rollingUpdate"];
            let replicas = spec["replicas"].as_i64().unwrap_or(1);
            let unavailable = match &rolling["maxUnavailable"] {
                Value::Number(count) => count.as_i64().unwrap_or_default(),
                share => {
                    let share = share.as_str().unwrap_or("25%").trim_end_matches('%');
                    replicas * share.parse::<i64>().unwrap_or_default() / 100
                }
            };
            // Where neither may be, one is missing after all.
            spec["strategy"]["type"] == "Recreate" || unavailable > 0 || is_none(&rolling["maxSurge"])
        }
        "DaemonSet" => {
            let surge = &spec["updateStrategy"]["rollingUpdate"]["maxSurge"];
            surge.is_null() || is_none(surge)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn budget(allowed: i64, healthy: i64, expected: i64) -> Value {
        json!({
            "metadata": { "name": "b", "namespace": "n", "generation": 1 },
            "spec": { "selector": { "matchLabels": { "app": "a" } } },
            "status": { "observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy, "expectedPods": expected },
        })
    }

    fn workload(kind: &str, key: &str, strategy: &Value) -> Value {
        json!({
            "kind": kind, "metadata": { "name": "w", "namespace": "n" },
            "spec": { "replicas": 2, key: strategy, "template": { "metadata": { "labels": { "app": "a" } } } },
        })
    }

    fn rolling(unavailable: &Value, surge: &Value) -> Value {
        let strategy = json!({ "rollingUpdate": { "maxUnavailable": unavailable, "maxSurge": surge } });
        workload("Deployment", "strategy", &strategy)
    }

    #[test]
    fn only_what_ends_pods_before_there_are_others_asks_a_budget() {
        let cases = [
            (rolling(&json!("25%"), &json!("25%")), false, "of two, a quarter is none"),
            (rolling(&json!("50%"), &json!("25%")), true, "half of them is one"),
            (rolling(&json!(1), &json!(1)), true, "one"),
            (rolling(&json!(0), &json!(1)), false, "none"),
            (rolling(&json!("0%"), &json!("0%")), true, "neither: one after all"),
            (workload("Deployment", "strategy", &json!({})), false, "as a server fills it in"),
            (workload("Deployment", "strategy", &json!({ "type": "Recreate" })), true, "all at once"),
            (workload("StatefulSet", "updateStrategy", &json!({})), true, "one after the other"),
            (workload("DaemonSet", "updateStrategy", &json!({})), true, "a node has one or none"),
            (
                workload("DaemonSet", "updateStrategy", &json!({ "rollingUpdate": { "maxSurge": 1 } })),
                false,
                "or two",
            ),
        ];
        for (workload, lowers, why) in cases {
            assert_eq!(lowers_availability(&workload), lowers, "{why}: {workload}");
            let budgets = Budgets(vec![Budget::of(&budget(0, 1, 2))]);
            assert_eq!(budgets.in_the_way(&workload), lowers.then_some("b"), "{why}");
        }
    }

    #[test]
    fn a_budget_is_waited_for_unless_it_would_never_allow_anything() {
        let set = workload("StatefulSet", "updateStrategy", &json!({}));
        let held = |budget: &Value| Budgets(vec![Budget::of(budget)]).in_the_way(&set).is_some();
        assert!(!held(&budget(1, 2, 2)));
        assert!(held(&budget(0, 1, 2)), "one is missing; it will come");
        assert!(!held(&budget(0, 2, 2)), "none is missing: it never will allow one");
        let change = |pointer: &str, value: Value| {
            let mut budget = budget(0, 1, 2);
            *budget.pointer_mut(pointer).unwrap() = value;
            budget
        };
        assert!(held(&change("/metadata/generation", json!(2))), "nobody has counted yet");
        assert!(!held(&change("/metadata/namespace", json!("other"))));
        assert!(!held(&change("/spec/selector/matchLabels/app", json!("other"))));
        assert!(!held(&change("/spec/selector", Value::Null)), "it is about nobody");
        assert!(held(&change("/spec/selector", json!({}))), "it is about everybody");
    }

    #[test]
    fn under_one_budget_one_workload_goes_at_a_time() {
        let mut budgets = Budgets(vec![Budget::of(&budget(1, 2, 2))]);
        let set = workload("StatefulSet", "updateStrategy", &json!({}));
        budgets.use_for(&rolling(&json!(0), &json!(1)));
        assert_eq!(budgets.in_the_way(&set), None, "that one takes nothing away");
        budgets.use_for(&set);
        assert_eq!(budgets.in_the_way(&set), Some("b"));
    }
}
