//! Everything that can be found wrong before anything is started.

use crate::{
    claim::Claim,
    config::{self, App, Config},
    envoy::{self, Envoy, NoEnvoy},
    namespaces::{Namespaces, NoNamespaces},
    plan::{self, Addresses, Capture, Network, NoRoom, Plan, Wishes, is_free},
    process::end_marked,
    sample,
    state::{Lock, Refused, State},
};
use std::{
    collections::BTreeMap,
    fs, io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// `mesh.yaml`; without it the one that is here, or else the sample.
    pub file: Option<PathBuf>,
    pub here: PathBuf,
    pub envoy: Option<PathBuf>,
    /// Of Mizzen, for people.
    pub version: String,
    pub capture: Capture,
}

/// Why there is no mesh.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Config(#[from] config::Refused),
    #[error(transparent)]
    State(#[from] Refused),
    #[error(transparent)]
    Envoy(#[from] NoEnvoy),
    #[error("there is no folder {} for Istio's objects", .0.display())]
    NoObjects(PathBuf),
    #[error("the folder {} cannot be read: {source}", .path.display())]
    Objects { path: PathBuf, source: io::Error },
    #[error("port {port} is root's, as all below {} are", crate::plan::PRIVILEGED)]
    Privileged { port: u16, of: String },
    #[error("port {port} is taken{}", .by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    Port { port: u16, of: String, by: Option<String> },
    #[error("{} cannot be written: {source}", .path.display())]
    Disk { path: PathBuf, source: io::Error },
    #[error("no certificates can be made")]
    Certificates(#[from] mizzen_identity::NotIssued),
    #[error("the control plane does not start: {0}")]
    ControlPlane(String),
    #[error("no Envoy starts: {0}")]
    Proxies(String),
    #[error(transparent)]
    Namespaces(#[from] NoNamespaces),
    #[error(
        "{workload} is a process that somebody else starts (`at`), which has no network namespace of its own"
    )]
    Elsewhere { workload: String },
    #[error("{what}: {source}")]
    Io { what: &'static str, source: io::Error },
}

/// A mesh that can be started.
pub struct Prepared {
    pub(super) state: State,
    pub(super) config: Config,
    /// The file that was read.
    pub(super) file: PathBuf,
    pub(super) plan: Plan,
    pub(super) envoy: Envoy,
    pub(super) version: String,
    pub(super) is_sample: bool,
    pub(super) page: TcpListener,
    pub(super) namespaces: Option<Namespaces>,
    pub(super) _claims: Vec<Claim>,
    pub(super) _lock: Lock,
}

/// Ports of 127.0.0.1 that processes are told to listen on: below those that the kernel gives to clients.
const APPS: std::ops::Range<u16> = 20_500..30_000;
/// Where people expect a gateway, and the page beside it.
const INGRESS: u16 = 8_080;
const PAGE: u16 = 8_081;
/// Further ones are tried.
const TRIED: u16 = 100;

pub fn prepare(options: Options, mut say: impl FnMut(&str)) -> Result<Prepared, Failed> {
    let here_file = options.here.join(config::FILE);
    let named = options.file.clone().or_else(|| here_file.exists().then_some(here_file));
    let folder = match &named {
        Some(file) => {
            // Before the folder is made: a name that is mistyped must not leave one behind.
            let config = config::read(file)?;
            config.folder
        }
        None => options.here.clone(),
    };
    let state = State::of(&folder).map_err(disk(&folder))?;
    let lock = state.lock()?;
    let left = end_marked(state.root());
    if left > 0 {
        say(&format!("{left} processes were left of a mesh that was here before; they have been ended"));
    }
    let prepared = after_lock(&state, lock, named, options, &mut say);
    if prepared.is_err() {
        state.clean();
    }
    prepared
}

fn after_lock(
    state: &State,
    lock: Lock,
    named: Option<PathBuf>,
    options: Options,
    say: &mut dyn FnMut(&str),
) -> Result<Prepared, Failed> {
    state.prepare()?;
    let is_sample = named.is_none();
    let file = match named {
        Some(file) => file,
        None => {
            sample::write_files(&state.sample()).map_err(disk(&state.sample()))?;
            state.sample().join(config::FILE)
        }
    };
    let mut config = config::read(&file)?;
    config.objects = absolute(&config.objects);
    config.folder = absolute(&config.folder);
    match fs::read_dir(&config.objects) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failed::NoObjects(config.objects));
        }
        Err(source) => return Err(Failed::Objects { path: config.objects, source }),
    }
    let envoy = envoy::find(options.envoy.as_deref(), &mut *say)?;
    let (plan, claims, page) = places(state, &config, options.capture)?;
    let namespaces = match plan.capture {
        Capture::Loopback => {
            shared_ports(&config, &mut *say);
            None
        }
        Capture::Netns => Some(namespaces(&plan)?),
    };
    let version = options.version;
    Ok(Prepared {
        state: state.clone(),
        config,
        file,
        plan,
        envoy,
        version,
        is_sample,
        page,
        namespaces,
        _claims: claims,
        _lock: lock,
    })
}

