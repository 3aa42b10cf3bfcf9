//! A real Envoy.
//!
//! In: a [`Bootstrap`] and where to run (which network, which user). Out: the process, and an admin client that
//! speaks to it by a Unix socket, so that it is reached in any network namespace and no port is taken for it.

mod admin;
mod bootstrap;
mod warming;

use std::{
    fs, io,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

pub use admin::{Admin, Stats};
pub use bootstrap::Bootstrap;

use crate::{
    error::{During, Error, Result},
    netns::NetNs,
    part::Part,
    run::run,
    tools,
    wait::{PATIENCE, Seen},
};

/// The user whose traffic Istio's redirect rules leave alone.
pub const PROXY_USER: u32 = 1337;

/// Where and how an Envoy runs; by default here, as whoever runs the test.
#[derive(Clone)]
pub struct Options {
    /// The name of its log and folder.
    pub name: String,
    pub netns: Option<NetNs>,
    pub user: Option<u32>,
    pub log_level: String,
    /// More words of its command line.
    pub arguments: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "envoy".to_owned(),
            netns: None,
            user: None,
            log_level: "info".to_owned(),
            arguments: Vec::new(),
        }
    }
}

pub struct Envoy {
    part: Part,
    admin: Admin,
    folder: PathBuf,
}

impl Envoy {
    pub const NEEDS: &[&str] = &["envoy"];

    pub async fn start(bootstrap: impl Into<Bootstrap>) -> Result<Self> {
        Self::start_with(bootstrap, &Options::default()).await
    }

    /// Starts it and waits until its admin interface answers; see [`Envoy::wait_configured`] for more.
    pub async fn start_with(bootstrap: impl Into<Bootstrap>, options: &Options) -> Result<Self> {
        let folder = run().part_folder(&options.name).during("make Envoy's folder")?;
        let socket = folder.join("admin.sock");
        let file = folder.join("bootstrap.json");
        let bootstrap = bootstrap.into().with_admin(&socket);
        fs::write(&file, bootstrap.to_string()).during("write Envoy's bootstrap")?;
        let mut command = Command::new(binary_for(options.user)?);
        command
            .arg("--config-path")
            .arg(&file)
            .args(["--disable-hot-restart", "--concurrency", "1"])
            .args(["--log-level", &options.log_level])
            .args(&options.arguments)
            .current_dir(&folder);
        if let Some(user) = options.user {
            chown(&folder, Some(user), Some(user)).during("give Envoy its folder")?;
            command.uid(user).gid(user);
        }
        let part = match &options.netns {
            Some(netns) => netns.start(&options.name, command)?,
            None => Part::start(&options.name, command)?,
        };
        let envoy = Self { part, admin: Admin::new(socket), folder };
        envoy
            .part
            .until("Envoy's admin interface", PATIENCE, async || {
                Seen::from_result(envoy.admin.state().await.map(|_| ()))
            })
            .await?;
        Ok(envoy)
    }

    pub fn admin(&self) -> &Admin {
        &self.admin
    }

    pub fn part(&self) -> &Part {
        &self.part
    }

    /// Its folder: bootstrap, admin socket, and whatever it writes with a relative path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until it is live and nothing that it was told about waits for something else.
    pub async fn wait_configured(&self) -> Result<()> {
        self.configured_within(PATIENCE).await
    }

    /// The same with a limit of one's own; the error names what is still warming.
    pub async fn configured_within(&self, limit: Duration) -> Result<()> {
        self.part
            .until("Envoy to be configured", limit, async || {
                Seen::from_result(self.unfinished().await.and_then(
                    |unfinished| match unfinished.as_slice() {
                        [] => Ok(()),
                        some => Err(Error::Other(some.join(", "))),
                    },
                ))
            })
            .await
    }

    /// What it still waits for, by name; empty when it is configured.
    pub async fn unfinished(&self) -> Result<Vec<String>> {
        let state = self.admin.state().await?;
        let mut unfinished = warming::of(&self.admin.config_dump().await?, &self.admin.stats().await?);
        if state != "LIVE" {
            unfinished.insert(0, format!("state {state}"));
        }
        Ok(unfinished)
    }
}

/// The binary, where that user may run it: the tools cache is often below a home that others cannot enter.
fn binary_for(user: Option<u32>) -> Result<PathBuf> {
    let cached = tools::command("envoy")?;
    let Some(user) = user else { return Ok(cached) };
    if user == nix::unistd::geteuid().as_raw() {
        return Ok(cached);
    }
    let linked = run().folder().join("envoy");
    if linked.exists() {
        return Ok(linked);
    }
    let cached = fs::canonicalize(&cached).during("find Envoy")?;
    match fs::hard_link(&cached, &linked) {
        // Another test of this process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(linked),
        Ok(()) => Ok(linked),
        Err(_) => {
            // Another file system. The copy appears under its name when it is whole.
            let whole = run().part_folder("envoy-copy").during("copy Envoy")?.join("envoy");
            fs::copy(&cached, &whole).during("copy Envoy")?;
            fs::rename(&whole, &linked).during("copy Envoy")?;
            Ok(linked)
        }
    }
}
