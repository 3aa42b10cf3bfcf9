//! Who answers. A workload that does not is taken out of its service, as Kubernetes would do it, until it does again.

use super::{Failed, Mesh, Told};
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

/// Until everything answers and has its configuration, or long enough.
pub(super) async fn first(mesh: &Mesh, tell: &(dyn Fn(Told) + Send + Sync)) -> Result<(), Failed> {
    let since = Instant::now();
    let mut said = false;
    loop {
        let ready = look(mesh).await;
        let all = ready.is_whole();
        mesh.tell_ready(ready);
        if all && (mesh.is_in_step() || since.elapsed() > FIRST) {
            return Ok(());
        }
        let proxies: Vec<Status> = mesh.proxies().map(Supervised::status).collect();
        if proxies.iter().all(|status| status.ends_at_once) {
            let words = proxies.first().map(|status| last_words(GATEWAY, status, Some(&mesh.state)));
            return Err(Failed::Proxies(words.unwrap_or_default()));
        }
        let awaited: Vec<&str> = mesh.awaited().collect();
        if since.elapsed() > FIRST || (awaited.is_empty() && !all && since.elapsed() > SETTLED) {
            publish(mesh);
            return Ok(());
        }
        if !said && !awaited.is_empty() && since.elapsed() > SETTLED {
            said = true;
            tell(Told::Line(format!("waiting for {}", awaited.join(", "))));
        }
        sleep(QUICK).await;
    }
}

/// For ever.
pub(super) async fn follow(mesh: Arc<Mesh>) {
    let mut due = false;
    loop {
        sleep(STEADY).await;
        let ready = look(&mesh).await;
        due |= mesh.tell_ready(ready);
        // What could not be written is written when it can be.
        if due {
            due = !publish(&mesh);
        }
    }
}

/// Tells the control plane who is ready.
fn publish(mesh: &Mesh) -> bool {
    let ready = mesh.ready();
    let is_ready = |name: &str| ready.workload(name).both();
    let written = write_objects(&mesh.state, &mesh.plan, is_ready);
    if let Err(error) = &written {
        tracing::error!(%error, "the control plane cannot be told who is ready");
    }
    written.is_ok()
}

async fn look(mesh: &Mesh) -> Readiness {
    let control_plane = get(&mesh.control_plane(), "/ready", &[], WAIT).await;
    let mut ready = Readiness {
        control_plane: control_plane.is_ok_and(|answer| answer.status.is_success()),
        gateway: proxy(mesh, GATEWAY).await,
        workloads: BTreeMap::new(),
    };
    for (number, workload) in mesh.plan.workloads.iter().enumerate() {
        // Somebody else may have its port.
        let mut app = mesh.runs(workload);
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
