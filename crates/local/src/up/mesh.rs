//! A mesh that runs, and what is known of it at the moment.

use super::{
    Prepared, proxy_name,
    ready::{Halves, Readiness},
};
use crate::{
    config::App,
    http::Door,
    namespaces::Namespaces,
    observe::Observed,
    plan::{CONTROL_PLANE, Capture, GATEWAY, Plan, Workload, WorkloadPort, bootstrap::admin_socket},
    process::Supervised,
    state::State,
    view,
};
use mizzen_identity::Holder;
use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// How long a process lives before it counts; longer for one that has ended at once before. An Envoy takes longer anyway.
const SETTLED: Duration = Duration::from_millis(300);
const SETTLED_AGAIN: Duration = Duration::from_secs(2);

pub(crate) struct Mesh {
    pub(crate) plan: Plan,
    pub(crate) state: State,
    objects_folder: PathBuf,
    version: String,
    envoy: String,
    started: SystemTime,
    holders: BTreeMap<String, Holder>,
    processes: BTreeMap<String, Supervised>,
    known: Mutex<Known>,
    namespaces: Option<Namespaces>,
}

/// Where the control plane's pages are.
pub(super) fn control_plane(plan: &Plan, namespaces: Option<&Namespaces>) -> Door {
    match namespaces {
        Some(namespaces) => Door::Inside(namespaces.switch.clone(), plan.control_plane.http),
        None => Door::Tcp(plan.control_plane.http),
    }
}

#[derive(Default)]
struct Known {
    ready: Readiness,
    all_ready: bool,
    observed: Observed,
    configuration: Configuration,
}

/// What the control plane says.
#[derive(Clone, Default)]
pub(crate) struct Configuration {
    /// By the names of workloads.
    pub(crate) sync: BTreeMap<String, view::Sync>,
    pub(crate) objects: Vec<view::Object>,
    pub(crate) problems: Vec<String>,
}

