//! What is done about a workload whose pods are not what they should be: decided by what it says itself, and by how workloads are
//! restarted this time.

use super::{
    budget::Budgets,
    owner::Action,
    plan::Workload,
    window::{Moment, Window},
};
use crate::istio::rollout::{was_restarted_for, was_restarted_with};
use mizzen_api::istio::Restart;
use serde_json::Value;

const EXCLUDE: &str = "restarter.istio-operator.kyma-project.io/exclude";
const WINDOW: &str = "restarter.istio-operator.kyma-project.io/maintenance-window";

/// How workloads are restarted this time.
pub(super) struct Conduct<'a> {
    pub(super) settings: &'a Restart,
    /// A new pod would have no sidecar.
    pub(super) nobody_injects: bool,
    /// Nobody will look again: what would wait for something does not.
    pub(super) is_last: bool,
    pub(super) now: Moment,
    pub(super) budgets: Budgets,
}

/// What is written into a template, and passed on to its pods.
#[derive(Clone, Copy)]
pub(super) struct Marks<'a> {
    pub(super) cause: &'a str,
    pub(super) injector: &'a str,
}

/// What is done about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Restart,
    /// The pod goes, and its owner makes another.
    Evict,
    /// It was restarted for this, and is done.
    Done,
    /// It was restarted for this, and that did not help.
    InVain,
    Later(Why),
    Unreadable,
    /// A new template changes nothing about its pods: they wait for somebody, for this reason.
    Waits(&'static str),
}

/// Why it is not restarted now; by this name it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It is on its way to what it should be.
    RollingOut,
    Disabled,
    Excluded,
    MaintenanceWindow,
    PodDisruptionBudget,
    BatchSize,
    NobodyInjects,
}

impl Why {
    /// What goes by without anybody's doing.
    pub(super) const PASSING: [Self; 4] =
        [Self::RollingOut, Self::MaintenanceWindow, Self::PodDisruptionBudget, Self::BatchSize];

    pub(super) fn word(self) -> String {
        format!("{self:?}")
    }
}

pub(super) fn verdict(
    object: &Value,
    workload: &Workload,
    marks: Marks<'_>,
    conduct: &Conduct<'_>,
) -> Verdict {
    let (settings, Marks { cause, injector }) = (conduct.settings, marks);
    let evicts = matches!(workload.action, Action::Evict(_));
    let waits = waits(object);
    let rolls = !evicts && waits.is_none();
    // Whoever has no sidecar though it was restarted may have one from another injector.
    let was_tried =
        was_restarted_for(object, cause) && (!workload.is_bare || was_restarted_with(object, injector));
    match () {
        () if conduct.is_last && rolls && was_tried => return Verdict::Done,
        () if conduct.is_last => {}
        () if rolls && is_rolling(object) => return Verdict::Later(Why::RollingOut),
        () if workload.is_in_vain => return Verdict::InVain,
        () if rolls && was_tried && partition(object) > 0 => return Verdict::Waits(PARTITIONED),
        // The pods that were seen are gone since.
        () if rolls && was_tried => return Verdict::Later(Why::RollingOut),
        () => {}
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
        _ if conduct.is_last => Vec::new(),
        Some(own) => vec![Window::read(own)],
        None => settings.windows.iter().map(|window| Window::read(window)).collect(),
    };
    if windows.iter().any(Option::is_none) {
        return Verdict::Unreadable;
    }
    if !windows.is_empty() && !windows.iter().flatten().any(|window| window.has(conduct.now)) {
        return Verdict::Later(Why::MaintenanceWindow);
    }
    if let Some(why) = waits {
        return Verdict::Waits(why);
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

/// Whether a window of the cluster's is; what cannot be read is none.
pub(super) fn is_open(windows: &[String], now: Moment) -> bool {
    windows.is_empty()
        || windows.iter().filter_map(|window| Window::read(window)).any(|window| window.has(now))
}

const ON_DELETE: &str = "its update strategy is OnDelete: its pods wait to be deleted";
const PAUSED: &str = "it is paused: its pods wait until somebody resumes it";
const PARTITIONED: &str = "its update strategy has a partition: the pods below it wait until it is lowered";

/// Why its pods stay what they are whatever becomes of its template, if they do.
fn waits(object: &Value) -> Option<&'static str> {
    let spec = &object["spec"];
    match () {
        () if spec["updateStrategy"]["type"] == "OnDelete" => Some(ON_DELETE),
        () if object["kind"] == "Deployment" && spec["paused"] == true => Some(PAUSED),
        () if partition(object) > 0 && partition(object) >= replicas(object) => Some(PARTITIONED),
        () => None,
    }
}

/// Pods of a StatefulSet below this number are not updated.
fn partition(object: &Value) -> i64 {
    let of_set = object["kind"] == "StatefulSet";
    let partition = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64);
    partition.filter(|_| of_set).unwrap_or_default()
}

