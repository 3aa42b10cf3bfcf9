//! A scenario: a file with a header, and the objects that both control planes are shown.
//!
//! Objects are made in the order in which they stand, those of `use` first. Where an older object wins, a document
//! `pause: true` lets the clock go on by a second between two of them, which is how exactly creation is noted.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{complete, library, who::Who};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    about: String,
    proxies: Vec<Who>,
    #[serde(default)]
    mesh: Map<String, Value>,
    #[serde(default)]
    r#use: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub about: String,
    pub proxies: Vec<Who>,
    /// MeshConfig, where it is not Istio's default.
    pub mesh: Value,
    /// Groups of objects with a second between them.
    pub objects: Vec<Vec<Value>>,
}

impl Scenario {
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let mut documents = library::documents(name, text)?.into_iter();
        let header = documents.next().with_context(|| format!("{name} is empty"))?;
        let header: Header =
            serde_json::from_value(header).with_context(|| format!("the header of {name}"))?;
        let mut all = Vec::new();
        for word in &header.r#use {
            all.extend(library::read(word).with_context(|| format!("what {name} uses"))?);
        }
        all.extend(documents);
        let mut groups = vec![Vec::new()];
        for document in all {
            match document.get("pause") {
                Some(_) => groups.push(Vec::new()),
                None => groups.last_mut().expect("never empty").push(document),
            }
        }
        let objects = complete::complete(groups).with_context(|| format!("the objects of {name}"))?;
        let Header { about, proxies, mesh, .. } = header;
        Ok(Self { name: name.to_owned(), about, proxies, mesh: Value::Object(mesh), objects })
    }

    pub fn read(path: &Path) -> Result<Self> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        Self::parse(&name, &text)
    }

    /// Those of this repository whose names are given, or all; by name.
    pub fn all(only: &[String]) -> Result<Vec<Self>> {
        let folder = library::folder().join("scenarios");
        let mut paths: Vec<_> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.sort();
        let wanted = |path: &&std::path::PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            only.is_empty() || only.iter().any(|only| *only == name)
        };
        paths.iter().filter(wanted).map(|path| Self::read(path)).collect()
    }

    pub fn all_objects(&self) -> impl Iterator<Item = &Value> {
        self.objects.iter().flatten()
    }
}
