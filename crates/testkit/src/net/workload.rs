//! One workload of a private network.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    process::Command,
};

use tokio::net::TcpStream;

use super::Net;
use crate::{
    echo::{self, Client, Echo},
    envoy::{self, Bootstrap, Envoy, PROXY_USER},
    error::{Error, Result},
    netns::NetNs,
    part::Part,
    tools,
};

pub struct Workload {
    /// The switch must live as long as its last workload.
    _net: Net,
    name: String,
    netns: NetNs,
    address: Ipv4Addr,
}

impl Workload {
    /// Beyond what the network needs: to set redirect rules.
    pub const REDIRECT_NEEDS: &[&str] = &["pilot-agent", "iptables"];

    pub(super) fn new(net: Net, name: &str, netns: NetNs, address: Ipv4Addr) -> Self {
        Self { _net: net, name: name.to_owned(), netns, address }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn address(&self) -> IpAddr {
        self.address.into()
    }

    /// A port of this workload, as others see it.
    pub fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address(), port)
    }

    pub fn netns(&self) -> &NetNs {
        &self.netns
    }

    /// Sends all traffic, in and out, through the sidecar, by the rules and with the options of Istio's init container.
    pub async fn redirect(&self) -> Result<()> {
        let user = PROXY_USER.to_string();
        let mut command = Command::new(tools::command("pilot-agent")?);
        command
            .args(["istio-iptables", "-p", "15001", "-z", "15006", "-u", &user, "-m", "REDIRECT"])
            .args(["-i", "*", "-x", "", "-b", "*", "-d", "15090,15021,15020"])
            .arg("--log_output_level=default:info");
        let netns = self.netns.clone();
        let done = tokio::task::spawn_blocking(move || netns.exec(&mut command)).await;
        done.map_err(Error::other)?.map(|_| ())
    }

    /// Starts any process of this workload.
    pub fn start(&self, name: &str, command: Command) -> Result<Part> {
        self.netns.start(name, command)
    }

    /// Starts its sidecar, as the user whom redirect rules leave alone.
    pub async fn envoy(&self, bootstrap: impl Into<Bootstrap>) -> Result<Envoy> {
        let options = envoy::Options {
            name: format!("envoy-{}", self.name),
            netns: Some(self.netns.clone()),
            user: Some(PROXY_USER),
            ..Default::default()
        };
        Envoy::start_with(bootstrap, &options).await
    }

    /// Starts its application.
    pub fn echo(&self, version: &str, ports: echo::Ports) -> Result<Echo> {
        let (version, netns) = (version.to_owned(), Some(self.netns.clone()));
        Echo::start_with(echo::Options { version, ports, netns, ..Default::default() })
    }

    /// Connects as its application would.
    pub async fn dial(&self, address: SocketAddr) -> Result<TcpStream> {
        self.netns.connect(address).await
    }

    /// Calls as its application would.
    pub fn client(&self) -> Client {
        Client::inside(&self.netns)
    }
}
