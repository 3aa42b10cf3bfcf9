//! The real kubectl, for what a test would type: objects in as JSON or as a file of YAML, all by server-side apply.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    error::{During, Error, Result},
    run::{MARK, run},
    tools,
};

#[derive(Clone)]
pub struct Kubectl {
    kubeconfig: PathBuf,
}

impl Kubectl {
    pub const NEEDS: &[&str] = &["kubectl"];

    pub fn new(kubeconfig: &Path) -> Self {
        Self { kubeconfig: kubeconfig.to_owned() }
    }

    /// Creates these objects or makes them what is said here.
    pub async fn apply(&self, objects: impl IntoIterator<Item = Value>) -> Result<()> {
        self.run(&["apply", "--server-side", "--force-conflicts", "-f", "-"], list(objects)).await.map(|_| ())
    }

    /// Writes the status of these objects, as their controllers would.
    pub async fn apply_status(&self, objects: impl IntoIterator<Item = Value>) -> Result<()> {
        let words = ["apply", "--server-side", "--force-conflicts", "--subresource=status", "-f", "-"];
        self.run(&words, list(objects)).await.map(|_| ())
    }

    /// Applies files of YAML.
    pub async fn apply_files(&self, files: &[PathBuf]) -> Result<()> {
        let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let mut words = vec!["apply", "--server-side", "--force-conflicts"];
        for name in &names {
            words.extend(["-f", name]);
        }
        self.run(&words, String::new()).await.map(|_| ())
    }

    /// Any command; gives what it printed.
    pub async fn run(&self, words: &[&str], input: String) -> Result<String> {
        let kubectl = self.clone();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        tokio::task::spawn_blocking(move || kubectl.run_blocking(&words, &input)).await.map_err(Error::other)?
    }

    /// The same where nothing can be awaited, such as while dropping.
    pub fn run_blocking<S: AsRef<str>>(&self, words: &[S], input: &str) -> Result<String> {
        let mut child = Command::new(tools::command("kubectl")?)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(words.iter().map(AsRef::as_ref))
            .env(MARK, run().folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .during("start kubectl")?;
        if let Some(mut stdin) = child.stdin.take() {
            // A kubectl that stops reading says why itself.
            let _ = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().during("run kubectl")?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let verb = words.first().map(AsRef::as_ref).unwrap_or_default();
        Err(Error::Other(format!("kubectl {verb}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

fn list(objects: impl IntoIterator<Item = Value>) -> String {
    let items: Vec<Value> = objects.into_iter().collect();
    serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}
