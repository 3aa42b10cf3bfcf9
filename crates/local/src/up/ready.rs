//! Who answers. A workload that does not is taken out of its service, as Kubernetes would do it, until it does again.

use super::{Failed, Mesh};
use crate::{
    http::{Door, connects, get},
    plan::{GATEWAY, Plan, objects},
    process::{Status, Supervised},
    state::{State, write},
};
use std::{
    collections::BTreeMap,
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// After that a mesh is shown as it is.
const FIRST: Duration = Duration::from_secs(15);
/// Nobody waits longer than that for processes that end at once, or that somebody else starts.
const SETTLED: Duration = Duration::from_secs(2);
/// A process that is slow to start is spared for so long.
const GRACE: Duration = Duration::from_secs(5);
const QUICK: Duration = Duration::from_millis(30);
const STEADY: Duration = Duration::from_millis(250);
const WAIT: Duration = Duration::from_secs(2);

/// Who answers at the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Readiness {
    pub(super) control_plane: bool,
    pub(super) gateway: bool,
    workloads: BTreeMap<String, Halves>,
}

/// A workload: its process and its sidecar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Halves {
    pub(super) app: bool,
    pub(super) proxy: bool,
}

impl Halves {
    pub(super) fn both(self) -> bool {
        self.app && self.proxy
    }
}

impl Readiness {
    pub(super) fn workload(&self, name: &str) -> Halves {
        self.workloads.get(name).copied().unwrap_or_default()
    }

    fn is_whole(&self) -> bool {
        self.control_plane && self.gateway && self.workloads.values().all(|halves| halves.both())
    }
}

pub(super) fn write_objects(state: &State, plan: &Plan, ready: impl Fn(&str) -> bool) -> io::Result<()> {
    let text = objects(plan, ready).to_string();
    write(&state.run().join("objects").join("mesh.json"), text.as_bytes())
}

/// What a process said when it ended at once.
fn last_words(name: &str, status: &Status, state: Option<&State>) -> String {
    let ended = status.last_end.clone();
    let (how, said) = ended.map(|ended| (ended.how, ended.said.join("\n"))).unwrap_or_default();
    let log = state.map(|state| format!("\nits log: {}", state.log(name).display())).unwrap_or_default();
    format!("{how}\n{said}{log}")
}

pub(super) async fn control_plane(at: &Door, process: &Supervised) -> Result<(), Failed> {
    loop {
        let answer = get(at, "/ready", &[], WAIT).await;
        if answer.is_ok_and(|answer| answer.status.is_success()) {
            return Ok(());
        }
        let status = process.status();
        if status.ends_at_once {
            return Err(Failed::ControlPlane(last_words(&process.name, &status, None)));
        }
        sleep(QUICK).await;
    }
}

/// Until everything answers, or long enough.
pub(super) async fn first(mesh: &Mesh) -> Result<(), Failed> {
    let since = Instant::now();
    loop {
        let ready = look(mesh).await;
        let all = ready.is_whole();
        mesh.tell_ready(ready);
        if all {
            return Ok(());
        }
        let proxies: Vec<Status> = mesh.proxies().map(Supervised::status).collect();
        if proxies.iter().all(|status| status.ends_at_once) {
            let words = proxies.first().map(|status| last_words(GATEWAY, status, Some(&mesh.state)));
            return Err(Failed::Proxies(words.unwrap_or_default()));
        }
        let waits = mesh.plan.workloads.iter().any(|workload| mesh.may_come(&workload.name));
        if since.elapsed() > FIRST || (!waits && since.elapsed() > SETTLED) {
            publish(mesh);
            return Ok(());
        }
        sleep(QUICK).await;
    }
}

/// For ever.
pub(super) async fn follow(mesh: Arc<Mesh>) {
    let begun = Instant::now();
    loop {
        sleep(STEADY).await;
        let ready = look(&mesh).await;
        if mesh.tell_ready(ready) && (mesh.is_ready() || begun.elapsed() > GRACE) {
            publish(&mesh);
        }
    }
}

fn publish(mesh: &Mesh) {
    let ready = mesh.ready();
    let is_ready = |name: &str| ready.workload(name).both();
    if let Err(error) = write_objects(&mesh.state, &mesh.plan, is_ready) {
        tracing::error!(%error, "the control plane cannot be told who is ready");
    }
}

async fn look(mesh: &Mesh) -> Readiness {
    let control_plane = get(&mesh.control_plane(), "/ready", &[], WAIT).await;
    let mut ready = Readiness {
        control_plane: control_plane.is_ok_and(|answer| answer.status.is_success()),
        gateway: proxy(mesh, GATEWAY).await,
        workloads: BTreeMap::new(),
    };
    for (number, workload) in mesh.plan.workloads.iter().enumerate() {
        let mut app = true;
        for port in &workload.ports {
            app &= connects(&mesh.app(number, port), WAIT).await;
        }
        let proxy = proxy(mesh, &workload.name).await;
        ready.workloads.insert(workload.name.clone(), Halves { app, proxy });
    }
    ready
}

async fn proxy(mesh: &Mesh, name: &str) -> bool {
    let answer = get(&mesh.admin(name), "/ready", &[], WAIT).await;
    answer.is_ok_and(|answer| answer.status.is_success())
}
