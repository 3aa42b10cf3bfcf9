//! `logs`: what a process of the mesh on this machine said.

use super::{Group, Verb, up, up_mesh};
use crate::{
    exit::Exit,
    failure::{Hint, Usage},
    output::Output,
    program::Program,
};
use anyhow::{Context, Result, anyhow};
use mizzen_local::{client::NoMesh, state::State};
use std::{
    fs::{self, File},
    io::{Read, Seek},
    path::Path,
    thread::sleep,
    time::Duration,
};

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// A workload, its sidecar (`reviews-v1-proxy`), `ingress` or `control-plane`; without it, the names that there are
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Go on as more is said
    #[arg(long)]
    follow: bool,

    /// Only the last lines
    #[arg(long, value_name = "LINES")]
    tail: Option<usize>,

    #[command(flatten)]
    mesh: up_mesh::Typed,
}

pub(crate) struct Logs {
    typed: Typed,
}

impl Verb for Logs {
    const NAME: &'static str = "logs";
    const ABOUT: &'static str = "Print what a process of the mesh on this machine said";
    const GROUP: Group = Group::Local;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("logs", "Which there are"),
        ("logs reviews-v1", "What the process said"),
        ("logs reviews-v1-proxy --follow", "Each call that its sidecar sees, as it comes"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self { typed })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let Typed { name, follow, tail, mesh } = self.typed;
        let state = mesh.state().map_err(up_mesh::told)?;
        let names = names(&state);
        if names.is_empty() {
            return Err(up_mesh::told(NoMesh::Down));
        }
        let Some(name) = name else {
            output.text(&format!("{}\n", names.join("\n")))?;
            return Ok(Exit::Done);
        };
        if !names.contains(&name) {
            let hint = match mizzen_text::nearest(&name, names.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(Usage(format!("there is no log of '{name}'")).hint(hint));
        }
        let path = state.log(&name);
        let mut text = fs::read(path.with_extension("log.old")).unwrap_or_default();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(_) if !follow => return Ok(Exit::Done),
            Err(error) => return Err(anyhow!(error).hint(format!("{name} has not said anything yet"))),
        };
        file.read_to_end(&mut text).with_context(|| format!("{} cannot be read", path.display()))?;
        output.bytes(last(&text, tail))?;
        output.flush()?;
        if follow {
            go_on(&state, &path, &mut file, output)?;
        }
        Ok(Exit::Done)
    }
}

/// Until the mesh has ended.
fn go_on(state: &State, path: &Path, file: &mut File, output: &mut Output) -> Result<()> {
    loop {
        sleep(Duration::from_millis(200));
        let mut more = Vec::new();
        file.read_to_end(&mut more)?;
        // Put aside: the new one begins anew.
        let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
        if more.is_empty() && length < file.stream_position()? {
            *file = File::open(path)?;
        }
        output.bytes(&more)?;
        output.flush()?;
        if more.is_empty() && state.record().is_none() {
            output.text(&format!("the mesh has ended; `{} up` starts it again\n", up::program()))?;
            return Ok(());
        }
    }
}

/// Those of the mesh that is up, or of the last one.
fn names(state: &State) -> Vec<String> {
    let files = fs::read_dir(state.logs()).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".log")?.to_owned())).collect();
    names.extend(state.record().map(|record| record.processes).unwrap_or_default());
    names.sort();
    names.dedup();
    names
}

fn last(text: &[u8], lines: Option<usize>) -> &[u8] {
    let Some(lines) = lines else { return text };
    let trimmed = text.strip_suffix(b"\n").unwrap_or(text);
    let starts = trimmed.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match (lines, starts.map(|(at, _)| at + 1).nth(lines.saturating_sub(1))) {
        (0, _) => &[],
        (_, Some(start)) => &text[start..],
        (_, None) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_the_last_lines() {
        let text = b"one\ntwo\nthree\n";
        for (lines, rest) in
            [(0, ""), (1, "three\n"), (2, "two\nthree\n"), (3, "one\ntwo\nthree\n"), (9, "one\ntwo\nthree\n")]
        {
            assert_eq!(last(text, Some(lines)), rest.as_bytes(), "{lines}");
        }
        assert_eq!(last(text, None), text);
    }
}
