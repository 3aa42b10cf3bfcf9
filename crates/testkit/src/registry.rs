//! A real OCI registry on loopback, empty at its start.

use std::{fs, net::SocketAddr, process::Command};

use crate::{
    error::{During, Result},
    part::Part,
    ports,
    run::run,
    tools,
    wait::{PATIENCE, Seen},
};

pub struct Registry {
    address: SocketAddr,
    part: Part,
}

impl Registry {
    pub const NEEDS: &[&str] = &["docker-registry"];

    /// Starts one; it speaks plain HTTP and keeps images in the run's folder.
    pub async fn start() -> Result<Self> {
        let folder = run().part_folder("registry").during("make the registry's folder")?;
        let [port] = ports::free()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        // JSON is YAML. Deleting is on, so that garbage and missing layers can be tested too.
        let config = serde_json::json!({
            "version": 0.1,
            "log": { "level": "info" },
            "storage": { "filesystem": { "rootdirectory": folder.join("images") }, "delete": { "enabled": true } },
            "http": { "addr": address.to_string() },
        });
        let file = folder.join("config.yml");
        fs::write(&file, config.to_string()).during("write the registry's configuration")?;
        let mut command = Command::new(tools::command("docker-registry")?);
        command.arg("serve").arg(&file);
        // It would look for a tracing collector otherwise.
        command.env("OTEL_TRACES_EXPORTER", "none");
        let registry = Self { address, part: Part::start("registry", command)? };
        registry
            .part
            .until("the registry to listen", PATIENCE, async || {
                Seen::when(registry.part.listens_on(address.port()), || "not yet".to_owned())
            })
            .await?;
        Ok(registry)
    }

    /// `127.0.0.1:PORT`: also the host part of image names.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn part(&self) -> &Part {
        &self.part
    }
}
