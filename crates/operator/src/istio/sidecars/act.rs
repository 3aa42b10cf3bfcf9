//! A plan carried out: what may be restarted now is, the rest is told.

use super::{
    LISTED, Restarted,
    budget::Budgets,
    event::{self, Reason},
    owner::Action,
    plan::{RestartPlan, Workload},
    window::{Moment, Window},
};
use crate::{
    istio::rollout::{restart_with, was_restarted_for, was_restarted_with},
    pass::Stopped,
};
use mizzen_api::istio::Restart;
use mizzen_cluster::{Cluster, Eviction, ObjectId, Refused};
use serde_json::Value;

const EXCLUDE: &str = "restarter.istio-operator.kyma-project.io/exclude";
const WINDOW: &str = "restarter.istio-operator.kyma-project.io/maintenance-window";

/// How workloads are restarted this time.
pub(super) struct Conduct<'a> {
    pub(super) settings: &'a Restart,
    /// All that a restart would bring.
    pub(super) cause: &'a str,
    /// Who injects; empty where nobody has to.
    pub(super) injector: &'a str,
    /// A new pod would have no sidecar.
    pub(super) nobody_injects: bool,
    pub(super) now: Moment,
    pub(super) budgets: Budgets,
}

/// What is done about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Restart,
    /// The pod goes, and its owner makes another.
    Evict,
    /// It was restarted for this, and is done.
    Done,
    /// It was restarted for this, and that did not help.
    InVain,
    Later(Why),
    Unreadable,
    /// A new template changes nothing about its pods.
    OnDelete,
}

/// Why it is not restarted now; by this name it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// It is on its way to what it should be.
    RollingOut,
    Disabled,
    Excluded,
    MaintenanceWindow,
    PodDisruptionBudget,
    BatchSize,
    NobodyInjects,
}

