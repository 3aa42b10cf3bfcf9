//! A mesh that the real istioctl has installed from Istio's own charts, on an API server with controllers and no processes
//! of pods; and both programs asked the same on it.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use crate::common::{Ended, command, ended};
use mizzen_testkit::{ApiServer, Controllers, Result, tools};
use std::{path::PathBuf, process::Command};

pub(crate) const NEEDS: [&[&str]; 2] = [Controllers::NEEDS, &["istioctl", "modules/istio"]];

pub(crate) fn manifests() -> PathBuf {
    tools::folder("modules/istio").unwrap().join("manifests")
}

pub(crate) struct Mesh {
    pub(crate) server: ApiServer,
}

impl Mesh {
    /// A cluster without Istio.
    pub(crate) async fn none() -> Result<Self> {
        Ok(Self { server: ApiServer::start().await? })
    }

    /// One with the minimal profile in these revisions.
    pub(crate) async fn installed(revisions: &[&str]) -> Result<Self> {
        let mesh = Self::none().await?;
        mesh.server.controllers().await?;
        for revision in revisions {
            mesh.install(&["--set", "profile=minimal", "--revision", revision]);
        }
        Ok(mesh)
    }

    pub(crate) fn install(&self, more: &[&str]) {
        let mut command = self.start_theirs("install -y");
        ended(command.args(more).arg("-d").arg(manifests())).done();
    }

    /// The real istioctl, not started yet.
    pub(crate) fn start_theirs(&self, line: &str) -> Command {
        self.on(Command::new(tools::command("istioctl").unwrap()), line)
    }

    /// Ours, not started yet.
    pub(crate) fn start_ours(&self, line: &str) -> Command {
        self.on(command("mizzen"), line)
    }

    fn on(&self, mut command: Command, line: &str) -> Command {
        command.args(line.split_whitespace()).arg("--kubeconfig").arg(self.server.kubeconfig_file());
        command
    }

    pub(crate) fn theirs(&self, line: &str) -> Ended {
        ended(&mut self.start_theirs(line))
    }

    pub(crate) fn ours(&self, line: &str) -> Ended {
        ended(&mut self.start_ours(line))
    }
}
