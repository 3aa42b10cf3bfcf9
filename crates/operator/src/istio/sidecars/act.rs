//! A plan carried out: what may be restarted now is, the rest is told.

use super::{
    LISTED, Restarted,
    owner::Action,
    plan::{RestartPlan, Workload},
    window::{Moment, Window},
};
use crate::{
    istio::rollout::{restart, was_restarted_for},
    pass::Stopped,
};
use mizzen_api::istio::Restart;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;

const EXCLUDE: &str = "restarter.istio-operator.kyma-project.io/exclude";
const WINDOW: &str = "restarter.istio-operator.kyma-project.io/maintenance-window";

/// What is done about a workload that can be rolled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Restart,
    /// It is on its way to what it should be.
    Rolling,
    /// It was restarted for this, and is done.
    Done,
    /// It was restarted for this, and that did not help.
    InVain,
    /// Not now, or never: somebody has said so.
    Held,
    Unreadable,
}

pub(super) async fn act(
    cluster: &Cluster,
    plan: RestartPlan,
    settings: &Restart,
    cause: &str,
    now: Moment,
) -> Result<Restarted, Stopped> {
    let mut done = Restarted::default();
    let mut room = settings.batch_size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
    for workload in plan.into_workloads() {
        let name = format!("{}/{}", workload.namespace, workload.owner.name);
        let outcome = one(cluster, &workload, settings, cause, now, &mut room).await;
        match outcome {
            Ok(Told::Fine) => continue,
            Ok(Told::Restarted) => done.wrote = true,
            Ok(Told::Later) => {}
            Ok(Told::ByHand(why)) => {
                tracing::warn!(workload = name, "{why}");
                done.by_hand.push(name.clone());
            }
            // Somebody else was at it: the next look sees what came of it.
            Err(Refused::Conflict { .. }) => {}
            Err(refused) if workload.of_kyma => return Err(refused.into()),
            Err(refused) => {
                tracing::warn!(workload = name, %refused, "it could not be restarted");
                done.by_hand.push(name.clone());
            }
        }
        done.outdated.count += 1;
        if done.outdated.workloads.len() < LISTED {
            done.outdated.workloads.push(name);
        }
    }
    Ok(done)
}

