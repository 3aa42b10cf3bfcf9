//! The processes of a mesh, as they are started.

use crate::{
    config::App,
    namespaces::{Namespace, Namespaces, PROXY_GROUP},
    plan::{CONTROL_PLANE, Capture, GATEWAY, Plan, TRUST_DOMAIN, Workload, bootstrap, hosts},
    process::{Command, Place},
    state::{MARK, State, write},
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

/// The name of a workload's sidecar, as a process.
pub(crate) fn proxy_name(workload: &str) -> String {
    format!("{workload}-proxy")
}

pub(super) struct Children<'a> {
    pub(super) state: &'a State,
    pub(super) plan: &'a Plan,
    pub(super) envoy: &'a Path,
    pub(super) namespaces: Option<&'a Namespaces>,
}

impl Children<'_> {
    fn mark(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(MARK.to_owned(), self.state.root().display().to_string())])
    }

    /// Without a number, where the control plane and the gateway are.
    fn network(&self, workload: Option<usize>) -> Option<PathBuf> {
        let namespaces = self.namespaces?;
        let namespace = workload.map_or(Some(&namespaces.switch), |number| namespaces.workloads.get(number));
        namespace.map(Namespace::path)
    }

    /// Writes what the control plane reads besides the objects.
    pub(super) fn control_plane(&self, objects: &Path) -> io::Result<Command> {
        let run = self.state.run();
        let mesh = json!({ "accessLogFile": "/dev/stdout", "trustDomain": TRUST_DOMAIN });
        let mesh_config = run.join("mesh-config.json");
        write(&mesh_config, mesh.to_string().as_bytes())?;
        let at = &self.plan.control_plane;
        let arguments = [
            "discovery".to_owned(),
            "--registries=".to_owned(),
            format!("--configDir={}", run.join("objects").display()),
            format!("--configDir={}", objects.display()),
            format!("--meshConfig={}", mesh_config.display()),
            format!("--networksConfig={}", run.join("no-networks").display()),
            format!("--grpcAddr={}", at.xds),
            format!("--httpAddr={}", at.http),
            format!("--monitoringAddr={}", at.monitoring),
            "--namespace=default".to_owned(),
            "--shutdownDuration=1s".to_owned(),
        ];
        Ok(Command {
            program: env::current_exe()?,
            arguments: arguments.into(),
            folder: run,
            environment: self.mark(),
            place: Place { network: self.network(None), ..Place::default() },
        })
    }

    /// Without a workload, the gateway.
    pub(super) fn proxy(&self, workload: Option<(usize, &Workload)>) -> io::Result<Command> {
        let run = self.state.run();
        let name = workload.map_or(GATEWAY, |(_, workload)| &workload.name);
        let file = format!("{name}.envoy.json");
        let text = bootstrap(self.plan, workload.map(|(_, workload)| workload));
        write(&run.join(&file), format!("{text:#}\n").as_bytes())?;
        let arguments =
            ["-c", &file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"]
                .into_iter()
                .chain(["--drain-time-s", "1", "--parent-shutdown-time-s", "2"])
                // Fields that Istio still sends and Envoy means to drop some day fill the log.
                .chain(["--component-log-level", "misc:error"])
                .map(str::to_owned)
                .collect();
        let network = self.network(workload.map(|(number, _)| number));
        Ok(Command {
            program: self.envoy.to_owned(),
            arguments,
            folder: run,
            environment: self.mark(),
            // Its own calls are told from the workload's by their group.
            place: Place { group: network.is_some().then_some(PROXY_GROUP), network, etc: None },
        })
    }

    /// Nothing for one that somebody else starts.
    pub(super) fn app(&self, number: usize, workload: &Workload) -> io::Result<Option<Command>> {
        let mut environment = self.environment(workload);
        let mut place = Place::default();
        if let Some(network) = self.network(Some(number)) {
            let etc = self.state.run().join("etc");
            fs::create_dir_all(&etc)?;
            write(&etc.join("hosts"), hosts(self.plan).as_bytes())?;
            // Nobody is there, which is said at once; the machine's own would be waited for.
            write(&etc.join("resolv.conf"), b"nameserver 127.0.0.1\n")?;
            place = Place { network: Some(network), etc: Some(etc), group: None };
        }
        Ok(match &workload.app {
            App::At(_) => None,
            App::Sample(name) => Some(Command {
                program: env::current_exe()?,
                arguments: vec!["sample".to_owned(), name.clone(), workload.version.clone()],
                folder: self.state.run(),
                environment,
                place,
            }),
            App::Run(run) => {
                environment.extend(run.environment.clone());
                let command = run.command.split_first();
                let (program, arguments) =
                    command.map(|(first, rest)| (first.clone(), rest.to_vec())).unwrap_or_default();
                let folder = run.folder.clone();
                Some(Command { program: program.into(), arguments, folder, environment, place })
            }
        })
    }

    /// Where to listen, and how to reach others.
    fn environment(&self, workload: &Workload) -> BTreeMap<String, String> {
        let mut environment = self.mark();
        let mut set = |name: &str, value: String| environment.insert(name.to_owned(), value);
        // With a network of its own everything goes through the sidecar by itself, and must not go through another proxy.
        let (host, proxy) = match self.plan.capture {
            Capture::Loopback => ("127.0.0.1", format!("http://{}", workload.http_proxy())),
            Capture::Netns => ("0.0.0.0", String::new()),
        };
        for name in ["http_proxy", "HTTP_PROXY"] {
            set(name, proxy.clone());
        }
        for name in ["no_proxy", "NO_PROXY"] {
            set(name, "localhost,127.0.0.1,::1".to_owned());
        }
        // Node looks at the variables above only if it is told to.
        set("NODE_USE_ENV_PROXY", "1".to_owned());
        set("HOST", host.to_owned());
        for (number, port) in workload.ports.iter().enumerate() {
            let value = port.app.port().to_string();
            if number == 0 {
                set("PORT", value.clone());
            }
            let letter = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_uppercase() } else { '_' };
            set(&format!("PORT_{}", port.name.chars().map(letter).collect::<String>()), value);
        }
        set("MIZZEN_SERVICE", workload.service.clone());
        set("MIZZEN_VERSION", workload.version.clone());
        set("MIZZEN_LOCAL_ADDRESS", workload.local.to_string());
        environment
    }
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