fn disk(path: &Path) -> impl FnOnce(io::Error) -> Failed {
    let path = path.to_owned();
    move |source| Failed::Disk { path, source }
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// Callers of bytes are told apart by the port alone, here where they have one address for all services.
fn shared_ports(config: &Config, say: &mut dyn FnMut(&str)) {
    let mut first: BTreeMap<u16, &str> = BTreeMap::new();
    for service in &config.services {
        for port in service.ports.iter().filter(|port| matches!(port.protocol.as_str(), "tcp" | "tls")) {
            if let Some(other) = first.get(&port.number) {
                let (name, number) = (&service.name, port.number);
                say(&format!(
                    "{name} and {other} are both {} on port {number}: callers reach only {other} there; give {name} another port",
                    port.protocol
                ));
            } else {
                first.insert(port.number, &service.name);
            }
        }
    }
}

fn namespaces(plan: &Plan) -> Result<Namespaces, Failed> {
    if let Some(workload) = plan.workloads.iter().find(|workload| matches!(workload.app, App::At(_))) {
        return Err(Failed::Elsewhere { workload: workload.name.clone() });
    }
    let addresses: Vec<Ipv4Addr> = plan.workloads.iter().map(|workload| workload.address).collect();
    Ok(Namespaces::new(&addresses)?)
}

/// Where everything will be, and what keeps it ours until it is there.
fn places(
    state: &State,
    config: &Config,
    capture: Capture,
) -> Result<(Plan, Vec<Claim>, TcpListener), Failed> {
    let mut claims = Vec::new();
    let network = match capture {
        Capture::Loopback => {
            let (addresses, claim) =
                Addresses::find(state.root(), |addresses| plan::sockets(config, addresses))
                    .map_err(|NoRoom { address, of, .. }| taken(address.port(), of))?;
            claims.push(claim);
            Network::Loopback(addresses)
        }
        Capture::Netns => Network::Namespaces,
    };
    let fixed: Vec<u16> =
        [config.ingress, config.page].into_iter().flatten().chain(listened(config)).collect();
    let ingress = one_of(
        "the ingress (`ingress` in mesh.yaml)",
        config.ingress,
        INGRESS,
        &fixed,
        &mut claims,
        is_free,
    )?;
    let mut listener = None;
    let page = one_of("the page (`page` in mesh.yaml)", config.page, PAGE, &fixed, &mut claims, |address| {
        listener = Some(TcpListener::bind(address)?);
        Ok(())
    })?;
    let listener = listener.ok_or_else(|| taken(page, "the page".to_owned()))?;
    let mut next = APPS;
    let free = || {
        // On every address: a process may take all of them.
        let is_there = |port: u16| {
            let claim = Claim::port(port).ok().filter(|_| !fixed.contains(&port))?;
            is_free((Ipv4Addr::UNSPECIFIED, port).into()).ok()?;
            Some((port, claim))
        };
        let found = next.find_map(is_there);
        let (port, claim) = found.ok_or_else(|| {
            io::Error::other(format!("no port is free from {} to {}", APPS.start, APPS.end))
        })?;
        claims.push(claim);
        Ok(port)
    };
    let wishes = Wishes { ingress: local(ingress), page: local(page) };
    let plan = plan::plan(config, &network, wishes, free)
        .map_err(|source| Failed::Io { what: "no port can be found for a process", source })?;
    Ok((plan, claims, listener))
}

/// Ports that processes take by themselves.
fn listened(config: &Config) -> impl Iterator<Item = u16> {
    let apps = config.services.iter().flat_map(|service| &service.versions).map(|version| &version.app);
    apps.flat_map(|app| match app {
        App::Run(run) => run.listens.values().copied().collect(),
        App::At(at) => at.values().map(SocketAddr::port).collect(),
        App::Sample(_) => Vec::new(),
    })
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// The one that must be, or the first that is free.
fn one_of(
    of: &str,
    wanted: Option<u16>,
    usual: u16,
    fixed: &[u16],
    claims: &mut Vec<Claim>,
    mut open: impl FnMut(SocketAddr) -> io::Result<()>,
) -> Result<u16, Failed> {
    let mut take = |port: u16| {
        let claim = Claim::port(port).and_then(|claim| open(local(port)).map(|()| claim));
        claim.map(|claim| claims.push(claim))
    };
    match wanted {
        Some(port) => match take(port) {
            Ok(()) => Ok(port),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(Failed::Privileged { port, of: of.to_owned() })
            }
            Err(_) => Err(taken(port, of.to_owned())),
        },
        None => {
            let mut free = (usual..usual + TRIED).filter(|port| !fixed.contains(port));
            free.find(|port| take(*port).is_ok()).ok_or_else(|| taken(usual, of.to_owned()))
        }
    }
}

fn taken(port: u16, of: String) -> Failed {
    Failed::Port { port, of, by: crate::taken::who_has(port) }
}