enum Told {
    Fine,
    Restarted,
    Later,
    ByHand(&'static str),
}

async fn one(
    cluster: &Cluster,
    workload: &Workload,
    settings: &Restart,
    cause: &str,
    now: Moment,
    room: &mut usize,
) -> Result<Told, Refused> {
    let group = if workload.owner.kind == "Pod" { "" } else { "apps" };
    let id = ObjectId {
        group: group.to_owned(),
        kind: workload.owner.kind.clone(),
        namespace: workload.namespace.clone(),
        name: workload.owner.name.clone(),
    };
    match workload.action {
        Action::ByHand(why) => return Ok(Told::ByHand(why)),
        Action::DeletePod if settings.enabled == Some(false) || *room == 0 => return Ok(Told::Later),
        Action::DeletePod => {
            *room -= 1;
            cluster.delete(&id, None).await?;
            return Ok(Told::Restarted);
        }
        Action::RollOut(_) => {}
    }
    let Some(object) = cluster.get(&id, None).await? else { return Ok(Told::Fine) };
    match verdict(&object, workload.is_seen, settings, cause, now) {
        Verdict::Done => Ok(Told::Fine),
        Verdict::Held => Ok(Told::Later),
        Verdict::Rolling => {
            *room = room.saturating_sub(1);
            Ok(Told::Later)
        }
        Verdict::InVain => {
            Ok(Told::ByHand("it was restarted, and its sidecar is still not what it should be"))
        }
        Verdict::Unreadable => {
            Ok(Told::ByHand("its maintenance window cannot be read: write it as `Sat-Sun 00:00-04:00`"))
        }
        Verdict::Restart if *room == 0 => Ok(Told::Later),
        Verdict::Restart => {
            *room -= 1;
            tracing::info!(workload = %id, cause, "restarting");
            Ok(if restart(cluster, &id, &object, cause).await? { Told::Restarted } else { Told::Fine })
        }
    }
}

fn verdict(object: &Value, is_seen: bool, settings: &Restart, cause: &str, now: Moment) -> Verdict {
    let rolling = is_rolling(object);
    if was_restarted_for(object, cause) {
        return match (rolling, is_seen) {
            (true, _) => Verdict::Rolling,
            (false, true) => Verdict::InVain,
            (false, false) => Verdict::Done,
        };
    }
    if rolling {
        return Verdict::Rolling;
    }
    let annotation = |name: &str| object["metadata"]["annotations"].get(name).and_then(Value::as_str);
    if settings.enabled == Some(false) || annotation(EXCLUDE) == Some("true") {
        return Verdict::Held;
    }
    // The workload's own word counts more than the cluster's.
    let windows = match annotation(WINDOW) {
        Some(own) => vec![Window::read(own)],
        None => settings.windows.iter().map(|window| Window::read(window)).collect(),
    };
    if windows.iter().any(Option::is_none) {
        return Verdict::Unreadable;
    }
    let open = windows.is_empty() || windows.iter().flatten().any(|window| window.has(now));
    if open { Verdict::Restart } else { Verdict::Held }
}

/// Whether pods of it are being replaced.
fn is_rolling(object: &Value) -> bool {
    let (status, spec) = (&object["status"], &object["spec"]);
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let unseen = number(&status["observedGeneration"]) < number(&object["metadata"]["generation"]);
    let (wanted, updated, there) = match object["kind"].as_str().unwrap_or_default() {
        "DaemonSet" => {
            let wanted = number(&status["desiredNumberScheduled"]);
            (wanted, number(&status["updatedNumberScheduled"]), wanted)
        }
        _ => {
            let wanted = spec["replicas"].as_i64().unwrap_or(1);
            (wanted, number(&status["updatedReplicas"]), number(&status["replicas"]))
        }
    };
    unseen || updated < wanted || there > wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment(updated: i64) -> Value {
        json!({
            "kind": "Deployment", "metadata": { "generation": 2, "annotations": {} },
            "spec": { "replicas": 2, "template": { "metadata": { "annotations": {} } } },
            "status": { "observedGeneration": 2, "replicas": 2, "updatedReplicas": updated },
        })
    }

    fn told(object: &Value, is_seen: bool, settings: &Restart) -> Verdict {
        // A Saturday, at one o'clock.
        verdict(object, is_seen, settings, "cause", Moment::of((2 * 24 + 1) * 3600))
    }

    #[test]
    fn a_workload_is_restarted_once_for_one_cause() {
        let any = Restart::default();
        assert_eq!(told(&deployment(2), true, &any), Verdict::Restart);
        assert_eq!(told(&deployment(1), true, &any), Verdict::Rolling, "somebody else rolls it out");
        let mut done = deployment(2);
        done["spec"]["template"]["metadata"]["annotations"] = json!({ "mizzen.io/restarted-for": "cause" });
        assert_eq!(told(&done, false, &any), Verdict::Done);
        assert_eq!(told(&done, true, &any), Verdict::InVain);
        done["status"]["observedGeneration"] = 1.into();
        assert_eq!(told(&done, true, &any), Verdict::Rolling);
        done["spec"]["template"]["metadata"]["annotations"] = json!({ "mizzen.io/restarted-for": "another" });
        done["status"]["observedGeneration"] = 2.into();
        assert_eq!(told(&done, true, &any), Verdict::Restart);
    }

    #[test]
    fn windows_and_those_who_want_to_be_left_alone_are_respected() {
        let of = |windows: &[&str], enabled: Option<bool>| Restart {
            enabled,
            windows: windows.iter().map(|window| (*window).to_owned()).collect(),
            batch_size: None,
        };
        assert_eq!(told(&deployment(2), true, &of(&["Sat 00:00-04:00"], None)), Verdict::Restart);
        assert_eq!(
            told(&deployment(2), true, &of(&["Mon 00:00-04:00", "Sat 00:00-04:00"], None)),
            Verdict::Restart
        );
        assert_eq!(told(&deployment(2), true, &of(&["Mon 00:00-04:00"], None)), Verdict::Held);
        assert_eq!(told(&deployment(2), true, &of(&[], Some(false))), Verdict::Held);
        let annotated = |name: &str, value: &str| {
            let mut object = deployment(2);
            object["metadata"]["annotations"][name] = value.into();
            object
        };
        assert_eq!(told(&annotated(EXCLUDE, "true"), true, &Restart::default()), Verdict::Held);
        assert_eq!(told(&annotated(EXCLUDE, "false"), true, &Restart::default()), Verdict::Restart);
        assert_eq!(
            told(&annotated(WINDOW, "Mon 00:00-04:00"), true, &of(&["Sat 00:00-04:00"], None)),
            Verdict::Held
        );
        assert_eq!(told(&annotated(WINDOW, "at night"), true, &Restart::default()), Verdict::Unreadable);
    }

    #[test]
    fn every_kind_says_in_its_own_way_that_pods_are_being_replaced() {
        let set = |updated: i64| {
            json!({
                "kind": "DaemonSet", "metadata": { "generation": 1 }, "spec": {},
                "status": { "observedGeneration": 1, "desiredNumberScheduled": 3, "updatedNumberScheduled": updated },
            })
        };
        assert!(is_rolling(&set(2)) && !is_rolling(&set(3)));
        let mut surging = deployment(2);
        surging["status"]["replicas"] = 3.into();
        assert!(is_rolling(&surging) && !is_rolling(&deployment(2)));
    }
}