fn replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// Whether pods of it are being replaced.
fn is_rolling(object: &Value) -> bool {
    let status = &object["status"];
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let unseen = number(&status["observedGeneration"]) < number(&object["metadata"]["generation"]);
    let (wanted, updated, there) = match object["kind"].as_str().unwrap_or_default() {
        "DaemonSet" => {
            let wanted = number(&status["desiredNumberScheduled"]);
            (wanted, number(&status["updatedNumberScheduled"]), wanted)
        }
        _ => {
            let wanted = replicas(object);
            (wanted, partition(object) + number(&status["updatedReplicas"]), number(&status["replicas"]))
        }
    };
    unseen || updated < wanted || there > wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::istio::sidecars::{owner::Action, pod::Owner};
    use serde_json::json;

    fn deployment(updated: i64) -> Value {
        json!({
            "kind": "Deployment", "metadata": { "generation": 2, "annotations": {} },
            "spec": { "replicas": 2, "template": { "metadata": { "annotations": {} } } },
            "status": { "observedGeneration": 2, "replicas": 2, "updatedReplicas": updated },
        })
    }

    fn workload(is_bare: bool) -> Workload {
        let owner = Owner {
            version: "apps/v1".into(),
            kind: "Deployment".into(),
            name: "w".into(),
            ..Owner::default()
        };
        let (namespace, action) = ("n".to_owned(), Action::RollOut(owner.clone()));
        Workload { namespace, of_kyma: false, owner, action, is_bare, is_in_vain: false }
    }

    fn conduct(settings: &Restart) -> Conduct<'_> {
        // A Saturday, at one o'clock.
        let now = Moment::of((2 * 24 + 1) * 3600);
        let budgets = Budgets::default();
        Conduct { settings, nobody_injects: false, is_last: false, now, budgets }
    }

    const MARKS: Marks<'_> = Marks { cause: "cause", injector: "injector" };

    fn told(object: &Value, settings: &Restart) -> Verdict {
        verdict(object, &workload(false), MARKS, &conduct(settings))
    }

    fn marked(cause: &str, injector: &str) -> Value {
        let mut object = deployment(2);
        object["spec"]["template"]["metadata"]["annotations"] =
            json!({ "mizzen.io/restarted-for": cause, "mizzen.io/restarted-with": injector });
        object
    }

    #[test]
    fn a_workload_is_restarted_once_for_one_cause() {
        let any = Restart::default();
        let rolling = Verdict::Later(Why::RollingOut);
        assert_eq!(told(&deployment(2), &any), Verdict::Restart);
        assert_eq!(told(&deployment(1), &any), rolling, "somebody else rolls it out");
        let mut done = marked("cause", "another");
        assert_eq!(told(&done, &any), rolling, "the pods that were seen are older than that");
        let in_vain = Workload { is_in_vain: true, ..workload(false) };
        assert_eq!(verdict(&done, &in_vain, MARKS, &conduct(&any)), Verdict::InVain);
        done["status"]["observedGeneration"] = 1.into();
        assert_eq!(verdict(&done, &in_vain, MARKS, &conduct(&any)), rolling);
        assert_eq!(told(&marked("another", "injector"), &any), Verdict::Restart);
    }

    #[test]
    fn a_workload_without_a_sidecar_is_restarted_once_with_one_injector() {
        let any = Restart::default();
        let of = |object: &Value, conduct: &Conduct<'_>| verdict(object, &workload(true), MARKS, conduct);
        assert_eq!(of(&deployment(2), &conduct(&any)), Verdict::Restart);
        assert_eq!(of(&marked("cause", "injector"), &conduct(&any)), Verdict::Later(Why::RollingOut));
        assert_eq!(
            of(&marked("cause", "another"), &conduct(&any)),
            Verdict::Restart,
            "there is another one now"
        );
        let nobody = Conduct { nobody_injects: true, ..conduct(&any) };
        assert_eq!(of(&deployment(2), &nobody), Verdict::Later(Why::NobodyInjects));
    }

    #[test]
    fn a_pod_is_evicted_unless_it_was_made_for_that_already() {
        let set = json!({ "kind": "ReplicaSet", "metadata": {}, "spec": { "replicas": 1, "template": {} }, "status": {} });
        let any = Restart::default();
        let of = |is_in_vain: bool| {
            let owner = Owner {
                version: "apps/v1".into(),
                kind: "ReplicaSet".into(),
                name: "s".into(),
                ..Owner::default()
            };
            let pod = Workload { action: Action::Evict(owner), is_in_vain, ..workload(false) };
            verdict(&set, &pod, MARKS, &conduct(&any))
        };
        assert_eq!([of(false), of(true)], [Verdict::Evict, Verdict::InVain]);
    }

    #[test]
    fn what_is_restarted_for_the_last_time_waits_for_nothing() {
        let windows = Restart { windows: vec!["Mon 00:00-04:00".to_owned()], ..Restart::default() };
        let last = Conduct { is_last: true, ..conduct(&windows) };
        let of = |object: &Value| verdict(object, &workload(false), MARKS, &last);
        assert_eq!(of(&deployment(1)), Verdict::Restart, "it is being rolled out, with the old template");
        assert_eq!(of(&marked("cause", "")), Verdict::Done);
        let mut excluded = deployment(2);
        excluded["metadata"]["annotations"][EXCLUDE] = "true".into();
        assert_eq!(of(&excluded), Verdict::Later(Why::Excluded), "but somebody's word counts");
    }

    #[test]
    fn who_rolls_nothing_out_waits_for_somebody() {
        let mut set = deployment(1);
        set["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
        assert_eq!(told(&set, &Restart::default()), Verdict::Waits(ON_DELETE));
    }

    #[test]
    fn a_paused_deployment_waits_for_somebody() {
        let any = Restart::default();
        let mut paused = deployment(0);
        paused["spec"]["paused"] = true.into();
        assert_eq!(told(&paused, &any), Verdict::Waits(PAUSED));
        let mut tried = marked("cause", "injector");
        tried["spec"]["paused"] = true.into();
        tried["status"]["updatedReplicas"] = 0.into();
        assert_eq!(told(&tried, &any), Verdict::Waits(PAUSED), "it is named as long as it waits");
        paused["spec"]["paused"] = false.into();
        assert_eq!(told(&paused, &any), Verdict::Later(Why::RollingOut));
    }

    #[test]
    fn a_set_whose_partition_keeps_its_pods_waits_for_somebody() {
        let any = Restart::default();
        let set = |partition: i64, updated: i64, of: Value| {
            let mut set = of;
            set["kind"] = "StatefulSet".into();
            set["spec"]["updateStrategy"] =
                json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": partition } });
            set["status"]["updatedReplicas"] = updated.into();
            set
        };
        for partition in [2, 5] {
            let waiting = set(partition, 0, deployment(0));
            assert_eq!(told(&waiting, &any), Verdict::Waits(PARTITIONED), "{partition}");
        }
        assert_eq!(told(&set(0, 2, deployment(2)), &any), Verdict::Restart);
        // Those above it are updated, and then those below it wait.
        assert_eq!(told(&set(1, 2, deployment(2)), &any), Verdict::Restart);
        let tried = || marked("cause", "injector");
        assert_eq!(told(&set(1, 0, tried()), &any), Verdict::Later(Why::RollingOut));
        assert_eq!(told(&set(1, 1, tried()), &any), Verdict::Waits(PARTITIONED));
    }

    #[test]
    fn windows_and_those_who_want_to_be_left_alone_are_respected() {
        let of = |windows: &[&str], enabled: Option<bool>| Restart {
            enabled,
            windows: windows.iter().map(|window| (*window).to_owned()).collect(),
            batch_size: None,
        };
        assert_eq!(told(&deployment(2), &of(&["Sat 00:00-04:00"], None)), Verdict::Restart);
        assert_eq!(
            told(&deployment(2), &of(&["Mon 00:00-04:00", "Sat 00:00-04:00"], None)),
            Verdict::Restart
        );
        assert_eq!(
            told(&deployment(2), &of(&["Mon 00:00-04:00"], None)),
            Verdict::Later(Why::MaintenanceWindow)
        );
        assert_eq!(told(&deployment(2), &of(&[], Some(false))), Verdict::Later(Why::Disabled));
        let annotated = |name: &str, value: &str| {
            let mut object = deployment(2);
            object["metadata"]["annotations"][name] = value.into();
            object
        };
        assert_eq!(told(&annotated(EXCLUDE, "true"), &Restart::default()), Verdict::Later(Why::Excluded));
        assert_eq!(told(&annotated(EXCLUDE, "false"), &Restart::default()), Verdict::Restart);
        assert_eq!(
            told(&annotated(WINDOW, "Mon 00:00-04:00"), &of(&["Sat 00:00-04:00"], None)),
            Verdict::Later(Why::MaintenanceWindow)
        );
        assert_eq!(told(&annotated(WINDOW, "at night"), &Restart::default()), Verdict::Unreadable);
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
