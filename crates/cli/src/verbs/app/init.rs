//! `app init`: a file to begin with, and its schema for editors.

use crate::{
    exit::Exit,
    failure::{Hint, Usage},
    output::Output,
};
use anyhow::{Context, Result, bail};
use clap::Args;
use mizzen_app::{APP, File, SCHEMA, name_of, schema, starter};
use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

#[derive(Args)]
pub(crate) struct Typed {
    /// The folder to write to
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    workdir: PathBuf,

    /// The application's name; else the folder's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(super) fn run(typed: &Typed, output: &mut Output) -> Result<Exit> {
    let folder = &typed.workdir;
    let name = match &typed.name {
        Some(name) if name_of(name).as_ref() == Some(name) => name.clone(),
        Some(name) => {
            let hint = "lower-case letters, digits and -, beginning with a letter; at most 40 characters";
            bail!(Usage(format!("'{name}' cannot be the name of an application")).hint(hint))
        }
        None => own_name(folder).unwrap_or_else(|| "app".to_owned()),
    };
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    write_new(&folder.join(APP), &starter(&name))?;
    let path = folder.join(SCHEMA);
    fs::write(&path, format!("{:#}\n", schema(File::App)))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    output.text(&format!(
        "{} is a file to begin with, {} tells editors what can be in it\n`mizzen app build` prints the objects\n",
        folder.join(APP).display(),
        path.display()
    ))?;
    Ok(Exit::Done)
}

/// The name of the folder, wherever it is.
fn own_name(folder: &Path) -> Option<String> {
    let whole = std::path::absolute(folder).ok()?;
    let whole = fs::canonicalize(&whole).unwrap_or(whole);
    name_of(whole.file_name()?.to_str()?)
}

/// What somebody has written is not written over.
fn write_new(path: &Path, text: &str) -> Result<()> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!(anyhow::anyhow!("{} is there already", path.display()).hint("-C names another folder"))
        }
        file => file
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("{} cannot be written", path.display())),
    }
}
