//! The mesh's own configuration: MeshConfig and MeshNetworks, each from a file or from a key of the ConfigMap `istio` (or
//! `istio-<revision>`). A version that cannot be used is told, and the last good one stays. One that is broken from the
//! start is waited for: proxies that have a configuration are better off with it than with a mesh by default.

use super::{
    Kind, Source, Sources, Told,
    admit::one,
    files::{Reading, Watch},
};
use mizzen_api::mesh;
use mizzen_check::Findings;
use mizzen_cluster::{Change, Client, Identity, Resource, Trimmed, follow};
use mizzen_mesh::Settings;
use mizzen_text::{
    Source as Text,
    yaml::{self, Options},
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::mpsc;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Mesh,
    Networks,
}

impl Part {
    /// In the ConfigMap.
    fn key(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Networks => "meshNetworks",
        }
    }
}

/// A file is looked at this often, whatever the system tells.
const AT_LEAST: Duration = Duration::from_secs(1);
/// As much as is read of a file.
const LARGEST: u64 = 16 << 20;

/// The settings as they are, changed part by part.
#[derive(Clone)]
pub(crate) struct Keeper(Arc<Mutex<Settings>>);

impl Keeper {
    pub(crate) fn new(settings: Settings) -> Self {
        Self(Arc::new(Mutex::new(settings)))
    }

    /// Without a text, the default.
    fn take(&self, part: Part, name: &str, text: Option<&str>) -> Result<Settings, String> {
        let mut settings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match part {
            Part::Mesh => settings.mesh = Arc::new(mesh_config(name, text)?),
            Part::Networks => settings.networks = Arc::new(networks(name, text)?),
        }
        Ok(settings.clone())
    }
}

fn mesh_config(
    name: &str,
    text: Option<&str>,
) -> Result<mizzen_api::proto::istio::mesh::v1alpha1::MeshConfig, String> {
    let defaults = mesh::mesh_config();
    let Some(document) = document(name, text)? else { return Ok(defaults) };
    let mesh = mesh::apply_mesh_config(&defaults, &document).map_err(|error| format!("{name}: {error}"))?;
    accepted(name, &mizzen_check::mesh::mesh_config(&mesh))?;
    Ok(mesh)
}

fn networks(
    name: &str,
    text: Option<&str>,
) -> Result<mizzen_api::proto::istio::mesh::v1alpha1::MeshNetworks, String> {
    let Some(document) = document(name, text)? else { return Ok(Default::default()) };
    let networks = mesh::read_mesh_networks(&document).map_err(|error| format!("{name}: {error}"))?;
    accepted(name, &mizzen_check::mesh::mesh_networks(&networks))?;
    Ok(networks)
}

fn document(name: &str, text: Option<&str>) -> Result<Option<Value>, String> {
    let Some(text) = text else { return Ok(None) };
    yaml::load_first::<Value>(&Text::new(name, text), &Options::default()).map_err(|diagnostic| {
        let place = diagnostic.place.as_ref().map_or_else(|| name.to_owned(), ToString::to_string);
        format!("{place}: {}", diagnostic.message)
    })
}

fn accepted(name: &str, found: &Findings) -> Result<(), String> {
    match found.errors().next() {
        Some(first) => Err(format!("{name}: {}", one(first))),
        None => Ok(()),
    }
}

impl Sources {
    /// From a file. If there is none at the start, the default holds until there is one.
    pub(crate) fn settings_file(&mut self, part: Part, path: PathBuf, keeper: Keeper) {
        let reading = Arc::new(Reading::default());
        let source =
            self.add(format!("{}:{}", part.key(), path.display()), Kind::Files(Arc::clone(&reading)));
        let out = self.out.clone();
        self.spawn(file(part, path, keeper, reading, source, out));
    }

    /// Both parts that no file has, from the ConfigMap.
    pub(crate) fn settings_map(
        &mut self,
        client: &Client,
        namespace: &str,
        revision: &str,
        parts: &[Part],
        keeper: Keeper,
    ) {
        let name = match revision {
            "" | "default" => "istio".to_owned(),
            other => format!("istio-{other}"),
        };
        let resource = Resource::new("", &["v1"], "configmaps")
            .namespace(namespace)
            .fields(format!("metadata.name={name}"));
        let (source, state) = self.add_watch(&resource);
        let mut map = Map {
            name: format!("ConfigMap {namespace}/{name}"),
            parts: parts.to_vec(),
            keeper,
            broken: false,
        };
        let turn = move |change| map.turn(source, change);
        self.spawn(follow::<ConfigMap, Told>(client.clone(), resource, state, self.out.clone(), turn));
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ConfigMap {
    metadata: mizzen_api::Metadata,
    data: Option<BTreeMap<String, String>>,
}

impl Trimmed for ConfigMap {
    fn identity(&self) -> Identity<'_> {
        let metadata = &self.metadata;
        Identity { namespace: &metadata.namespace, name: &metadata.name, version: &metadata.resource_version }
    }
}

struct Map {
    name: String,
    parts: Vec<Part>,
    keeper: Keeper,
    broken: bool,
}

impl Map {
    fn turn(&mut self, source: Source, change: Change<ConfigMap>) -> Option<Told> {
        match change {
            // What is broken from the start is waited for.
            Change::Synced => (!self.broken).then_some(Told::Synced(source)),
            Change::Applied(map) => self.take(source, &map.data.unwrap_or_default()),
            Change::Gone(_) => {
                tracing::warn!("{} is gone; the mesh's configuration is the default one", self.name);
                self.take(source, &BTreeMap::new())
            }
            Change::Broken { reason, .. } => {
                tracing::error!("{}: {reason}; the last good mesh configuration stays", self.name);
                self.broken = true;
                Some(Told::Refused(source))
            }
        }
    }

