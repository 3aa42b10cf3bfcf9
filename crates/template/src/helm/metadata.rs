//! Chart.yaml: what a chart says of itself, and what of it Helm refuses.

use std::collections::{BTreeMap, BTreeSet};

use mizzen_text::{Path, Source, Step, yaml, yaml::Document};
use serde_json::Value;

use super::{error::ChartError, values::Table, version::Version};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub api_version: String,
    pub name: String,
    pub version: String,
    pub app_version: String,
    pub kube_version: String,
    /// `application`, `library` or nothing.
    pub kind: String,
    pub description: String,
    pub home: String,
    pub icon: String,
    pub condition: String,
    pub tags: String,
    pub deprecated: bool,
    pub sources: Vec<String>,
    pub keywords: Vec<String>,
    pub maintainers: Vec<Maintainer>,
    pub annotations: BTreeMap<String, String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintainer {
    pub name: String,
    pub email: String,
    pub url: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    pub version: String,
    pub repository: String,
    pub alias: String,
    /// Paths of booleans in the values, separated by commas; the first one that is there decides.
    pub condition: String,
    pub tags: Vec<String>,
    pub enabled: bool,
    pub import_values: Vec<ImportValues>,
}

/// Values of a sub-chart that become values of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportValues {
    pub child: String,
    /// `.` for the parent's top.
    pub parent: String,
}

impl Dependency {
    /// The name that its values and templates go by.
    pub fn alias_or_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }
}

impl Metadata {
    pub fn is_library(&self) -> bool {
        self.kind.eq_ignore_ascii_case("library")
    }

    /// Out of Chart.yaml's text; `file` is its name in messages.
    pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Self, ChartError> {
        let source = Source::new(file, bytes);
        let document = match yaml::load_all(&source, &yaml::Options::KUBERNETES).next() {
            Some(document) => document.map_err(|diagnostic| ChartError::yaml(&diagnostic))?,
            None => return Err(problem(file, "the file is empty: it needs apiVersion, name and version")),
        };
        let Value::Object(map) = &document.value else {
            return Err(problem(file, "this must be a map with apiVersion, name and version"));
        };
        let top = Fields { document: &document, map, path: Path::default() };
        let mut metadata = top.metadata()?;
        // Charts of Helm 2 had none.
        if metadata.api_version.is_empty() {
            "v1".clone_into(&mut metadata.api_version);
        }
        metadata.check(file)?;
        Ok(metadata)
    }

    /// The dependencies that requirements.yaml adds to a chart of the first version.
    pub(super) fn read_requirements(&mut self, file: &str, bytes: &[u8]) -> Result<(), ChartError> {
        let source = Source::new(file, bytes);
        let Some(document) = yaml::load_all(&source, &yaml::Options::KUBERNETES).next() else {
            return Ok(());
        };
        let document = document.map_err(|diagnostic| ChartError::yaml(&diagnostic))?;
        if let Value::Object(map) = &document.value {
            let top = Fields { document: &document, map, path: Path::default() };
            if map.contains_key("dependencies") {
                self.dependencies = top.dependencies()?;
            }
        }
        self.check(file)
    }

    fn check(&self, file: &str) -> Result<(), ChartError> {
        let refuse = |message: String| Err(problem(file, message));
        if !matches!(self.api_version.as_str(), "v1" | "v2") {
            return refuse(format!("apiVersion {:?} is not known: charts have v1 or v2", self.api_version));
        }
        if self.name.is_empty() {
            return refuse("name is missing: give the chart a name".into());
        }
        if matches!(self.name.as_str(), "." | "..") || self.name.contains(['/', '\\']) {
            return refuse(format!("name {:?} cannot be a chart's name: it may not be a path", self.name));
        }
        if self.version.is_empty() {
            return refuse("version is missing: give one such as 1.0.0".into());
        }
        if Version::parse(&self.version).is_none() {
            return refuse(format!(
                "version {:?} is no semantic version: write one such as 1.0.0",
                self.version
            ));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return refuse(format!("type {:?} is not known: it is application or library", self.kind));
        }
        let mut names = BTreeSet::new();
        for dependency in &self.dependencies {
            let name = dependency.alias_or_name();
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if !dependency.alias.chars().all(plain) {
                return refuse(format!(
                    "the alias {name:?} of dependency {:?} may only have letters, digits, `_` and `-`",
                    dependency.name
                ));
            }
            if !names.insert(name) {
                return refuse(format!(
                    "two dependencies have the name or alias {name:?}: give one an alias"
                ));
            }
        }
        Ok(())
    }
}

