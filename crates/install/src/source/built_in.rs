//! The charts and profiles of this repository, which are part of the program. The base chart gets the custom resource
//! definitions that the program has anyway.

use std::{borrow::Cow, sync::LazyLock};

use bytes::Bytes;
use mizzen_api::crd::Crd;
use mizzen_template::helm::{Chart, File};
use mizzen_text::{Source, yaml};

use super::tree::Tree;
use crate::{Charts, ChartsError};

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

static TREE: LazyLock<Tree> = LazyLock::new(|| Tree {
    files: FILES.iter().map(|(path, bytes)| (Cow::Borrowed(*path), Bytes::from_static(bytes))).collect(),
    what: "the charts that are built in".to_owned(),
});

/// Made where somebody wants the base chart: it is most of a megabyte.
static DEFINITIONS: LazyLock<Bytes> = LazyLock::new(|| {
    let texts: Vec<String> = Crd::all().map(|crd| yaml::to_string(&crd.object())).collect();
    Bytes::from(texts.join("---\n"))
});

#[derive(Clone, Copy, Debug)]
pub struct BuiltIn;

impl Charts for BuiltIn {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        TREE.profile(name)
    }

    fn profiles(&self) -> Vec<String> {
        TREE.profiles()
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let mut chart = TREE.chart(folder)?;
        if folder == "base" {
            chart.files.push(File { name: "files/crds.yaml".to_owned(), data: DEFINITIONS.clone() });
        }
        Ok(chart)
    }

    fn describe(&self) -> String {
        TREE.describe()
    }
}
