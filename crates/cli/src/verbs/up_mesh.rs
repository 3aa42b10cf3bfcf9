//! Which mesh of this machine is meant, for those verbs that look at one.

use crate::failure::Hint;
use anyhow::{Result, anyhow};
use mizzen_local::{
    client::{self, NoMesh},
    state::{Record, State},
    view::View,
};
use std::{env, path::PathBuf};

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Typed {
    /// The file of the mesh [default: the mesh of this folder, or of the nearest one above]
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Typed {
    pub(crate) fn state(&self) -> Result<State, NoMesh> {
        client::state(self.file.as_deref(), &env::current_dir()?)
    }

    pub(crate) fn running(&self) -> Result<Record> {
        self.state().and_then(|state| client::running(&state)).map_err(told)
    }

    pub(crate) async fn view(&self) -> Result<View> {
        client::view(&self.running()?).await.map_err(told)
    }
}

pub(crate) fn told(error: NoMesh) -> anyhow::Error {
    let hint = match error {
        NoMesh::Down => format!("`{} up` starts one", super::up::program()),
        NoMesh::Silent { .. } => format!("`{} down` ends it", super::up::program()),
        NoMesh::Io(_) => return error.into(),
    };
    anyhow!(error).hint(hint)
}
