//! The proxies of a scenario on a control plane, each twice: as a real Envoy, and simulated, who tells what is sent.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use mizzen_testkit::{
    ApiServer, Istiod, Net, Proxy, Secrets,
    envoy::{self, Bootstrap, Envoy, PROXY_USER},
    istiod,
    net::Workload,
    pki::{Authority, Leaf},
    proxy::{self, Configuration, Identity},
    run::run,
};

use super::{
    Options,
    names::Names,
    taken::{Fault, Sent, Taken},
};
use crate::{Allowed, Dump, Scenario, compare, run::QUIET};

/// For an Envoy to have everything. Not a measure of speed: what is missing at its end is missing.
const PATIENCE: Duration = Duration::from_secs(30);
/// What was refused stays so; the rest may still come.
const AFTER_A_REFUSAL: Duration = Duration::from_secs(3);

pub(super) struct Fleet {
    control_plane: Istiod,
    members: Vec<Member>,
    /// Envoys ask there as long as they live.
    secrets: Secrets,
}

struct Member {
    name: String,
    /// Ended before the network it is in.
    envoy: Envoy,
    simulated: Proxy,
    _names: Names,
    _workload: Workload,
}

/// What the control plane must have sent before it counts: a change takes its time.
pub(super) enum Expected<'s> {
    Anything,
    Same(&'s Sight),
    Not(&'s Sight),
}

impl Expected<'_> {
    fn unmet(&self, now: &Sight) -> Option<String> {
        // By the rules of the comparison with istiod: some orders mean nothing, such as that of endpoints.
        let differences =
            |before: &Sight| compare(&before.dump(), &now.dump(), &Allowed::default()).different;
        match self {
            Self::Anything => None,
            Self::Same(before) => differences(before)
                .first()
                .map(|first| format!("not what it said before, at {} {}", first.proxy, first.path)),
            Self::Not(before) => {
                differences(before).is_empty().then(|| "what it said before the deletion".to_owned())
            }
        }
    }
}

/// All proxies, seen from both sides.
#[derive(Default)]
pub(super) struct Sight {
    pub(super) sent: BTreeMap<String, Sent>,
    pub(super) taken: BTreeMap<String, Taken>,
    /// In words, with the proxy's name before it.
    pub(super) faults: Vec<String>,
    refused: bool,
}

impl Fleet {
    pub(super) async fn start(server: &ApiServer, scenario: &Scenario, options: &Options) -> Result<Self> {
        let program = options.program.clone();
        let settings =
            istiod::Options { mesh_config: scenario.mesh.clone(), program, ..istiod::Options::default() };
        let control_plane = Istiod::start(server, settings).await?;
        let net = Net::start()?;
        let mut fleet = Self { control_plane, members: Vec::new(), secrets: secrets()? };
        let relay = net.relay(fleet.control_plane.discovery())?;
        for who in &scenario.proxies {
            let identity = who.identity(scenario)?;
            let workload = net.workload(who.name())?;
            let names = Names::serve(&workload)?;
            let socket = fleet.secrets.service_account(&identity.namespace, &identity.service_account)?;
            let bootstrap = bootstrap(&identity)?.secrets(&socket).control_plane(relay);
            let envoy = start(&workload, bootstrap).await?;
            let address = fleet.control_plane.discovery();
            let simulated = Proxy::connect(address, &identity, proxy::Options::default()).await?;
            let name = who.name().to_owned();
            fleet.members.push(Member { name, envoy, simulated, _names: names, _workload: workload });
        }
        Ok(fleet)
    }

    /// What every proxy was sent and has, once that is the same and as expected, or when patience is at its end.
    pub(super) async fn look(&self, expected: Expected<'_>) -> Result<Sight> {
        let start = Instant::now();
        loop {
            let mut sight = Sight::default();
            for member in &self.members {
                self.look_at(member, &mut sight).await.with_context(|| member.name.clone())?;
            }
            if let Some(fault) = expected.unmet(&sight) {
                sight.fault("control plane", fault);
            }
            let patience = if sight.refused { AFTER_A_REFUSAL } else { PATIENCE };
            if sight.faults.is_empty() || start.elapsed() > patience {
                return Ok(sight);
            }
            tokio::time::sleep(QUIET / 5).await;
        }
    }

    async fn look_at(&self, member: &Member, sight: &mut Sight) -> Result<()> {
        let Member { name, envoy, simulated, .. } = member;
        if let Some(end) = envoy.part().ended() {
            return Err(envoy.part().error(format_args!("it ended ({end})")).into());
        }
        simulated.settled(QUIET).await?;
        let sent = Sent::new(&simulated.ledger());
        let admin = envoy.admin();
        let taken = Taken::new(&admin.config_dump().await?, &admin.stats().await?);
        let mut faults = taken.faults(&sent);
        let state = admin.state().await?;
        if state != "LIVE" {
            faults.push(Fault::Waiting(format!("Envoy is {state}")));
        }
        faults.extend(self.told(name).await?.into_iter().map(Fault::Refused));
        faults.extend(reasons(&envoy.part().log()).map(Fault::Refused));
        for fault in faults {
            sight.refused |= matches!(fault, Fault::Refused(_));
            sight.fault(name, fault);
        }
        sight.sent.insert(name.clone(), sent);
        sight.taken.insert(name.clone(), taken);
        Ok(())
    }

    /// What the control plane was told of refusals by that proxy.
    async fn told(&self, name: &str) -> Result<Vec<String>> {
        let page = self.control_plane.debug("syncz").await?;
        let streams = page.as_array().into_iter().flatten().filter(|stream| stream["proxy"] == name);
        let kinds = streams.flat_map(|stream| stream["resources"].as_object().into_iter().flatten());
        let errors =
            kinds.filter_map(|(kind, state)| Some(format!("{kind}: {}", state["lastError"].as_str()?)));
        Ok(errors.collect())
    }
}

impl Sight {
    fn dump(&self) -> Dump {
        let proxies = self.sent.iter().map(|(name, sent)| (name.clone(), Configuration(sent.0.clone())));
        Dump(proxies.collect())
    }

    fn fault(&mut self, whose: &str, fault: impl Display) {
        self.faults.push(format!("{whose}: {fault}"));
    }
}

async fn start(workload: &Workload, bootstrap: Bootstrap) -> Result<Envoy> {
    // As in a pod, where everybody may take any port; gateways do.
    let allow = || fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    workload.netns().run(allow)?.context("let anybody take any port")?;
    let options = envoy::Options {
        name: format!("envoy-{}", workload.name()),
        netns: Some(workload.netns().clone()),
        user: Some(PROXY_USER),
        // A listener that is gone keeps its routes until it has let its connections go, for ten minutes by default.
        arguments: ["--drain-time-s", "1"].map(str::to_owned).to_vec(),
        ..Default::default()
    };
    Ok(Envoy::start_with(bootstrap, &options).await?)
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
