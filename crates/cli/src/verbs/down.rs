//! `down`: the end of the mesh on this machine.

use super::{Group, Verb, up_mesh};
use crate::{exit::Exit, failure::Hint, output::Output, program::Program};
use anyhow::{Result, anyhow};
use mizzen_local::client::{self, Ended, NoMesh};

pub(crate) struct Down {
    mesh: up_mesh::Typed,
}

impl Verb for Down {
    const NAME: &'static str = "down";
    const ABOUT: &'static str = "End the mesh on this machine";
    const GROUP: Group = Group::Local;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] =
        &[("down", "The mesh of this folder, or of the nearest one above")];
    type Typed = up_mesh::Typed;

    fn meant(mesh: Self::Typed, _: Program) -> Result<Self> {
        Ok(Self { mesh })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let state = match self.mesh.state() {
            Ok(state) => state,
            // What is asked for is so.
            Err(NoMesh::Down) => {
                output.text("no mesh is up here\n")?;
                return Ok(Exit::Done);
            }
            Err(error) => return Err(anyhow!(error).hint("is the folder yours to read?")),
        };
        let text = match client::down(&state)? {
            Ended::Mesh(pid) => format!("the mesh of process {pid} has ended\n"),
            Ended::Left(count) => format!("{count} processes were left of a mesh; they have been ended\n"),
            Ended::Nothing => "no mesh is up here\n".to_owned(),
        };
        output.text(&text)?;
        Ok(Exit::Done)
    }
}
