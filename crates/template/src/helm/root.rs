//! What `.` is in a chart's templates: `.Values`, `.Release`, `.Chart`, `.Files`, `.Capabilities`, `.Subcharts`.
//!
//! One map for each chart, shared by all of its templates: what the first one sets, the next one sees. A sub-chart's
//! values are the very map that its parent has under the sub-chart's name.

use std::{fmt, rc::Rc};

use super::{
    capabilities::Capabilities,
    chart::{Chart, File},
    files::Files,
    metadata::Metadata,
    structure::Structure,
};
use crate::{Failure, List, Map, Object, Value};

/// The release that is rendered, as `.Release` has it.
#[derive(Clone, Debug)]
pub struct Release {
    pub name: String,
    pub namespace: String,
    pub is_upgrade: bool,
    pub is_install: bool,
    pub revision: i64,
    pub service: String,
}

impl Default for Release {
    /// As istioctl has it: neither an installation nor an upgrade.
    fn default() -> Self {
        Self {
            name: String::new(),
            namespace: String::new(),
            is_upgrade: false,
            is_install: false,
            revision: 0,
            service: "Helm".to_owned(),
        }
    }
}

/// A template with the root that it is run on.
pub(super) struct Renderable<'c> {
    /// `istiod/templates/deployment.yaml`
    pub name: String,
    pub base_path: Rc<str>,
    pub file: &'c File,
    pub root: Map,
}

/// The templates of a chart and of its sub-charts.
pub(super) fn renderables<'c>(
    chart: &'c Chart,
    values: &serde_json::Value,
    release: &Release,
    capabilities: &Capabilities,
) -> Vec<Renderable<'c>> {
    let shared =
        Shared { release: release_map(release).into(), capabilities: capabilities_object(capabilities) };
    let mut all = Vec::new();
    shared.chart(chart, chart.name(), &Value::from(values), true, &mut all);
    all
}

struct Shared {
    release: Value,
    capabilities: Value,
}

impl Shared {
    fn chart<'c>(
        &self,
        chart: &'c Chart,
        path: &str,
        values: &Value,
        is_root: bool,
        all: &mut Vec<Renderable<'c>>,
    ) -> Map {
        let subcharts = Map::new();
        let root = Map::from_iter([
            ("Chart", Value::Map(chart_map(&chart.metadata, is_root))),
            ("Files", Value::Object(Rc::new(Files::new(&chart.files)))),
            ("Release", self.release.clone()),
            ("Capabilities", self.capabilities.clone()),
            ("Values", values.clone()),
            ("Subcharts", Value::Map(subcharts.clone())),
        ]);
        for child in &chart.dependencies {
            let below = table_at(values, child.name()).unwrap_or_default();
            let below =
                self.chart(child, &format!("{path}/charts/{}", child.name()), &below.into(), false, all);
            subcharts.insert(child.name(), below);
        }
        let base_path: Rc<str> = format!("{path}/templates").into();
        // Of a library only what others include.
        let used = |file: &&File| !chart.metadata.is_library() || is_partial(&file.name);
        all.extend(chart.templates.iter().filter(used).map(|file| Renderable {
            name: format!("{path}/{}", file.name),
            base_path: Rc::clone(&base_path),
            file,
            root: root.clone(),
        }));
        root
    }
}

/// `_helpers.tpl`: there for its named templates only.
pub(super) fn is_partial(name: &str) -> bool {
    name.rsplit('/').next().unwrap_or(name).starts_with('_')
}

