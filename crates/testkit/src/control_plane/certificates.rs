//! One authority and its leaves. The names are those that Kubernetes' default RBAC bindings expect, so that no
//! object has to be made by hand.

use std::net::{IpAddr, Ipv4Addr};

use rcgen::KeyPair;

use super::{KUBERNETES_SERVICE, Settings};
use crate::{
    error::{During, Error, Result},
    pki::{Authority, Leaf},
};

/// Writes all files below `certs/`; returns the administrator's bearer token.
pub(super) fn write(settings: &Settings, authority: &Authority) -> Result<String> {
    let folder = settings.folder.join("certs");
    authority.pair().write(&folder, "ca")?;

    let addresses: Vec<IpAddr> =
        [Ipv4Addr::LOCALHOST, settings.address, KUBERNETES_SERVICE].map(IpAddr::from).to_vec();
    let server = Leaf {
        common_name: "kube-apiserver",
        dns: &[
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "localhost",
        ],
        ip: &addresses,
        ..Leaf::default()
    };
    authority.leaf(&server)?.write(&folder, "apiserver")?;
    for (name, common_name, organization) in [
        ("admin", "admin", Some("system:masters")),
        ("apiserver-kubelet-client", "kube-apiserver-kubelet-client", Some("system:masters")),
        ("controller-manager", "system:kube-controller-manager", None),
        ("scheduler", "system:kube-scheduler", None),
    ] {
        authority.leaf(&Leaf { common_name, organization, ..Leaf::default() })?.write(&folder, name)?;
    }

    if let Some(node) = &settings.node {
        let kubelet = Leaf {
            common_name: &format!("system:node:{}", node.name),
            organization: Some("system:nodes"),
            dns: &[&node.name],
            ip: &[node.address.into(), Ipv4Addr::LOCALHOST.into()],
            ..Leaf::default()
        };
        authority.leaf(&kubelet)?.write(&folder, "kubelet")?;
        let proxy = Leaf { common_name: "system:kube-proxy", ..Leaf::default() };
        authority.leaf(&proxy)?.write(&folder, "proxy")?;
    }

    let accounts = KeyPair::generate()?;
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).during("write a key");
    write("sa.key", accounts.serialize_pem())?;
    write("sa.pub", accounts.public_key_pem())?;

    let token = random_token()?;
    write("tokens.csv", format!("{token},admin,admin,\"system:masters\"\n"))?;
    Ok(token)
}

fn random_token() -> Result<String> {
    let mut bytes = [0; 16];
    let random = rustls::crypto::aws_lc_rs::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| Error::other("no random numbers to be had"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
