//! The files that containerd, the CNI plugins, the kubelet and kube-proxy read. JSON where they take YAML.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{DNS, NAME, POD_RANGE};
use crate::{
    control_plane::ControlPlane,
    error::{During, Result},
};

/// Writes them all. `control_group` is the parent of every pod's.
pub(super) fn write(plane: &ControlPlane, control_group: &str) -> Result<()> {
    let folder = &plane.settings().folder;
    fs::create_dir_all(folder.join("cni")).during("make the node's folders")?;
    let containerd = include_str!("containerd.toml").replace("@R@", &folder.display().to_string());
    let files = [
        ("containerd.toml", containerd),
        ("cni/10-bridge.conflist", network(folder).to_string()),
        ("kubelet.yaml", kubelet(plane, control_group).to_string()),
        ("kube-proxy.yaml", kube_proxy(plane).to_string()),
        // Pods with `dnsPolicy: Default` get this one: nobody outside answers.
        ("resolv.conf", String::new()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).during(format_args!("write {name}"))?;
    }
    Ok(())
}

fn network(folder: &Path) -> Value {
    let addresses = json!({
        "type": "host-local", "dataDir": folder.join("addresses"),
        "ranges": [[{ "subnet": POD_RANGE }]], "routes": [{ "dst": "0.0.0.0/0" }],
    });
    json!({ "cniVersion": "0.4.0", "name": "pods", "plugins": [
        { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true, "ipam": addresses },
        { "type": "portmap", "capabilities": { "portMappings": true } },
    ] })
}

fn kubelet(plane: &ControlPlane, control_group: &str) -> Value {
    let folder = &plane.settings().folder;
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": format!("unix://{}", super::images::socket(folder).display()),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": control_group,
        "failCgroupV1": false,
        "failSwapOn": false,
        "oomScoreAdj": 0,
        "clusterDNS": [DNS],
        "clusterDomain": "cluster.local",
        "resolvConf": folder.join("resolv.conf"),
        "tlsCertFile": plane.certificate_file("kubelet.crt"),
        "tlsPrivateKeyFile": plane.certificate_file("kubelet.key"),
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": plane.certificate_file("ca.crt") },
        },
        "authorization": { "mode": "Webhook" },
        "evictionHard": { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
        // Images cannot be pulled again.
        "imageGCHighThresholdPercent": 100,
        "nodeStatusUpdateFrequency": "4s",
        "podLogsDir": folder.join("pod-logs"),
        "volumePluginDir": folder.join("volume-plugins"),
    })
}

fn kube_proxy(plane: &ControlPlane) -> Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clusterCIDR": POD_RANGE,
        "hostnameOverride": NAME,
        "clientConnection": { "kubeconfig": plane.kubeconfig_file("proxy") },
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        // Zero leaves the kernel's own settings alone.
        "conntrack": { "maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s" },
        "iptables": { "localhostNodePorts": false, "minSyncPeriod": "100ms" },
    })
}
