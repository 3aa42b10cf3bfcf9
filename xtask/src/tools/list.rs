//! The pinned list, `tools/tools.toml`, as values.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::root;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(crate) wrapper: BTreeMap<String, Wrapper>,
    #[serde(rename = "tool")]
    pub(crate) tools: Vec<Tool>,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wrapper {
    /// `importpath.variable=value` for the linker.
    #[serde(default)]
    pub(crate) stamp: Vec<String>,
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Tool {
    /// A command, or a folder of the cache when there is a slash in it.
    pub(crate) name: String,
    pub(crate) version: String,
    /// The tests that go without it where it cannot be had.
    pub(crate) tests: String,
    #[serde(default, rename = "on-demand")]
    pub(crate) on_demand: bool,
    #[serde(flatten)]
    pub(crate) from: From,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub(crate) enum From {
    Go(Go),
    /// A folder that a program of ours fills, with what it has found out.
    Run(Go),
    Module(Module),
    Pip(Pip),
    Apt(Apt),
    Npm {
        package: String,
    },
    Cargo {
        package: String,
    },
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Go {
    pub(crate) wrapper: String,
    pub(crate) package: String,
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Module {
    pub(crate) module: String,
    pub(crate) sum: String,
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Pip {
    pub(crate) package: String,
    pub(crate) sha256: Vec<String>,
    /// The one file of the wheel that is wanted; without it the whole library is.
    #[serde(default)]
    pub(crate) take: Option<String>,
    #[serde(default)]
    pub(crate) needs: Vec<String>,
}

#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Apt {
    pub(crate) packages: Vec<String>,
    pub(crate) provides: Vec<String>,
}

impl List {
    /// The list of this repository, or another one for a test of ours.
    pub(crate) fn read(other: Option<&Path>) -> anyhow::Result<Self> {
        let file = other.map_or_else(|| root().join("tools/tools.toml"), Path::to_path_buf);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not as it should be", file.display()))
    }

    /// The tools that were named, or all that are not on demand, in the order of the list.
    pub(crate) fn select(&self, names: &[String]) -> anyhow::Result<Vec<Tool>> {
        for name in names {
            if !self.tools.iter().any(|tool| tool.name == *name) {
                let known: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
                bail!("there is no tool {name:?}; there are: {}", known.join(", "));
            }
        }
        let wanted =
            |tool: &&Tool| if names.is_empty() { !tool.on_demand } else { names.contains(&tool.name) };
        Ok(self.tools.iter().filter(wanted).cloned().collect())
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl Tool {
    pub(crate) fn is_debian(&self) -> bool {
        matches!(self.from, From::Apt(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{From, List};

    #[test]
    fn the_list_in_the_repository_is_read_whole() {
        let list = List::read(None).unwrap();
        assert_eq!(
            list.tools.first().map(|tool| tool.name.as_str()),
            Some("etcd"),
            "the API server comes first"
        );
        for tool in &list.tools {
            if let From::Go(go) | From::Run(go) = &tool.from {
                assert!(list.wrapper.contains_key(&go.wrapper), "{} names no wrapper", tool.name);
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = List::read(None).unwrap().select(&["envoi".into()]).err().unwrap().to_string();
        assert!(error.contains("envoi") && error.contains("envoy"), "{error}");
    }

    #[test]
    fn on_demand_tools_come_only_by_name() {
        let list = List::read(None).unwrap();
        assert!(!list.select(&[]).unwrap().iter().any(|tool| tool.name == "node/playwright-core"));
        assert_eq!(list.select(&["node/playwright-core".into()]).unwrap().len(), 1);
    }
}
