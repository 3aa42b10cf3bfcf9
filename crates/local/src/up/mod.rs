//! `mizzen up`: a mesh on this machine, from a file to its end.
//!
//! [`prepare`] finds out everything that can be wrong and touches nothing that runs; [`run`] starts the processes and stays until it
//! is told to end. One thread does it all: children are tied to the thread that started them.

mod children;
mod mesh;
mod prepare;
mod ready;
mod secrets;
mod watch;

pub use crate::plan::Capture;
use children::Children;
pub(crate) use children::proxy_name;
pub(crate) use mesh::Mesh;
pub use prepare::{Failed, Options, Prepared, prepare};

use crate::{
    namespaces::relay,
    plan::{CONTROL_PLANE, GATEWAY},
    process::{self, Command, Log, Supervised, supervise},
    state::Record,
    view::View,
    web,
};
use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::watch as channel, task::JoinSet, time::sleep};

/// Something for the person who watches.
#[derive(Clone, Debug)]
pub enum Told {
    /// A sentence.
    Line(String),
    /// What is wrong in a file, where it stands; the last good mesh goes on.
    Problem(String),
    Fixed(String),
    /// Everything answers, or has had its time to.
    Ready(Box<View>),
    /// Once a second from then on.
    Tick(Box<View>),
}

impl Prepared {
    pub fn is_sample(&self) -> bool {
        self.is_sample
    }
}

pub async fn run(
    prepared: Prepared,
    end: impl Future<Output = ()>,
    tell: impl Fn(Told) + Send + Sync + 'static,
) -> Result<(), Failed> {
    let tell: Arc<dyn Fn(Told) + Send + Sync> = Arc::new(tell);
    let (ending, ended) = channel::channel(false);
    let mut tasks = JoinSet::new();
    let mut processes = JoinSet::new();
    let state = prepared.state.clone();
    let mut keeper = JoinSet::new();
    keeper.spawn(process::guard(state.root().to_owned()));
    let outcome = {
        let serving = serve(&prepared, &tell, &ended, &mut processes, &mut tasks);
        tokio::select! {
            outcome = serving => outcome,
            () = end => Ok(()),
        }
    };
    // Whoever looks at the page or waits for a readiness has no more to see.
    tasks.shutdown().await;
    let _ = ending.send(true);
    while processes.join_next().await.is_some() {}
    // Grandchildren that left their group.
    process::end_marked(state.root());
    state.clean();
    // It ends with its standard input.
    keeper.shutdown().await;
    // Only now may the next one come.
    drop(prepared);
    outcome
}

/// Returns only with a failure.
async fn serve(
    prepared: &Prepared,
    tell: &Arc<dyn Fn(Told) + Send + Sync>,
    ended: &channel::Receiver<bool>,
    running: &mut JoinSet<()>,
    tasks: &mut JoinSet<()>,
) -> Result<(), Failed> {
    let Prepared { state, config, file, plan, envoy, namespaces, .. } = prepared;
    let disk = |source| Failed::Disk { path: state.run(), source };
    ready::write_objects(state, plan, |_| true).map_err(disk)?;
    let holders = secrets::serve(state, plan, tasks)?;
    let page = prepared.page.try_clone().and_then(|page| {
        page.set_nonblocking(true)?;
        TcpListener::from_std(page)
    });
    let page = page.map_err(|source| Failed::Io { what: "the page cannot be served", source })?;

    let mut commands: Vec<(String, Command)> = Vec::new();
    let children = Children { state, plan, envoy: &envoy.path, namespaces: namespaces.as_ref() };
    let control_plane = children.control_plane(&config.objects).map_err(disk)?;
    commands.push((GATEWAY.to_owned(), children.proxy(None).map_err(disk)?));
    for (number, workload) in plan.workloads.iter().enumerate() {
        if let Some(command) = children.app(number, workload).map_err(disk)? {
            commands.push((workload.name.clone(), command));
        }
        let command = children.proxy(Some((number, workload))).map_err(disk)?;
        commands.push((proxy_name(&workload.name), command));
    }
    let record = Record {
        pid: std::process::id(),
        page: plan.page,
        ingress: plan.gateway.address,
        processes: children::names(plan),
        ready: false,
    };
    state.tell(&record).map_err(disk)?;

    let mut start = |name: String, command: Command| -> Supervised {
        let tell = Arc::clone(tell);
        let log = Log::new(state.log(&name));
        let say = move |line| tell(Told::Line(line));
        let (supervised, task) = supervise(name, command, log, ended.clone(), say);
        running.spawn(task);
        supervised
    };
    let mut supervised = BTreeMap::new();
    supervised.insert(CONTROL_PLANE.to_owned(), start(CONTROL_PLANE.to_owned(), control_plane));
    // Envoys that find nobody wait for half a second before they ask again.
    ready::control_plane(&mesh::control_plane(plan, namespaces.as_ref()), &supervised[CONTROL_PLANE]).await?;
    for (name, command) in commands {
        supervised.insert(name.clone(), start(name, command));
    }

    if let Some(namespaces) = namespaces {
        let outside = TcpListener::bind(plan.gateway.address).await;
        let outside =
            outside.map_err(|source| Failed::Io { what: "the ingress cannot be opened", source })?;
        tasks.spawn(relay(outside, namespaces.switch.clone(), plan.gateway.inside));
    }
    let mesh = Arc::new(Mesh::new(prepared, holders, supervised));
    tasks.spawn(web::serve(page, Arc::clone(&mesh)));
    tasks.spawn(watch::statistics(Arc::clone(&mesh)));
    tasks.spawn(watch::configuration(Arc::clone(&mesh), Arc::clone(tell)));
    tasks.spawn(watch::file(file.clone(), Arc::clone(tell)));
    ready::first(&mesh, &**tell).await?;
    tasks.spawn(ready::follow(Arc::clone(&mesh)));
    watch::look(&mesh).await;
    mesh.set_ready();
    state.tell(&Record { ready: true, ..record }).map_err(disk)?;
    tell(Told::Ready(Box::new(mesh.view())));
    loop {
        sleep(Duration::from_secs(1)).await;
        tell(Told::Tick(Box::new(mesh.view())));
    }
}
