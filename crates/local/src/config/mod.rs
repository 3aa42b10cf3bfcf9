//! `mesh.yaml`: which services there are, who runs them, and where the folder of Istio's objects is.
//!
//! In: a file. Out: a [`Config`] whose every value can be used as it is, or all that is wrong with the file, each at its line.

mod fields;
mod read;
mod starter;

pub use read::{Refused, read};
pub use starter::{Written, init};

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf};

/// The name of the file where nobody says another one.
pub const FILE: &str = "mesh.yaml";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the file is; commands start here.
    pub folder: PathBuf,
    /// The folder of Istio's objects.
    pub objects: PathBuf,
    /// The port of the ingress gateway, if it has to be a certain one.
    pub ingress: Option<u16>,
    /// That of the page.
    pub page: Option<u16>,
    pub services: Vec<Service>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub name: String,
    pub ports: Vec<Port>,
    pub versions: Vec<Version>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub number: u16,
    /// As Istio calls it: `http`, `http2`, `grpc`, `tcp`, …
    pub protocol: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub name: String,
    pub app: App,
}

/// Who answers for a version of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum App {
    /// A process that we start.
    Run(Run),
    /// One that somebody else starts, and where each port of the service is there.
    At(BTreeMap<String, SocketAddr>),
    /// Ours, by its name in the sample.
    Sample(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub environment: BTreeMap<String, String>,
    /// The ports that it listens on whatever we say, by the name of the service's port; for others it is told one by `PORT`.
    pub listens: BTreeMap<String, u16>,
}