fn problem(place: impl Into<String>, message: impl Into<String>) -> ChartError {
    ChartError::Metadata { place: place.into(), message: message.into() }
}

/// A map of the file, read field by field with a place for each complaint.
struct Fields<'d> {
    document: &'d Document,
    map: &'d Table,
    path: Path,
}

impl<'d> Fields<'d> {
    fn metadata(&self) -> Result<Metadata, ChartError> {
        let maintainers = self.maps("maintainers")?.into_iter();
        let maintainers = maintainers.map(|one| {
            Ok(Maintainer { name: one.text("name")?, email: one.text("email")?, url: one.text("url")? })
        });
        Ok(Metadata {
            api_version: self.text("apiVersion")?,
            name: self.text("name")?,
            version: self.raw_text("version")?,
            app_version: self.text("appVersion")?,
            kube_version: self.text("kubeVersion")?,
            kind: self.raw_text("type")?,
            description: self.text("description")?,
            home: self.text("home")?,
            icon: self.text("icon")?,
            condition: self.text("condition")?,
            tags: self.text("tags")?,
            deprecated: self.bool("deprecated")?,
            sources: self.texts("sources")?,
            keywords: self.texts("keywords")?,
            maintainers: maintainers.collect::<Result<_, ChartError>>()?,
            annotations: self.annotations()?,
            dependencies: self.dependencies()?,
        })
    }

    fn dependencies(&self) -> Result<Vec<Dependency>, ChartError> {
        let all = self.maps("dependencies")?.into_iter().map(|one| {
            Ok(Dependency {
                name: one.text("name")?,
                version: one.text("version")?,
                repository: one.text("repository")?,
                alias: one.raw_text("alias")?,
                condition: one.text("condition")?,
                tags: one.texts("tags")?,
                enabled: one.bool("enabled")?,
                import_values: one.import_values()?,
            })
        });
        all.collect()
    }

    fn import_values(&self) -> Result<Vec<ImportValues>, ChartError> {
        let (items, path) = self.list("import-values")?;
        let read =
            |(index, item): (usize, &Value)| match item {
                Value::String(name) => {
                    Ok(ImportValues { child: format!("exports.{name}"), parent: ".".to_owned() })
                }
                Value::Object(map) => {
                    let one = Fields { document: self.document, map, path: with(&path, Step::Index(index)) };
                    Ok(ImportValues { child: one.raw_text("child")?, parent: one.raw_text("parent")? })
                }
                _ => Err(self
                    .wrong(&with(&path, Step::Index(index)), "must be a name or a map of child and parent")),
            };
        items.iter().enumerate().map(read).collect()
    }

    fn annotations(&self) -> Result<BTreeMap<String, String>, ChartError> {
        match self.map.get("annotations") {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => {
                let path = self.at("annotations");
                let all = Fields { document: self.document, map, path };
                map.keys().map(|key| Ok((key.clone(), all.raw_text(key)?))).collect()
            }
            Some(_) => Err(self.wrong(&self.at("annotations"), "must be a map of texts")),
        }
    }

    /// With blanks made plain and what cannot be printed left out, as Helm does to whatever it may print.
    fn text(&self, key: &str) -> Result<String, ChartError> {
        Ok(sanitized(&self.raw_text(key)?))
    }

