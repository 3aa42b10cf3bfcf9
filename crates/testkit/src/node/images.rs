//! Images made from what is on this machine, and their way into containerd.
//!
//! They are written into the node's folder and thrown away with it: a copy that is a second old needs no rule about
//! when it is too old.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use mizzen_image::Image;
use tokio::process::Command;

use super::Node;
use crate::{
    error::{During, Error, Result},
    run::{MARK, run},
    tools,
};

/// Holds a pod's namespaces open. `sleep` does that as well as the usual program of that name: it is ended
/// by a signal that cannot be ignored, and has no children to reap as long as pods do not share processes.
pub fn pause() -> Image {
    Image::new("localhost/pause:1").program("/bin/sleep", "/pause").entrypoint(["/pause", "infinity"])
}

pub fn coredns() -> Result<Image> {
    let image = Image::new("localhost/coredns:1").program(tools::command("coredns")?, "/coredns");
    Ok(image.entrypoint(["/coredns"]))
}

/// Envoy, which it starts, pilot-agent, and iptables with its plug-ins: what a sidecar and its init container need.
pub fn proxy() -> Result<Image> {
    const FOLDERS: [&str; 4] = [
        "/usr/lib/x86_64-linux-gnu/xtables",
        "/usr/lib/aarch64-linux-gnu/xtables",
        "/usr/lib64/xtables",
        "/usr/lib/xtables",
    ];
    let plugins = FOLDERS.into_iter().find(|folder| Path::new(folder).is_dir());
    let plugins = plugins.ok_or_else(|| Error::Missing { name: "iptables".to_owned() })?;
    let mut image = Image::new("localhost/proxy:1")
        .program(tools::command("envoy")?, "/usr/local/bin/envoy")
        .program(tools::command("pilot-agent")?, "/usr/local/bin/pilot-agent")
        .plugins(plugins, plugins)
        // Where iptables keeps its lock.
        .directory("/run", 0o755)
        .directory("/tmp", 0o1777)
        .entrypoint(["/usr/local/bin/envoy"]);
    for (kind, multi) in [("nft", "xtables-nft-multi"), ("legacy", "xtables-legacy-multi")] {
        image = image.program(format!("/usr/sbin/{multi}"), format!("/usr/sbin/{multi}"));
        for family in ["iptables", "ip6tables"] {
            for verb in ["", "-save", "-restore"] {
                image = image.link(multi, format!("/usr/sbin/{family}-{kind}{verb}"));
                if kind == "nft" {
                    image = image.link(multi, format!("/usr/sbin/{family}{verb}"));
                }
            }
        }
    }
    Ok(image)
}

/// Istio's echo server, which it starts, and client.
pub fn echo() -> Result<Image> {
    Ok(Image::new("localhost/echo:1")
        .program(tools::command("echo-server")?, "/usr/local/bin/server")
        .program(tools::command("echo-client")?, "/usr/local/bin/client")
        .directory("/tmp", 0o1777)
        .entrypoint(["/usr/local/bin/server"]))
}

pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join("containerd/containerd.sock")
}

/// Writes an image and hands it to containerd.
pub(super) async fn load(folder: &Path, image: Image) -> Result<()> {
    let name: String = image.name().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let tar = folder.join(format!("{name}.tar"));
    let written = {
        let tar = tar.clone();
        tokio::task::spawn_blocking(move || image.write(tar)).await.map_err(Error::other)?
    };
    written.map_err(Error::other)?;
    let imported = import(folder, &tar).await;
    let _ = std::fs::remove_file(tar);
    imported
}

pub(super) async fn import(folder: &Path, tar: &Path) -> Result<()> {
    ctr(folder, &["images", "import", &tar.display().to_string()]).await.map(drop)
}

/// containerd's own client, in the part of containerd that the kubelet uses. A socket is a path: it works from
/// outside the node's namespaces as well.
pub(super) async fn ctr(folder: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(tools::command("ctr")?)
        .arg("--address")
        .arg(socket(folder))
        .args(["--namespace", "k8s.io"])
        .args(words)
        .env(MARK, run().folder())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .during("start ctr")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(Error::other(format_args!("ctr {}: {}", words.join(" "), complaint.trim())))
}

impl Node {
    /// Writes an image and puts it on the node, where it needs no pulling.
    pub async fn load(&self, image: Image) -> Result<()> {
        load(self.folder(), image).await
    }

    /// Puts the tar of an image (OCI layout or `docker save`) on the node.
    pub async fn import(&self, tar: &Path) -> Result<()> {
        import(self.folder(), tar).await
    }
}
