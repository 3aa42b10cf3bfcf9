//! Life for the objects of an API server: the real controllers and scheduler, and kwok in the kubelets' place.
//!
//! In: a running [`ApiServer`]. Out: Deployments, StatefulSets, DaemonSets and Jobs whose pods are placed on fake
//! nodes and become ready, or fail the way that [`POD`] on their template says. No process of a pod ever runs:
//! where one must, a real node is needed.

mod nodes;
mod stages;

use std::process::Command;

use crate::{ApiServer, Part, error::Result, tools};

/// The label of a pod that shall not become ready; its value is one of the following.
pub const POD: &str = "testkit.mizzen.dev/pod";
/// The containers end again and again: `CrashLoopBackOff` with a growing restart count. With restart policy
/// `Never` the pod fails.
pub const CRASH_LOOP: &str = "crash-loop";
/// The containers run, and the pod is never ready.
pub const NEVER_READY: &str = "never-ready";
/// The pod stays pending: `ImagePullBackOff`.
pub const IMAGE_PULL_ERROR: &str = "image-pull-error";

pub struct Controllers {
    controller_manager: Part,
    scheduler: Part,
    kwok: Part,
}

impl Controllers {
    pub const NEEDS: &[&str] = &[
        "etcd",
        "kube-apiserver",
        "kubectl",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
        "modules/kwok",
    ];

    pub(crate) async fn start(api: &ApiServer) -> Result<Self> {
        let plane = api.control_plane();
        let stages = stages::write(api).await?;
        let mut kwok = Command::new(tools::command("kwok")?);
        kwok.arg("--kubeconfig").arg(api.kubeconfig_file()).arg("--config").arg(stages);
        kwok.arg(format!("--manage-nodes-with-annotation-selector={}={}", nodes::MARK.0, nodes::MARK.1));
        kwok.arg("--node-lease-duration-seconds=40");
        let (mut controller_manager, mut scheduler) = (plane.controller_manager()?, plane.scheduler()?);
        for command in [&mut controller_manager, &mut scheduler] {
            // Nobody asks them anything, and their ports may have been taken since they were found free.
            command.arg("--secure-port=0");
        }
        let controllers = Self {
            controller_manager: Part::start("kube-controller-manager", controller_manager)?,
            scheduler: Part::start("kube-scheduler", scheduler)?,
            kwok: Part::start("kwok", kwok)?,
        };
        nodes::create(api, 0..nodes::COUNT).await?;
        nodes::ready(api, &controllers).await?;
        Ok(controllers)
    }

    /// So many nodes instead of two.
    pub async fn nodes(&self, api: &ApiServer, count: u8) -> Result<()> {
        nodes::create(api, nodes::COUNT..count).await?;
        nodes::ready(api, self).await
    }

    fn parts(&self) -> [&Part; 3] {
        [&self.controller_manager, &self.scheduler, &self.kwok]
    }
}