    fn raw_text(&self, key: &str) -> Result<String, ChartError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(&self.at(key), "must be a text: put it in quotes")),
        }
    }

    fn bool(&self, key: &str) -> Result<bool, ChartError> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(bool)) => Ok(*bool),
            Some(_) => Err(self.wrong(&self.at(key), "must be true or false")),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, ChartError> {
        let (items, path) = self.list(key)?;
        let read = |(index, item): (usize, &Value)| match item {
            Value::String(text) => Ok(sanitized(text)),
            Value::Null => Ok(String::new()),
            _ => Err(self.wrong(&with(&path, Step::Index(index)), "must be a text: put it in quotes")),
        };
        items.iter().enumerate().map(read).collect()
    }

    fn maps(&self, key: &str) -> Result<Vec<Fields<'d>>, ChartError> {
        let (items, path) = self.list(key)?;
        let read = |(index, item): (usize, &'d Value)| {
            let path = with(&path, Step::Index(index));
            match item {
                Value::Object(map) => Ok(Fields { document: self.document, map, path }),
                _ => Err(self.wrong(&path, "must be a map")),
            }
        };
        items.iter().enumerate().map(read).collect()
    }

    fn list(&self, key: &str) -> Result<(&'d [Value], Path), ChartError> {
        let path = self.at(key);
        match self.map.get(key) {
            None | Some(Value::Null) => Ok((&[], path)),
            Some(Value::Array(items)) => Ok((items, path)),
            Some(_) => Err(self.wrong(&path, "must be a list")),
        }
    }

    fn at(&self, key: &str) -> Path {
        with(&self.path, Step::Field(key.to_owned()))
    }

    fn wrong(&self, path: &Path, message: &str) -> ChartError {
        problem(self.document.place(path).to_string(), format!("{path} {message}"))
    }
}

fn with(path: &Path, step: Step) -> Path {
    let mut path = path.clone();
    path.0.push(step);
    path
}

fn sanitized(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    };
    text.chars().filter_map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, wanted) in [
            ("", "Chart.yaml: the file is empty: it needs apiVersion, name and version"),
            ("apiVersion: v2\nversion: 1.0.0", "Chart.yaml: name is missing: give the chart a name"),
            ("name: a", "Chart.yaml: version is missing: give one such as 1.0.0"),
            (
                "name: a\nversion: x",
                "Chart.yaml: version \"x\" is no semantic version: write one such as 1.0.0",
            ),
            ("name: a\nversion: 1.5", "Chart.yaml:2:10: version must be a text: put it in quotes"),
            (
                "name: ../a\nversion: 1.0.0",
                "Chart.yaml: name \"../a\" cannot be a chart's name: it may not be a path",
            ),
            (
                "apiVersion: v3\nname: a\nversion: 1.0.0",
                "Chart.yaml: apiVersion \"v3\" is not known: charts have v1 or v2",
            ),
            (
                "name: a\nversion: 1.0.0\ntype: thing",
                "Chart.yaml: type \"thing\" is not known: it is application or library",
            ),
            (
                "name: a\nversion: 1.0.0\ndependencies: [{name: b}, {name: b}]",
                "Chart.yaml: two dependencies have the name or alias \"b\": give one an alias",
            ),
            (
                "name: a\nversion: 1.0.0\ndependencies: [{name: b, alias: 'a.b'}]",
                "Chart.yaml: the alias \"a.b\" of dependency \"b\" may only have letters, digits, `_` and `-`",
            ),
            (
                "name: a\nversion: 1.0.0\ndependencies:\n- null",
                "Chart.yaml:4:3: dependencies[0] must be a map",
            ),
            ("- a", "Chart.yaml: this must be a map with apiVersion, name and version"),
        ] {
            let told = Metadata::read("Chart.yaml", text.as_bytes()).unwrap_err().to_string();
            assert_eq!(told, wanted, "{text}");
        }
    }

    #[test]
    fn a_chart_without_an_api_version_is_of_the_first_one() {
        assert_eq!(Metadata::read("f", b"name: a\nversion: v1.2").unwrap().api_version, "v1");
    }
}
