//! The processes of a mesh, as they are started.

use crate::{
    config::App,
    plan::{CONTROL_PLANE, GATEWAY, Plan, Workload, bootstrap},
    process::Command,
    state::{MARK, State, write},
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    env, io,
    path::{Path, PathBuf},
};

/// The name of a workload's sidecar, as a process.
pub(crate) fn proxy_name(workload: &str) -> String {
    format!("{workload}-proxy")
}

pub(super) fn mark(state: &State) -> BTreeMap<String, String> {
    BTreeMap::from([(MARK.to_owned(), state.root().display().to_string())])
}

/// Writes what the control plane reads besides the objects.
pub(super) fn control_plane(state: &State, plan: &Plan, objects: &Path) -> io::Result<Command> {
    let run = state.run();
    let mesh = json!({
        "accessLogFile": "/dev/stdout",
        "defaultConfig": { "holdApplicationUntilProxyStarts": false },
        "trustDomain": crate::plan::TRUST_DOMAIN,
    });
    let mesh_config = run.join("mesh-config.json");
    write(&mesh_config, mesh.to_string().as_bytes())?;
    let text = |path: PathBuf| path.display().to_string();
    let arguments = [
        "discovery".to_owned(),
        "--registries=".to_owned(),
        format!("--configDir={}", text(run.join("objects"))),
        format!("--configDir={}", objects.display()),
        format!("--meshConfig={}", text(mesh_config)),
        format!("--networksConfig={}", text(run.join("no-networks"))),
        format!("--grpcAddr={}", plan.control_plane.xds),
        format!("--httpAddr={}", plan.control_plane.http),
        format!("--monitoringAddr={}", plan.control_plane.monitoring),
        "--namespace=default".to_owned(),
        "--shutdownDuration=1s".to_owned(),
    ];
    Ok(Command {
        program: env::current_exe()?,
        arguments: arguments.into(),
        folder: run,
        environment: mark(state),
    })
}

/// Without a workload, the gateway.
pub(super) fn proxy(
    state: &State,
    plan: &Plan,
    envoy: &Path,
    workload: Option<&Workload>,
) -> io::Result<Command> {
    let run = state.run();
    let name = workload.map_or(GATEWAY, |workload| &workload.name);
    let file = format!("{name}.envoy.json");
    write(&run.join(&file), format!("{:#}\n", bootstrap(plan, workload)).as_bytes())?;
    let arguments = ["-c", &file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"]
        .into_iter()
        .chain(["--drain-time-s", "1", "--parent-shutdown-time-s", "2"])
        .map(str::to_owned)
        .collect();
    Ok(Command { program: envoy.to_owned(), arguments, folder: run, environment: mark(state) })
}

/// Nothing for one that somebody else starts.
pub(super) fn app(state: &State, workload: &Workload) -> io::Result<Option<Command>> {
    let mut environment = mark(state);
    let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value);
    let proxy = format!("http://{}", workload.http_proxy());
    for name in ["http_proxy", "HTTP_PROXY"] {
        set(name, proxy.clone());
    }
    for name in ["no_proxy", "NO_PROXY"] {
        set(name, "localhost,127.0.0.1,::1".to_owned());
    }
    // Node looks at the variables above only if it is told to.
    set("NODE_USE_ENV_PROXY", "1".to_owned());
    set("HOST", "127.0.0.1".to_owned());
    for (number, port) in workload.ports.iter().enumerate() {
        if number == 0 {
            set("PORT", port.app.port().to_string());
        }
        let name: String = port
            .name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
            .collect();
        set(&format!("PORT_{name}"), port.app.port().to_string());
    }
    set("MIZZEN_SERVICE", workload.service.clone());
    set("MIZZEN_VERSION", workload.version.clone());
    set("MIZZEN_LOCAL_ADDRESS", workload.local.to_string());
    Ok(match &workload.app {
        App::At(_) => None,
        App::Sample(name) => Some(Command {
            program: env::current_exe()?,
            arguments: vec!["sample".to_owned(), name.clone(), workload.version.clone()],
            folder: state.run(),
            environment,
        }),
        App::Run(run) => {
            environment.extend(run.environment.clone());
            let (program, arguments) = run
                .command
                .split_first()
                .map(|(first, rest)| (first.clone(), rest.to_vec()))
                .unwrap_or_default();
            Some(Command { program: program.into(), arguments, folder: run.folder.clone(), environment })
        }
    })
}

/// Every process by the name of its log.
pub(super) fn names(plan: &Plan) -> Vec<String> {
    let mut names = vec![CONTROL_PLANE.to_owned(), GATEWAY.to_owned()];
    for workload in &plan.workloads {
        if !matches!(workload.app, App::At(_)) {
            names.push(workload.name.clone());
        }
        names.push(proxy_name(&workload.name));
    }
    names
}
