//! How each process of the control plane is started. Callers may add arguments; a later flag wins.

use std::{fmt::Display, process::Command};

use super::{ControlPlane, SERVICE_RANGE};
use crate::{error::Result, tools};

impl ControlPlane {
    pub fn etcd(&self) -> Result<Command> {
        let ports = &self.settings.ports;
        let (client, peer) =
            (format!("http://127.0.0.1:{}", ports.etcd), format!("http://127.0.0.1:{}", ports.etcd_peer));
        let mut command = Command::new(tools::command("etcd")?);
        // Nothing here survives the machine, so nothing has to survive a power cut.
        command.args(["--unsafe-no-fsync", "--log-level=warn", "--name=default"]);
        command.args([
            flag("data-dir", self.folder().join("etcd").display()),
            flag("listen-client-urls", &client),
            flag("advertise-client-urls", &client),
            flag("listen-peer-urls", &peer),
            flag("initial-advertise-peer-urls", &peer),
            flag("initial-cluster", format_args!("default={peer}")),
        ]);
        Ok(command)
    }

    pub fn apiserver(&self) -> Result<Command> {
        let settings = &self.settings;
        let certificate = |name: &str| self.certificate_file(name).display().to_string();
        let mut command = Command::new(tools::command("kube-apiserver")?);
        command.args([
            flag("etcd-servers", format_args!("http://127.0.0.1:{}", settings.ports.etcd)),
            flag("bind-address", settings.listen),
            flag("advertise-address", settings.address),
            flag("secure-port", settings.ports.apiserver),
            flag("service-cluster-ip-range", SERVICE_RANGE),
            flag("tls-cert-file", certificate("apiserver.crt")),
            flag("tls-private-key-file", certificate("apiserver.key")),
            flag("client-ca-file", certificate("ca.crt")),
            flag("token-auth-file", certificate("tokens.csv")),
            flag("service-account-issuer", "https://kubernetes.default.svc.cluster.local"),
            flag("service-account-key-file", certificate("sa.pub")),
            flag("service-account-signing-key-file", certificate("sa.key")),
            flag("kubelet-client-certificate", certificate("apiserver-kubelet-client.crt")),
            flag("kubelet-client-key", certificate("apiserver-kubelet-client.key")),
            flag("kubelet-certificate-authority", certificate("ca.crt")),
        ]);
        command.args([
            "--kubelet-preferred-address-types=InternalIP",
            "--authorization-mode=Node,RBAC",
            // ServiceAccount is among the defaults.
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            // A webhook named by Service is dialled at its endpoints: there need be no kube-proxy.
            "--enable-aggregator-routing=true",
            "--profiling=false",
        ]);
        if let Some(file) = &settings.pods {
            command.arg(flag("egress-selector-config-file", file.display()));
        }
        if settings.address.is_loopback() {
            // Kubernetes refuses loopback endpoints, and would complain every ten seconds.
            command.arg("--endpoint-reconciler-type=none");
        }
        Ok(command)
    }

    pub fn controller_manager(&self) -> Result<Command> {
        let certificate = |name: &str| self.certificate_file(name).display().to_string();
        let mut command = self.controller("kube-controller-manager", "controller-manager")?;
        command.args([
            flag("secure-port", self.settings.ports.controller_manager),
            flag("service-account-private-key-file", certificate("sa.key")),
            flag("root-ca-file", certificate("ca.crt")),
            flag("cluster-signing-cert-file", certificate("ca.crt")),
            flag("cluster-signing-key-file", certificate("ca.key")),
            flag("use-service-account-credentials", true),
        ]);
        Ok(command)
    }

    pub fn scheduler(&self) -> Result<Command> {
        let mut command = self.controller("kube-scheduler", "scheduler")?;
        command.arg(flag("secure-port", self.settings.ports.scheduler));
        Ok(command)
    }

    /// What both controllers have in common. The rate is raised: with the default one, five seconds go by until
    /// the first service accounts are made.
    fn controller(&self, program: &str, identity: &str) -> Result<Command> {
        let kubeconfig = self.kubeconfig_file(identity);
        let mut command = Command::new(tools::command(program)?);
        command.args(
            ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"]
                .map(|name| flag(name, kubeconfig.display())),
        );
        command.args([
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
        ]);
        command.args([
            flag("tls-cert-file", self.certificate_file("apiserver.crt").display()),
            flag("tls-private-key-file", self.certificate_file("apiserver.key").display()),
        ]);
        Ok(command)
    }
}

fn flag(name: &str, value: impl Display) -> String {
    format!("--{name}={value}")
}
