//! One side going through all steps.

use anyhow::{Result, bail};
use mizzen_testkit::{ApiServer, faults::Verb};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Instant,
};
use tokio::process::Command;

/// In this order.
pub(crate) const STEPS: [&str; 3] = ["install", "installAgain", "uninstall"];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
}

pub(crate) struct Round<'a> {
    pub(crate) server: &'a ApiServer,
    pub(crate) program: PathBuf,
    pub(crate) flags: String,
}

impl Round<'_> {
    fn lines(&self) -> [String; 3] {
        let install = format!("install {}", self.flags);
        [install.clone(), install, "uninstall --purge -y".to_owned()]
    }

    pub(crate) async fn run(&self) -> Result<Vec<Cost>> {
        let mut costs = Vec::new();
        for line in self.lines() {
            let (start, before) = (Instant::now(), cpu()?);
            self.step(&line, &self.server.kubeconfig_file()).await?;
            costs.push(Cost { seconds: start.elapsed().as_secs_f64(), cpu_seconds: cpu()? - before });
        }
        self.settle().await?;
        Ok(costs)
    }

    /// How many of which kind.
    pub(crate) async fn requests(&self) -> Result<Vec<Value>> {
        let faults = self.server.faults().await?;
        let seen = || [Verb::Read, Verb::Write, Verb::Watch].map(|verb| faults.seen(verb));
        let mut counts = Vec::new();
        for line in self.lines() {
            let before = seen();
            self.step(&line, &faults.kubeconfig_file()).await?;
            let [reads, writes, watches] = std::array::from_fn(|at| seen()[at] - before[at]);
            counts.push(json!({ "reads": reads, "writes": writes, "watches": watches, "all": reads + writes + watches }));
        }
        self.settle().await?;
        Ok(counts)
    }

    async fn step(&self, line: &str, kubeconfig: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(line.split_whitespace()).arg("--kubeconfig").arg(kubeconfig);
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
        if !output.status.success() {
            bail!("{} {line}: {}", self.program.display(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// One side returns while what it has deleted is still going.
    async fn settle(&self) -> Result<()> {
        let all = "crd,deploy,svc,cm,sa,role,rolebinding,clusterrole,clusterrolebinding,mutatingwebhookconfigurations";
        loop {
            let left = self
                .server
                .kubectl(&["get", all, "-A", "-l", "operator.istio.io/component", "-o", "name"])
                .await?;
            if left.trim().is_empty() {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    }
}

/// Of all that have been waited for: the programs that were run, and kubectl between them.
fn cpu() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
