//! The real kubectl, as the administrator.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{io::AsyncWriteExt, process::Command, time::sleep};

use super::ApiServer;
use crate::{
    error::{During, Error, Result},
    run::{MARK, run},
    tools,
    wait::PATIENCE,
};

impl ApiServer {
    /// Runs kubectl and returns what it printed; what it complained of is the error.
    pub async fn kubectl(&self, args: &[&str]) -> Result<String> {
        self.kubectl_reading("", args).await
    }

    /// Applies a manifest (several documents are fine).
    pub async fn apply(&self, manifest: &str) -> Result<String> {
        self.kubectl_reading(manifest, &["apply", "--server-side", "-f", "-"]).await
    }

    /// The same, with something on its standard input.
    pub async fn kubectl_reading(&self, input: &str, args: &[&str]) -> Result<String> {
        kubectl(&self.kubeconfig_file(), &self.plane.settings().folder, input, args).await
    }
}

/// What `kubectl wait` says of an object that has no status yet, in the place of waiting for one.
const NO_STATUS: &str = "accessor error: <nil> is of the type <nil>";

/// kubectl with that kubeconfig, keeping what it learns in that folder.
pub(crate) async fn kubectl(kubeconfig: &Path, folder: &Path, input: &str, args: &[&str]) -> Result<String> {
    let start = Instant::now();
    loop {
        match once(kubeconfig, folder, input, args).await {
            Err(error) if error.to_string().contains(NO_STATUS) && start.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(100)).await;
            }
            answer => return answer,
        }
    }
}

async fn once(kubeconfig: &Path, folder: &Path, input: &str, args: &[&str]) -> Result<String> {
    let mut child = Command::new(tools::command("kubectl")?)
        .arg("--kubeconfig")
        .arg(kubeconfig)
        // What kubectl has learned of another server must not come in, nor what it learns here go out.
        .arg("--cache-dir")
        .arg(folder.join("kubectl"))
        .args(args)
        .env(MARK, run().folder())
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .during("start kubectl")?;
    let stdin = child.stdin.take();
    let feed = async {
        if let Some(mut stdin) = stdin {
            // It may end without having read; then its own words say more than a broken pipe.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let ((), output) = tokio::join!(feed, child.wait_with_output());
    let output = output.during("run kubectl")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // What a command run by `exec` had to say may be on either.
    let [out, complaint] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let said = format!("{}\n{}", out.trim(), complaint.trim());
    Err(Error::other(format_args!("kubectl {}: {}", args.join(" "), said.trim())))
}