/// The map under a sub-chart's name, which Helm reads as a path.
fn table_at(values: &Value, name: &str) -> Option<Map> {
    let found = name.split('.').try_fold(values.clone(), |value, step| match value {
        Value::Map(map) => map.get(step),
        _ => None,
    });
    match found? {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

fn release_map(release: &Release) -> Map {
    Map::from_iter([
        ("Name", Value::from(release.name.as_str())),
        ("Namespace", Value::from(release.namespace.as_str())),
        ("IsUpgrade", Value::Bool(release.is_upgrade)),
        ("IsInstall", Value::Bool(release.is_install)),
        ("Revision", Value::Int(release.revision)),
        ("Service", Value::from(release.service.as_str())),
    ])
}

/// `.Chart`: a map by Go's names since Helm 4.
fn chart_map(metadata: &Metadata, is_root: bool) -> Map {
    let text = |text: &String| Value::from(text.as_str());
    let texts = |texts: &[String]| Value::List(List::new(texts.iter().map(text).collect()));
    let maintainers = metadata.maintainers.iter().map(|one| {
        let fields = [("Name", text(&one.name)), ("Email", text(&one.email)), ("URL", text(&one.url))];
        Value::Map(Map::from_iter(fields))
    });
    let dependencies = metadata.dependencies.iter().map(|one| {
        let imports = one.import_values.iter().map(|import| {
            let import_map = Map::texts();
            import_map.insert("child", import.child.as_str());
            import_map.insert("parent", import.parent.as_str());
            Value::Map(import_map)
        });
        Value::Map(Map::from_iter([
            ("Name", text(&one.name)),
            ("Version", text(&one.version)),
            ("Repository", text(&one.repository)),
            ("Condition", text(&one.condition)),
            ("Tags", texts(&one.tags)),
            ("Enabled", Value::Bool(one.enabled)),
            ("ImportValues", Value::List(List::new(imports.collect()))),
            ("Alias", text(&one.alias)),
        ]))
    });
    let annotations = Map::texts();
    for (key, value) in &metadata.annotations {
        annotations.insert(key.as_str(), value.as_str());
    }
    Map::from_iter([
        ("APIVersion", text(&metadata.api_version)),
        ("Annotations", Value::Map(annotations)),
        ("AppVersion", text(&metadata.app_version)),
        ("Condition", text(&metadata.condition)),
        ("Dependencies", Value::List(List::new(dependencies.collect()))),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Description", text(&metadata.description)),
        ("Home", text(&metadata.home)),
        ("Icon", text(&metadata.icon)),
        ("IsRoot", Value::Bool(is_root)),
        ("Keywords", texts(&metadata.keywords)),
        ("KubeVersion", text(&metadata.kube_version)),
        ("Maintainers", Value::List(List::new(maintainers.collect()))),
        ("Name", text(&metadata.name)),
        ("Sources", texts(&metadata.sources)),
        ("Tags", text(&metadata.tags)),
        ("Type", text(&metadata.kind)),
        ("Version", text(&metadata.version)),
    ])
}

fn capabilities_object(capabilities: &Capabilities) -> Value {
    let kube = &capabilities.kube_version;
    let kube_fields = || {
        Map::from_iter([
            ("Version", Value::from(kube.version.as_str())),
            ("Major", Value::from(kube.major.as_str())),
            ("Minor", Value::from(kube.minor.as_str())),
        ])
    };
    let kube_version = Structure::new("common.KubeVersion", kube_fields(), kube_fields().into())
        .method("String", kube.normalized())
        .method("GitVersion", kube.version.as_str());
    let helm = capabilities.helm_version.as_str();
    let build = ["GitCommit", "GitTreeState", "GoVersion", "KubeClientVersion"];
    let build = build.iter().map(|name| (*name, Value::from(""))).chain([("Version", Value::from(helm))]);
    let helm_plain = Map::from_iter([("version", Value::from(helm))]);
    let fields = Map::from_iter([
        ("KubeVersion", Value::Object(Rc::new(kube_version))),
        ("APIVersions", Value::Object(Rc::new(ApiVersions(capabilities.api_versions.clone())))),
        (
            "HelmVersion",
            Value::Object(Rc::new(Structure::new("version.BuildInfo", build.collect(), helm_plain.into()))),
        ),
    ]);
    let plain = fields.clone().into();
    Value::Object(Rc::new(Structure::new("*common.Capabilities", fields, plain)))
}

/// `.Capabilities.APIVersions`: a list that can be asked with `Has`.
struct ApiVersions(Vec<String>);

impl fmt::Debug for ApiVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Object for ApiVersions {
    fn type_name(&self) -> &str {
        "common.VersionSet"
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        match (name, args) {
            ("Has", [Value::Text(wanted)]) => {
                Ok(Some(Value::Bool(self.0.iter().any(|one| **one == **wanted))))
            }
            ("Has", [other]) => {
                Err(Failure::new(format!("wrong type for value; expected string; got {}", other.type_name())))
            }
            ("Has", args) => {
                Err(Failure::new(format!("wrong number of args for Has: want 1 got {}", args.len())))
            }
            _ => Ok(None),
        }
    }

    fn plain(&self) -> Value {
        Value::List(List::texts(self.0.iter().map(String::as_str)))
    }
}