/// What became of a workload.
enum Told {
    Fine,
    Restarted,
    Later(Why),
    ByHand(&'static str),
    Unreadable,
}

const UNREADABLE: &str = "its maintenance window cannot be read: write it as `Sat-Sun 00:00-04:00`";
const EXCLUDED: &str = "its sidecar is not what it should be, and it asks not to be restarted";

pub(super) async fn act(
    cluster: &Cluster,
    plan: RestartPlan,
    mut conduct: Conduct<'_>,
) -> Result<Restarted, Stopped> {
    let mut done = Restarted::default();
    let size = conduct.settings.batch_size;
    let mut room = size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
    for workload in plan.into_workloads() {
        let name = format!("{}/{}", workload.namespace, workload.owner.name);
        let outcome = one(cluster, &workload, &mut conduct, &mut room).await;
        let tell = async |reason: Reason, note: &str| {
            event::tell(cluster, &workload.namespace, &workload.owner, reason, note, conduct.cause).await;
        };
        match outcome {
            Ok(Told::Fine) => continue,
            Ok(Told::Restarted) => {
                tell(Reason::RestartSuccess, "restarted, so that its sidecar is what it should be").await;
                done.wrote = true;
            }
            Ok(Told::Later(why)) => {
                if why == Why::Excluded {
                    tell(Reason::RestartRequired, EXCLUDED).await;
                }
                *done.outdated.waiting.entry(format!("{why:?}")).or_default() += 1;
            }
            Ok(Told::ByHand(why)) => {
                tracing::warn!(workload = name, "{why}");
                tell(Reason::RestartRequired, why).await;
                done.by_hand.push(name.clone());
            }
            Ok(Told::Unreadable) => {
                tracing::warn!(workload = name, UNREADABLE);
                tell(Reason::RestartConfigInvalid, UNREADABLE).await;
                done.by_hand.push(name.clone());
            }
            // Somebody else was at it: the next look sees what came of it.
            Err(Refused::Conflict { .. }) => {}
            Err(refused) => {
                tell(Reason::RestartFailed, &refused.to_string()).await;
                if workload.of_kyma {
                    return Err(refused.into());
                }
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

async fn one(
    cluster: &Cluster,
    workload: &Workload,
    conduct: &mut Conduct<'_>,
    room: &mut usize,
) -> Result<Told, Refused> {
    let id = match &workload.action {
        Action::ByHand(why) => return Ok(Told::ByHand(why)),
        Action::RollOut(owner) | Action::Evict(owner) => ObjectId {
            group: owner.version.split_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: owner.kind.clone(),
            namespace: workload.namespace.clone(),
            name: owner.name.clone(),
        },
    };
    let Some(object) = cluster.get(&id, None).await? else { return Ok(Told::Fine) };
    match verdict(&object, workload, conduct) {
        Verdict::Done => Ok(Told::Fine),
        Verdict::Later(why) => {
            if why == Why::RollingOut {
                *room = room.saturating_sub(1);
                conduct.budgets.use_for(&object);
            }
            Ok(Told::Later(why))
        }
        Verdict::InVain => {
            Ok(Told::ByHand("it was restarted, and its sidecar is still not what it should be"))
        }
        Verdict::OnDelete => Ok(Told::ByHand("its update strategy is OnDelete: its pods wait to be deleted")),
        Verdict::Unreadable => Ok(Told::Unreadable),
        Verdict::Restart if *room == 0 => Ok(Told::Later(Why::BatchSize)),
        Verdict::Evict if *room == 0 => Ok(Told::Later(Why::BatchSize)),
        Verdict::Evict => evict(cluster, workload, conduct, &id, &object, room).await,
        Verdict::Restart => {
            *room -= 1;
            conduct.budgets.use_for(&object);
            tracing::info!(workload = %id, conduct.cause, "restarting");
            let is_there = restart_with(cluster, &id, &object, conduct.cause, conduct.injector).await?;
            Ok(if is_there { Told::Restarted } else { Told::Fine })
        }
    }
}

/// Its owner makes another in its place, which says what it was made for.
async fn evict(
    cluster: &Cluster,
    workload: &Workload,
    conduct: &Conduct<'_>,
    id: &ObjectId,
    owner: &Value,
    room: &mut usize,
) -> Result<Told, Refused> {
    let Conduct { cause, injector, .. } = conduct;
    if !(was_restarted_for(owner, cause) && was_restarted_with(owner, injector)) {
        restart_with(cluster, id, owner, cause, injector).await?;
    }
    let (namespace, name) = (&workload.namespace, &workload.owner.name);
    Ok(match cluster.evict(namespace, name, None).await? {
        Eviction::Done => {
            *room -= 1;
            Told::Restarted
        }
        Eviction::Absent => Told::Fine,
        Eviction::Held(why) => {
            tracing::info!(pod = format!("{namespace}/{name}"), why, "it cannot be spared now");
            Told::Later(Why::PodDisruptionBudget)
        }
    })
}

fn verdict(object: &Value, workload: &Workload, conduct: &Conduct<'_>) -> Verdict {
    let Conduct { settings, cause, injector, .. } = conduct;
    if object["spec"]["updateStrategy"]["type"] == "OnDelete" {
        return Verdict::OnDelete;
    }
    let evicts = matches!(workload.action, Action::Evict(_));
    let rolling = !evicts && is_rolling(object);
    // Whoever has no sidecar though it was restarted may have one from another injector.
    let was_tried = match &workload.made {
        [made_for, made_with] if evicts => made_for == cause && (!workload.is_bare || made_with == injector),
        _ => was_restarted_for(object, cause) && (!workload.is_bare || was_restarted_with(object, injector)),
    };
    match (rolling, was_tried) {
        (true, _) => return Verdict::Later(Why::RollingOut),
        (false, true) if workload.is_seen => return Verdict::InVain,
        (false, true) => return Verdict::Done,
        (false, false) => {}
    }
    if conduct.nobody_injects {
        return Verdict::Later(Why::NobodyInjects);
    }
    let annotation = |name: &str| object["metadata"]["annotations"].get(name).and_then(Value::as_str);
    if settings.enabled == Some(false) {
        return Verdict::Later(Why::Disabled);
    }
    if annotation(EXCLUDE) == Some("true") {
        return Verdict::Later(Why::Excluded);
    }
    // The workload's own word counts more than the cluster's.
    let windows = match annotation(WINDOW) {
        Some(own) => vec![Window::read(own)],
        None => settings.windows.iter().map(|window| Window::read(window)).collect(),
    };
    if windows.iter().any(Option::is_none) {
        return Verdict::Unreadable;
    }
    if !windows.is_empty() && !windows.iter().flatten().any(|window| window.has(conduct.now)) {
        return Verdict::Later(Why::MaintenanceWindow);
    }
    // The server asks the budgets itself.
    if evicts {
        return Verdict::Evict;
    }
    match conduct.budgets.in_the_way(object) {
        Some(budget) => {
            tracing::info!(workload = workload.owner.name, budget, "it waits for a budget");
            Verdict::Later(Why::PodDisruptionBudget)
        }
        None => Verdict::Restart,
    }
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
    use crate::istio::sidecars::pod::Owner;
    use serde_json::json;

    fn deployment(updated: i64) -> Value {
        json!({
            "kind": "Deployment", "metadata": { "generation": 2, "annotations": {} },
            "spec": { "replicas": 2, "template": { "metadata": { "annotations": {} } } },
            "status": { "observedGeneration": 2, "replicas": 2, "updatedReplicas": updated },
        })
    }

    fn workload(is_seen: bool, is_bare: bool) -> Workload {
        let owner = Owner { version: "apps/v1".into(), kind: "Deployment".into(), name: "w".into() };
        let (namespace, action) = ("n".to_owned(), Action::RollOut(owner.clone()));
        Workload { namespace, of_kyma: false, owner, action, is_seen, is_bare, made: Default::default() }
    }

    fn conduct(settings: &Restart) -> Conduct<'_> {
        // A Saturday, at one o'clock.
        let now = Moment::of((2 * 24 + 1) * 3600);
        let budgets = Budgets::default();
        Conduct { settings, cause: "cause", injector: "injector", nobody_injects: false, now, budgets }
    }

    fn told(object: &Value, is_seen: bool, settings: &Restart) -> Verdict {
        verdict(object, &workload(is_seen, false), &conduct(settings))
    }

    #[test]
    fn a_workload_is_restarted_once_for_one_cause() {
        let any = Restart::default();
        assert_eq!(told(&deployment(2), true, &any), Verdict::Restart);
        assert_eq!(
            told(&deployment(1), true, &any),
            Verdict::Later(Why::RollingOut),
            "somebody else rolls it out"
        );
        let mut done = deployment(2);
        done["spec"]["template"]["metadata"]["annotations"] = json!({ "mizzen.io/restarted-for": "cause" });
        assert_eq!(told(&done, false, &any), Verdict::Done);
        assert_eq!(told(&done, true, &any), Verdict::InVain);
        done["status"]["observedGeneration"] = 1.into();
        assert_eq!(told(&done, true, &any), Verdict::Later(Why::RollingOut));
        done["spec"]["template"]["metadata"]["annotations"] = json!({ "mizzen.io/restarted-for": "another" });
        done["status"]["observedGeneration"] = 2.into();
        assert_eq!(told(&done, true, &any), Verdict::Restart);
    }

    #[test]
    fn a_workload_without_a_sidecar_is_restarted_once_with_one_injector() {
        let any = Restart::default();
        let of = |object: &Value, conduct: &Conduct<'_>| verdict(object, &workload(true, true), conduct);
        assert_eq!(of(&deployment(2), &conduct(&any)), Verdict::Restart);
        let mut done = deployment(2);
        done["spec"]["template"]["metadata"]["annotations"] =
            json!({ "mizzen.io/restarted-for": "cause", "mizzen.io/restarted-with": "injector" });
        assert_eq!(of(&done, &conduct(&any)), Verdict::InVain, "it has none again");
        let another = Conduct { injector: "another", ..conduct(&any) };
        assert_eq!(of(&done, &another), Verdict::Restart);
        assert_eq!(
            told(&done, false, &any),
            Verdict::Done,
            "for what is wrong otherwise it counts all the same"
        );
        assert_eq!(verdict(&done, &workload(false, false), &another), Verdict::Done);
        let nobody = Conduct { nobody_injects: true, ..conduct(&any) };
        assert_eq!(of(&deployment(2), &nobody), Verdict::Later(Why::NobodyInjects));
    }

    #[test]
    fn a_pod_is_evicted_unless_it_was_made_for_that_already() {
        let set = json!({ "kind": "ReplicaSet", "metadata": {}, "spec": { "replicas": 1, "template": {} }, "status": {} });
        let any = Restart::default();
        let of = |made: [&str; 2], is_seen: bool, is_bare: bool| {
            let owner = Owner { version: "apps/v1".into(), kind: "ReplicaSet".into(), name: "s".into() };
            let pod = workload(is_seen, is_bare);
            let pod = Workload { action: Action::Evict(owner), made: made.map(str::to_owned), ..pod };
            verdict(&set, &pod, &conduct(&any))
        };
        assert_eq!(of(["", ""], true, false), Verdict::Evict);
        assert_eq!(of(["another", "injector"], true, false), Verdict::Evict);
        assert_eq!(of(["cause", "another"], true, false), Verdict::InVain);
        assert_eq!(of(["cause", "another"], false, false), Verdict::Done);
        assert_eq!(
            of(["cause", "another"], true, true),
            Verdict::Evict,
            "another injector may have one for it"
        );
        assert_eq!(of(["cause", "injector"], true, true), Verdict::InVain);
    }

    #[test]
    fn a_template_that_changes_nothing_is_not_written() {
        let mut set = deployment(1);
        set["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
        assert_eq!(told(&set, true, &Restart::default()), Verdict::OnDelete);
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
        assert_eq!(
            told(&deployment(2), true, &of(&["Mon 00:00-04:00"], None)),
            Verdict::Later(Why::MaintenanceWindow)
        );
        assert_eq!(told(&deployment(2), true, &of(&[], Some(false))), Verdict::Later(Why::Disabled));
        let annotated = |name: &str, value: &str| {
            let mut object = deployment(2);
            object["metadata"]["annotations"][name] = value.into();
            object
        };
        assert_eq!(
            told(&annotated(EXCLUDE, "true"), true, &Restart::default()),
            Verdict::Later(Why::Excluded)
        );
        assert_eq!(told(&annotated(EXCLUDE, "false"), true, &Restart::default()), Verdict::Restart);
        assert_eq!(
            told(&annotated(WINDOW, "Mon 00:00-04:00"), true, &of(&["Sat 00:00-04:00"], None)),
            Verdict::Later(Why::MaintenanceWindow)
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
