//! Building every test once, and knowing what each binary is.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::Part;
use crate::{keeper::keep, root};

pub(crate) struct Binary {
    /// `mizzen-testkit real_node`, for people.
    pub(crate) name: String,
    target: String,
    pub(crate) file: PathBuf,
    /// Tests run in their crate's folder, as under `cargo test`.
    pub(crate) folder: PathBuf,
    /// What cargo would set for the tests of this crate.
    pub(crate) package: String,
}

impl Binary {
    /// The name of the file decides.
    pub(crate) fn part(&self) -> Part {
        match &self.target {
            name if name.starts_with("real_") => Part::Real,
            name if name.starts_with("golden_") => Part::Golden,
            _ => Part::Unit,
        }
    }
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    target: Option<Target>,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

pub(crate) fn build() -> anyhow::Result<Vec<Binary>> {
    let output = keep(&mut Command::new("cargo"))
        .current_dir(root())
        .args(["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let binaries: Vec<Binary> = messages.filter_map(binary).collect();
    if binaries.is_empty() {
        bail!("cargo built no test binary");
    }
    Ok(binaries)
}

fn binary(message: Message) -> Option<Binary> {
    if message.reason != "compiler-artifact" || !message.profile?.test {
        return None;
    }
    let target = message.target?.name;
    let manifest = message.manifest_path?;
    let folder = manifest.parent()?.to_path_buf();
    let package = package_name(&message.package_id).unwrap_or_else(|| target.clone());
    Some(Binary { name: format!("{package} {target}"), target, file: message.executable?, folder, package })
}

/// `path+file:///…/crates/cli#mizzen-cli@0.1.0` or `path+file:///…/xtask#0.1.0`.
fn package_name(id: &str) -> Option<String> {
    let (path, fragment) = id.split_once('#')?;
    match fragment.split_once('@') {
        Some((name, _)) => Some(name.to_owned()),
        None => path.rsplit('/').next().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn both_spellings_of_a_package_id_are_read() {
        assert_eq!(package_name("path+file:///a/crates/cli#mizzen-cli@0.1.0").as_deref(), Some("mizzen-cli"));
        assert_eq!(package_name("path+file:///a/xtask#0.1.0").as_deref(), Some("xtask"));
    }
}
