//! A file → a [`Config`].

use super::{
    App, Config, Port, Run, Service, Version,
    fields::{Field, Reader},
};
use crate::{
    plan::{CONTROL_PLANE, GATEWAY, INGRESS_SERVICE, PRIVILEGED, inbound, workload_name},
    sample,
    up::proxy_name,
};
use mizzen_text::{
    Code, Diagnostic, Place, Source,
    yaml::{self, Options},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

/// Everything that is wrong with a file.
#[derive(Debug)]
pub struct Refused(pub Vec<Diagnostic>);

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.0 {
            writeln!(out, "{}", diagnostic.for_people(false))?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// What a service or a version may say about who answers for it.
const APP: [&str; 6] = ["at", "dir", "env", "listens", "run", "sample"];
/// Protocols by Istio's names, but for those that say nothing here.
const PROTOCOLS: [&str; 6] = ["grpc", "grpc-web", "http", "http2", "tcp", "tls"];
/// What sidecars and the control plane listen on themselves, in Istio and here.
const OWN_PORTS: std::ops::RangeInclusive<u16> = 15_000..=15_099;
/// Workloads of one mesh: their addresses end in a number below 255.
pub(crate) const WORKLOADS: usize = 200;

pub fn read(path: &Path) -> Result<Config, Refused> {
    let name = path.display().to_string();
    let whole = |code, message: String| {
        let place = Place::whole(&Source::new(name.clone(), Vec::new()));
        Refused(vec![Diagnostic::new(code, message).at(place)])
    };
    let bytes = fs::read(path).map_err(|error| {
        let mut refused = whole(Code::Unreadable, format!("cannot be read: {error}"));
        if error.kind() == std::io::ErrorKind::NotFound {
            refused.0 = refused
                .0
                .into_iter()
                .map(|diagnostic| diagnostic.hint("`mizzen up --init` writes one to start from"))
                .collect();
        }
        refused
    })?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    text(&Source::new(name, bytes), &folder)
}

pub(crate) fn text(source: &Source, folder: &Path) -> Result<Config, Refused> {
    let options = Options::default();
    let mut documents = yaml::load_all(source, &options);
    let document = match documents.next() {
        Some(Ok(document)) => document,
        Some(Err(diagnostic)) => return Err(Refused(vec![*diagnostic])),
        None => {
            let diagnostic =
                Diagnostic::new(Code::Invalid, "there is nothing in it").at(Place::whole(source));
            return Err(Refused(vec![diagnostic.hint("`mizzen up --init` writes a file to start from")]));
        }
    };
    let reader = Reader::new(&document);
    let config = config(&Field::top(&reader), folder);
    let mut wrong = reader.finish();
    // Two keys of one name: the second would win and the first be lost without a word.
    wrong.extend(document.warnings.iter().filter(|warning| warning.code == Code::DuplicateKey).cloned());
    if documents.next().is_some() {
        let message = "there is more than one document in it, and only one is read";
        wrong.push(Diagnostic::new(Code::Invalid, message).at(Place::whole(source)));
    }
    if wrong.is_empty() { Ok(config) } else { Err(Refused(wrong)) }
}

fn config(top: &Field<'_>, folder: &Path) -> Config {
    top.map(&["ingress", "objects", "page", "services"]);
    let objects = top.get("objects").and_then(|field| field.text().map(str::to_owned));
    let services = match top.get("services") {
        Some(field) => services(&field, folder),
        None => {
            top.refuse_with("there are no `services`", "`mizzen up --init` writes a file to start from");
            Vec::new()
        }
    };
    unique(top, &services);
    let workloads: usize = services.iter().map(|service| service.versions.len()).sum();
    if workloads > WORKLOADS {
        top.refuse(format!("{workloads} versions of services are more than the {WORKLOADS} that fit"));
    }
    let ingress = top.get("ingress").and_then(|field| field.port());
    let page = top.get("page");
    if let Some(field) = page.as_ref().filter(|field| ingress.is_some() && field.port() == ingress) {
        field.refuse("`page` is the same port as `ingress`");
    }
    Config {
        folder: folder.to_owned(),
        objects: folder.join(objects.unwrap_or_else(|| "mesh".to_owned())),
        ingress,
        page: page.and_then(|field| field.port()),
        services,
    }
}

/// Everything that has a log has its name to itself.
fn unique(top: &Field<'_>, services: &[Service]) {
    let mut names: BTreeMap<String, String> =
        [GATEWAY, CONTROL_PLANE].map(|name| (name.to_owned(), "the mesh's own".to_owned())).into();
    for service in services {
        for version in &service.versions {
            let of = format!("version {} of {}", version.name, service.name);
            let workload = workload_name(&service.name, &version.name);
            for name in [proxy_name(&workload), workload] {
                if let Some(other) = names.insert(name.clone(), of.clone()).filter(|other| *other != of) {
                    top.refuse(format!("{of} and {other} would both be called {name}"));
                }
            }
        }
    }
}

fn services(field: &Field<'_>, folder: &Path) -> Vec<Service> {
    let entries = field.entries();
    if entries.is_empty() && field.value.is_object() {
        field.refuse("`services` is empty");
    }
    entries.iter().filter_map(|(name, field)| service(name, field, folder)).collect()
}

fn service(name: &str, field: &Field<'_>, folder: &Path) -> Option<Service> {
    let mut known = vec!["port", "ports", "protocol", "versions"];
    known.extend(APP);
    field.map(&known)?;
    if name == INGRESS_SERVICE {
        field.refuse(format!("{name} is the name of the gateway's own service"));
    }
    if !is_label(name) {
        field.refuse_with(
            format!("{name:?} cannot be the name of a service"),
            "small letters, digits and -, at most 40 of them, a letter first",
        );
    }
    let ports = ports(field)?;
    let versions = match field.get("versions") {
        Some(versions) => {
            for key in APP.iter().filter(|key| field.get(key).is_some()) {
                field.refuse(format!("`{key}` stands beside `versions`: put it into one of them"));
            }
            let read = |(version, field): &(&str, Field<'_>)| {
                field.map(&APP)?;
                if !is_label(version) {
                    field.refuse_with(
                        format!("{version:?} cannot be the name of a version"),
                        "small letters, digits and -, at most 40 of them, a letter first",
                    );
                }
                Some(Version { name: (*version).to_owned(), app: app(field, &ports, folder)? })
            };
            let entries = versions.entries();
            if entries.is_empty() && versions.value.is_object() {
                versions.refuse("`versions` is empty");
            }
            entries.iter().filter_map(read).collect()
        }
        None => vec![Version { name: "v1".to_owned(), app: app(field, &ports, folder)? }],
    };
    Some(Service { name: name.to_owned(), ports, versions })
}

fn is_label(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    letters
        && name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with('-')
}

fn ports(field: &Field<'_>) -> Option<Vec<Port>> {
    let ports = listed_ports(field)?;
    for port in &ports {
        if OWN_PORTS.contains(&port.number) {
            let (first, last) = (OWN_PORTS.start(), OWN_PORTS.end());
            field
                .refuse(format!("port {} is the mesh's own, as all from {first} to {last} are", port.number));
        }
        let moved =
            |other: &&Port| other.number != port.number && inbound(other.number) == inbound(port.number);
        if port.number < PRIVILEGED
            && let Some(other) = ports.iter().find(moved)
        {
            let told = format!(
                "port {} is moved to {}, which is another port of this service",
                port.number, other.number
            );
            field.refuse(told);
        }
    }
    Some(ports)
}

fn listed_ports(field: &Field<'_>) -> Option<Vec<Port>> {
    match (field.get("port"), field.get("ports")) {
        (Some(port), None) => {
            let protocol = protocol(field)?;
            Some(vec![Port { name: protocol.clone(), number: port.port()?, protocol }])
        }
        (None, Some(list)) => {
            let mut ports: Vec<Port> = Vec::new();
            for item in list.items() {
                item.map(&["name", "port", "protocol"])?;
                let protocol = protocol(&item)?;
                let name = match item.get("name") {
                    Some(name) => name.text()?.to_owned(),
                    None => protocol.clone(),
                };
                let Some(number) = item.get("port") else {
                    item.refuse("it has no `port`");
                    return None;
                };
                let port = Port { name, number: number.port()?, protocol };
                if ports.iter().any(|other| other.name == port.name || other.number == port.number) {
                    item.refuse(format!(
                        "there is another port {} or another one named `{}`",
                        port.number, port.name
                    ));
                }
                ports.push(port);
            }
            if ports.is_empty() {
                list.refuse("`ports` is empty");
                return None;
            }
            Some(ports)
        }
        (Some(_), Some(ports)) => {
            ports.refuse("`port` and `ports` stand side by side: one is enough");
            None
        }
        (None, None) => {
            field.refuse_with(
                "it has no `port`",
                "the port that others call it by, for instance `port: 8000`",
            );
            None
        }
    }
}

fn protocol(field: &Field<'_>) -> Option<String> {
    let Some(field) = field.get("protocol") else { return Some("http".to_owned()) };
    let text = field.text()?;
    if PROTOCOLS.contains(&text) {
        return Some(text.to_owned());
    }
    field.refuse_with(format!("{text:?} is no protocol"), format!("one of {}", PROTOCOLS.join(", ")));
    None
}

fn app(field: &Field<'_>, ports: &[Port], folder: &Path) -> Option<App> {
    let said: BTreeSet<&str> =
        ["at", "run", "sample"].into_iter().filter(|key| field.get(key).is_some()).collect();
    if said.len() != 1 {
        let hint = "`run: [program, argument]` for a process that is started, `at: 127.0.0.1:3000` for one that you start yourself";
        field.refuse_with("it must say one of `run` and `at`", hint);
        return None;
    }
    if !said.contains("run") {
        for key in ["dir", "env", "listens"].into_iter().filter(|key| field.get(key).is_some()) {
            field.refuse(format!("`{key}` is about a process that is started, and there is no `run`"));
        }
    }
    if let Some(at) = field.get("at") {
        return Some(App::At(by_port(&at, ports, address)?));
    }
    if let Some(name) = field.get("sample") {
        let text = name.text()?;
        if !sample::NAMES.contains(&text) {
            name.refuse_with(
                format!("the sample has no {text:?}"),
                format!("one of {}", sample::NAMES.join(", ")),
            );
        }
        return Some(App::Sample(text.to_owned()));
    }
    let run = field.get("run")?;
    let command: Vec<String> = match run.value.as_str() {
        Some(line) => vec!["/bin/sh".to_owned(), "-c".to_owned(), line.to_owned()],
        None => run.items().iter().map(|item| item.scalar()).collect::<Option<_>>()?,
    };
    if command.is_empty() {
        run.refuse("`run` is empty");
    }
    let dir = field.get("dir").and_then(|field| field.text().map(str::to_owned)).unwrap_or_default();
    let environment = match field.get("env") {
        Some(field) => {
            let read = |(name, field): (&str, Field<'_>)| Some((name.to_owned(), field.scalar()?));
            field.entries().into_iter().map(read).collect::<Option<_>>()?
        }
        None => BTreeMap::new(),
    };
    let listens = match field.get("listens") {
        Some(field) => by_port(&field, ports, |field| field.port())?,
        None => BTreeMap::new(),
    };
    Some(App::Run(Run { command, folder: folder.join(dir), environment, listens }))
}

/// One value for the only port, or a map by the names of the ports.
fn by_port<T>(
    field: &Field<'_>,
    ports: &[Port],
    read: impl Fn(&Field<'_>) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    if !field.value.is_object() {
        let [only] = ports else {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            field.refuse(format!("there are several ports: give a map of them ({})", names.join(", ")));
            return None;
        };
        return Some(BTreeMap::from([(only.name.clone(), read(field)?)]));
    }
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    field.map(&names)?;
    let listed = field.entries().into_iter().map(|(name, field)| Some((name.to_owned(), read(&field)?)));
    listed.collect()
}

fn address(field: &Field<'_>) -> Option<SocketAddr> {
    if field.value.is_number() {
        return Some((Ipv4Addr::LOCALHOST, field.port()?).into());
    }
    let text = field.text()?;
    let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    match named.as_deref().unwrap_or(text).parse::<SocketAddr>() {
        Ok(address) if address.port() > 0 => Some(address),
        _ => {
            field.refuse_with(format!("{text:?} is no address"), "for instance `at: 127.0.0.1:3000`");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<Config, Vec<String>> {
        let source = Source::new("mesh.yaml", yaml.as_bytes().to_vec());
        text(&source, Path::new("/here")).map_err(|refused| {
            let one = |diagnostic: &Diagnostic| {
                let place = diagnostic.place.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{place}: {}", diagnostic.message)
            };
            refused.0.iter().map(one).collect()
        })
    }

    #[test]
    fn a_service_has_a_port_and_a_process_and_versions_if_there_are_several() {
        let config = read(
            "ingress: 8088\nobjects: istio\nservices:\n  web:\n    port: 80\n    run: node server.js\n    dir: web\n    env: {DEBUG: 1}\n  \
             api:\n    ports: [{port: 90, protocol: grpc}, {port: 91, name: plain}]\n    versions:\n      v1: {at: {grpc: 127.0.0.1:4000}}\n      \
             v2: {run: [./api, -x, 2], listens: {plain: 3000}}\n",
        )
        .unwrap();
        assert_eq!(config.objects, Path::new("/here/istio"));
        assert_eq!((config.ingress, config.page), (Some(8088), None));
        let [web, api] = config.services.as_slice() else { panic!("{config:?}") };
        let App::Run(run) = &web.versions[0].app else { panic!("{web:?}") };
        assert_eq!(run.command, ["/bin/sh", "-c", "node server.js"]);
        assert_eq!((run.folder.as_path(), run.environment["DEBUG"].as_str()), (Path::new("/here/web"), "1"));
        assert_eq!(api.ports[0].protocol, "grpc");
        assert!(matches!(&api.versions[0].app, App::At(at) if at["grpc"].port() == 4000));
        assert!(matches!(&api.versions[1].app, App::Run(run) if run.listens["plain"] == 3000));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_its_line_at_once() {
        let wrong = read(
            "servces: {}\nservices:\n  Web: {port: 80, run: x}\n  a: {run: x}\n  b: {port: 0, run: x}\n  c: {port: 80}\n  \
             d: {port: 80, run: x, prot: tcp}\n  e: {port: 80, at: nowhere}\n  f: {port: 80, protocol: htp, run: x}\n",
        )
        .unwrap_err();
        let expected = [
            "mesh.yaml:1:1: `servces` is not known here",
            "mesh.yaml:3:8: \"Web\" cannot be the name of a service",
            "mesh.yaml:4:6: it has no `port`",
            "mesh.yaml:5:13: `services.b.port` must be a port, a number from 1 to 65535",
            "mesh.yaml:6:6: it must say one of `run` and `at`",
            "mesh.yaml:7:25: `prot` is not known here",
            "mesh.yaml:8:21: \"nowhere\" is no address",
            "mesh.yaml:9:27: \"htp\" is no protocol",
        ];
        assert_eq!(wrong, expected);
    }

    #[test]
    fn what_is_no_mesh_at_all_is_refused() {
        for (yaml, told) in [
            ("", "there is nothing in it"),
            ("[]", "must be a map"),
            ("a: [", "mesh.yaml:"),
            ("services: {}", "`services` is empty"),
            ("services: {a: {port: 1, run: []}}", "`run` is empty"),
            (
                "ingress: 8080\npage: 8080\nservices: {a: {port: 1, run: x}}",
                "mesh.yaml:2:7: `page` is the same port",
            ),
            ("services: {a: {port: 1, run: x}}\n---\nb: 1", "more than one document"),
            ("services: {a: {port: 1, run: x}, a: {port: 2, run: x}}", "mesh.yaml:1:"),
            ("services: {a: {port: 1, ports: [], run: x}}", "side by side"),
            ("services: {a: {port: 1, run: x, versions: {v1: {run: x}}}}", "beside `versions`"),
            ("services: {a: {port: 1, at: 1, env: {A: b}}}", "there is no `run`"),
            (
                "services: {a: {port: 1, versions: {b-c: {run: x}}}, a-b: {port: 1, versions: {c: {run: x}}}}",
                "would both be called a-b-c",
            ),
            (
                "services: {a: {port: 1, versions: {v1: {run: x}, v1-proxy: {run: x}}}}",
                "would both be called a-v1-proxy",
            ),
            (
                "services: {control: {port: 1, versions: {plane: {run: x}}}}",
                "would both be called control-plane",
            ),
            ("services: {istio-ingressgateway: {port: 1, run: x}}", "the gateway's own"),
            ("services: {a: {port: 15002, run: x}}", "the mesh's own"),
            (
                "services: {a: {ports: [{port: 80}, {name: b, port: 10080}], run: x}}",
                "port 80 is moved to 10080",
            ),
        ] {
            let wrong = read(yaml).unwrap_err();
            assert!(wrong.iter().any(|line| line.contains(told)), "{yaml}: {wrong:?}");
        }
    }
}