impl Mesh {
    pub(super) fn new(
        prepared: &Prepared,
        holders: BTreeMap<String, Holder>,
        processes: BTreeMap<String, Supervised>,
    ) -> Self {
        Self {
            plan: prepared.plan.clone(),
            state: prepared.state.clone(),
            objects_folder: prepared.config.objects.clone(),
            version: prepared.version.clone(),
            envoy: prepared.envoy.version.clone(),
            started: SystemTime::now(),
            holders,
            processes,
            known: Mutex::default(),
            namespaces: prepared.namespaces.clone(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn control_plane(&self) -> Door {
        control_plane(&self.plan, self.namespaces.as_ref())
    }

    /// Where a workload's process listens, from where that can be reached.
    pub(super) fn app(&self, number: usize, port: &WorkloadPort) -> Door {
        match self.namespaces.as_ref().and_then(|namespaces| namespaces.workloads.get(number)) {
            Some(namespace) => Door::Inside(namespace.clone(), port.app),
            None => Door::Tcp(port.app),
        }
    }

    /// Where an Envoy can be asked, by the name of its workload.
    pub(crate) fn admin(&self, name: &str) -> Door {
        Door::Unix(self.state.run().join(admin_socket(name)))
    }

    pub(super) fn proxies(&self) -> impl Iterator<Item = &Supervised> {
        let is_proxy = |name: &str| {
            name == GATEWAY || self.plan.workloads.iter().any(|one| proxy_name(&one.name) == name)
        };
        self.processes.iter().filter(move |(name, _)| is_proxy(name)).map(|(_, process)| process)
    }

    /// Its process is there, or is somebody else's business. One that has just been started may end at once, while a stranger answers
    /// at its port: it has to live for a moment first.
    pub(super) fn runs(&self, workload: &Workload) -> bool {
        if matches!(workload.app, App::At(_)) {
            return true;
        }
        let Some(status) = self.processes.get(&workload.name).map(Supervised::status) else { return false };
        let lived = status.since.and_then(|since| since.elapsed().ok()).unwrap_or_default();
        let settled = if status.ends_at_once { SETTLED_AGAIN } else { SETTLED };
        status.pid.is_some() && lived >= settled
    }

    /// Workloads that are not ready and may well be soon: their processes are ours and run.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &str> {
        let ready = self.ready();
        let comes =
            |name: &str| self.processes.get(name).is_some_and(|process| !process.status().ends_at_once);
        let names = self.plan.workloads.iter().map(|workload| workload.name.as_str());
        names.filter(move |name| !ready.workload(name).both() && comes(name) && comes(&proxy_name(name)))
    }

    /// Every proxy has what the control plane has for it.
    pub(super) fn is_in_step(&self) -> bool {
        let known = self.known();
        let sync = &known.configuration.sync;
        let mut names =
            std::iter::once(GATEWAY).chain(self.plan.workloads.iter().map(|one| one.name.as_str()));
        names.all(|name| sync.get(name).is_some_and(|sync| sync.word() == "synced"))
    }

    pub(super) fn set_ready(&self) {
        self.known().all_ready = true;
    }

    /// Says whether that is news.
    pub(super) fn tell_ready(&self, ready: Readiness) -> bool {
        let mut known = self.known();
        let news = known.ready != ready;
        known.ready = ready;
        news
    }

    pub(super) fn ready(&self) -> Readiness {
        self.known().ready.clone()
    }

    pub(super) fn observe(&self, add: impl FnOnce(&mut Observed)) {
        add(&mut self.known().observed);
    }

    /// Returns what was known before.
    pub(super) fn configure(&self, configuration: Configuration) -> Configuration {
        std::mem::replace(&mut self.known().configuration, configuration)
    }

    pub(crate) fn view(&self) -> view::View {
        let known = self.known();
        let workloads = self.plan.workloads.iter().map(|workload| view::Workload {
            name: workload.name.clone(),
            service: workload.service.clone(),
            version: workload.version.clone(),
            ready: known.ready.workload(&workload.name).both(),
            address: workload.address.to_string(),
            local: workload.local.to_string(),
            http_proxy: workload.http_proxy(),
            ports: workload
                .ports
                .iter()
                .map(|port| view::Port {
                    name: port.name.clone(),
                    protocol: port.protocol.clone(),
                    service: port.service,
                    inbound: (workload.address, port.inbound).into(),
                    moved: port.inbound != port.service,
                    app: match self.plan.capture {
                        Capture::Loopback => port.app,
                        // As its own 127.0.0.1 it says nothing to people.
                        Capture::Netns => (workload.address, port.app.port()).into(),
                    },
                })
                .collect(),
            app: {
                let Halves { app, .. } = known.ready.workload(&workload.name);
                self.process(&workload.name, app, matches!(workload.app, App::At(_)))
            },
            proxy: {
                let Halves { proxy, .. } = known.ready.workload(&workload.name);
                self.proxy(&known, &workload.name, &proxy_name(&workload.name), proxy)
            },
        });
        view::View {
            version: self.version.clone(),
            pid: std::process::id(),
            started: seconds(self.started),
            now: seconds(SystemTime::now()),
            ready: known.all_ready,
            ingress: self.plan.gateway.address,
            page: self.plan.page,
            objects_folder: self.objects_folder.clone(),
            envoy: self.envoy.clone(),
            capture: self.plan.capture.word().to_owned(),
            control_plane: self.process(CONTROL_PLANE, known.ready.control_plane, false),
            gateway: self.proxy(&known, GATEWAY, GATEWAY, known.ready.gateway),
            workloads: workloads.collect(),
            edges: known.observed.edges(&self.plan),
            objects: known.configuration.objects.clone(),
            problems: known.configuration.problems.clone(),
        }
    }

    fn proxy(&self, known: &Known, name: &str, process: &str, ready: bool) -> view::Proxy {
        let certificate = self.holders.get(name).map(Holder::certificate);
        let counted = known.observed.last(name);
        view::Proxy {
            process: self.process(process, ready, false),
            identity: certificate.as_ref().map(|one| one.identity.to_string()).unwrap_or_default(),
            certificate_until: certificate.map(|one| seconds(one.until)).unwrap_or_default(),
            sync: known.configuration.sync.get(name).cloned().unwrap_or_default(),
            handshakes: counted.map(|counted| counted.handshakes.values().sum()).unwrap_or_default(),
            failed: counted.map(|counted| counted.failed).unwrap_or_default(),
            faults: counted.map(|counted| counted.faults).unwrap_or_default(),
        }
    }

    fn process(&self, name: &str, ready: bool, elsewhere: bool) -> view::Process {
        let status = self.processes.get(name).map(Supervised::status).unwrap_or_default();
        let state = match (elsewhere, status.pid, ready) {
            (_, _, true) => "ready",
            (true, ..) => "not answering",
            (false, Some(_), false) => "starting",
            (false, None, false) => "ended",
        };
        let (last_end, said) = status.last_end.map(|ended| (ended.how, ended.said)).unzip();
        view::Process {
            name: name.to_owned(),
            pid: status.pid,
            state: state.to_owned(),
            restarts: status.restarts,
            since: status.since.map(seconds),
            memory: status.pid.and_then(resident),
            last_end,
            said: said.unwrap_or_default(),
        }
    }
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Bytes that are really in memory.
fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
