//! The proxies of a scenario on a control plane, each twice: as a real Envoy, and simulated, who tells what is sent.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use mizzen_testkit::{
    ApiServer, Istiod, Net, Proxy, Secrets,
    envoy::{Bootstrap, Envoy},
    istiod,
    net::Workload,
    pki::{Authority, Leaf},
    proxy::{self, Identity},
    run::run,
};

use super::{
    Options,
    names::Names,
    taken::{Fault, Sent, Taken},
};
use crate::{Scenario, run::QUIET};

/// For an Envoy to have everything. Not a measure of speed: what is missing at its end is missing.
const PATIENCE: Duration = Duration::from_secs(30);
/// What was refused stays so; the rest may still come.
const AFTER_A_REFUSAL: Duration = Duration::from_secs(3);

pub(super) struct Fleet {
    control_plane: Istiod,
    members: Vec<Member>,
    /// Envoys ask there as long as they live.
    _secrets: Secrets,
}

struct Member {
    name: String,
    /// Ended before the network it is in.
    envoy: Envoy,
    simulated: Proxy,
    _names: Names,
    _workload: Workload,
}

/// One proxy, seen from both sides.
pub(super) struct Sight {
    pub(super) proxy: String,
    pub(super) sent: Sent,
    pub(super) taken: Taken,
    pub(super) faults: Vec<String>,
}

impl Fleet {
    pub(super) async fn start(server: &ApiServer, scenario: &Scenario, options: &Options) -> Result<Self> {
        let program = options.program.clone();
        let settings =
            istiod::Options { mesh_config: scenario.mesh.clone(), program, ..istiod::Options::default() };
        let control_plane = Istiod::start(server, settings).await?;
        let net = Net::start()?;
        let mut fleet = Self { control_plane, members: Vec::new(), _secrets: secrets()? };
        let relay = net.relay(fleet.control_plane.discovery())?;
        for who in &scenario.proxies {
            let identity = who.identity(scenario)?;
            let workload = net.workload(who.name())?;
            let names = Names::serve(&workload)?;
            let socket = fleet._secrets.service_account(&identity.namespace, &identity.service_account)?;
            let bootstrap = bootstrap(&identity)?.secrets(&socket).control_plane(relay);
            let envoy = workload.envoy(bootstrap).await?;
            let address = fleet.control_plane.discovery();
            let simulated = Proxy::connect(address, &identity, proxy::Options::default()).await?;
            let name = who.name().to_owned();
            fleet.members.push(Member { name, envoy, simulated, _names: names, _workload: workload });
        }
        Ok(fleet)
    }

    /// What every proxy was sent and has, once that is the same, or when patience is at its end.
    pub(super) async fn look(&self) -> Result<Vec<Sight>> {
        let mut sights = Vec::new();
        for member in &self.members {
            sights.push(self.look_at(member).await.with_context(|| member.name.clone())?);
        }
        Ok(sights)
    }

    async fn look_at(&self, member: &Member) -> Result<Sight> {
        let Member { name, envoy, simulated, .. } = member;
        let start = Instant::now();
        loop {
            simulated.settled(QUIET).await?;
            let configuration = simulated.dump()?;
            let sent = Sent::new(&simulated.ledger(), &configuration);
            let admin = envoy.admin();
            let taken = Taken::new(&admin.config_dump().await?, &admin.stats().await?);
            let mut faults: Vec<Fault> = taken.faults(&sent);
            let state = admin.state().await?;
            if state != "LIVE" {
                faults.push(Fault::Waiting(format!("Envoy is {state}")));
            }
            faults.extend(self.told().await?.into_iter().map(Fault::Refused));
            let refused = faults.iter().any(|fault| matches!(fault, Fault::Refused(_)));
            let patience = if refused { AFTER_A_REFUSAL } else { PATIENCE };
            if faults.is_empty() || start.elapsed() > patience {
                let mut faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
                faults.extend(reasons(&envoy.part().log()));
                return Ok(Sight { proxy: name.clone(), sent, taken, faults });
            }
            if let Some(end) = envoy.part().ended() {
                return Err(envoy.part().error(format_args!("it ended ({end})")).into());
            }
            tokio::time::sleep(QUIET / 5).await;
        }
    }

    /// What the control plane was told of refusals.
    async fn told(&self) -> Result<Vec<String>> {
        let page = self.control_plane.debug("syncz").await?;
        let proxies = page.as_array().into_iter().flatten();
        let kinds = proxies.flat_map(|proxy| proxy["resources"].as_object().into_iter().flatten());
        let errors =
            kinds.filter_map(|(kind, state)| Some(format!("{kind}: {}", state["lastError"].as_str()?)));
        Ok(errors.collect())
    }
}

/// As Istio's agent writes it, of the proxy's own node.
fn bootstrap(identity: &Identity) -> Result<Bootstrap> {
    let node = identity.to_json()?;
    let bootstrap = match identity.role {
        proxy::Role::Sidecar => Bootstrap::sidecar,
        proxy::Role::Router => Bootstrap::router,
    };
    let bootstrap = bootstrap(identity.address, &identity.pod, &identity.namespace);
    Ok(bootstrap.change(|value| value["node"] = node))
}

/// With the files that scenarios name, where pods that use them would have them.
fn secrets() -> Result<Secrets> {
    let root = run().part_folder("files")?;
    let folder = root.join("etc/certs");
    fs::create_dir_all(&folder)?;
    let authority = Authority::new("somebody else")?;
    let pair = authority.leaf(&Leaf { common_name: "client", ..Leaf::default() })?;
    for (file, text) in
        [("root.pem", &authority.certificate()), ("cert.pem", &pair.certificate), ("key.pem", &pair.key)]
    {
        fs::write(folder.join(file), text)?;
    }
    Ok(Secrets::with_files(&root)?)
}

/// Envoy's own words about what it did not take.
fn reasons(log: &str) -> impl Iterator<Item = String> {
    let lines =
        log.lines().filter(|line| line.contains(" rejected: ") || line.contains("error adding listener"));
    lines.map(|line| format!("Envoy: {line}")).collect::<Vec<_>>().into_iter()
}