    fn take(&mut self, source: Source, data: &BTreeMap<String, String>) -> Option<Told> {
        let mut last = None;
        self.broken = false;
        for part in &self.parts {
            let name = format!("{} {}", self.name, part.key());
            match self.keeper.take(*part, &name, data.get(part.key()).map(String::as_str)) {
                Ok(settings) => last = Some(settings),
                Err(reason) => {
                    tracing::error!("{reason}; the last good mesh configuration stays");
                    self.broken = true;
                }
            }
        }
        if self.broken {
            return Some(Told::Refused(source));
        }
        last.map(|settings| Told::Settings(source, Box::new(settings)))
    }
}

async fn file(
    part: Part,
    path: PathBuf,
    keeper: Keeper,
    reading: Arc<Reading>,
    source: Source,
    out: mpsc::Sender<Told>,
) {
    // An editor puts a new file in the old one's place, and a mount a new folder: the folder above tells of both.
    let above = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let watch = Watch::new(&[above.to_owned()], false);
    let mut last: Option<Result<String, String>> = None;
    loop {
        let text = read(&path);
        if last.as_ref() != Some(&text) {
            let taken = match &text {
                Ok(text) => keeper.take(part, &path.display().to_string(), Some(text)),
                Err(_) if last.is_none() && !path.exists() => {
                    tracing::info!(path = %path.display(), "no such file: the default holds until there is one");
                    keeper.take(part, "", None)
                }
                Err(reason) => Err(reason.clone()),
            };
            let told = match taken {
                Ok(settings) => {
                    reading.set_problems(Vec::new());
                    Told::Settings(source, Box::new(settings))
                }
                Err(reason) => {
                    tracing::error!("{reason}; the last good mesh configuration stays");
                    reading.set_problems(vec![reason]);
                    Told::Refused(source)
                }
            };
            if out.send(told).await.is_err() {
                return;
            }
            last = Some(text);
        }
        tokio::select! {
            () = watch.changed(AT_LEAST) => {}
            () = out.closed() => return,
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let told = |reason: String| format!("{}: {reason}", path.display());
    let size = fs::metadata(path).map_err(|error| told(error.to_string()))?.len();
    if size > LARGEST {
        return Err(told(format!("it has more than {} MiB", LARGEST >> 20)));
    }
    fs::read_to_string(path).map_err(|error| told(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(keeper: &Keeper, text: &str) -> Result<Settings, String> {
        keeper.take(Part::Mesh, "mesh", Some(text))
    }

    #[test]
    fn what_is_not_said_is_as_istio_has_it() {
        let settings = take(&Keeper::new(Settings::default()), "trustDomain: td1\n").unwrap();
        assert_eq!(settings.mesh.trust_domain, "td1");
        assert_eq!(settings.mesh.root_namespace, "istio-system");
    }

    #[test]
    fn a_broken_one_is_told_with_its_place_and_changes_nothing() {
        let keeper = Keeper::new(Settings::default());
        take(&keeper, "trustDomain: td1").unwrap();
        for (text, said) in [
            ("a: [", "mesh:1"),
            ("trustDomain: [1]", "trustDomain"),
            ("connectTimeout: 99h", "connectTimeout"),
        ] {
            let reason = take(&keeper, text).unwrap_err();
            assert!(reason.contains(said), "{reason}");
        }
        let settings = keeper.take(Part::Networks, "networks", None).unwrap();
        assert_eq!(settings.mesh.trust_domain, "td1");
    }

    #[test]
    fn a_config_map_that_is_broken_from_the_start_is_waited_for() {
        let keeper = Keeper::new(Settings::default());
        let mut map =
            Map { name: "m".into(), parts: vec![Part::Mesh, Part::Networks], keeper, broken: false };
        let with = |text: &str| ConfigMap {
            data: Some(BTreeMap::from([("mesh".to_owned(), text.to_owned())])),
            ..ConfigMap::default()
        };
        assert!(matches!(map.turn(Source(3), Change::Applied(with("a: ["))), Some(Told::Refused(Source(3)))));
        assert!(map.turn(Source(3), Change::Synced).is_none());
        let told = map.turn(Source(3), Change::Applied(with("trustDomain: td2")));
        assert!(matches!(told, Some(Told::Settings(_, settings)) if settings.mesh.trust_domain == "td2"));
        assert!(matches!(map.turn(Source(3), Change::Synced), Some(Told::Synced(_))));
    }
}
