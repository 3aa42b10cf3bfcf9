//! Settings of other network plugins in the cluster that stand in the way of a mesh. In: the IstioOperator and what was found
//! in the cluster. Out: warnings; nobody but the other plugin's owner can change it.

use mizzen_text::{At, Path};
use serde_json::Value;

use super::{Finding, get};

/// `felix` is Calico's FelixConfiguration `default`, `cilium` the ConfigMap `kube-system/cilium-config`, where they are there.
pub fn cni_conflicts(operator: &Value, felix: Option<&Value>, cilium: Option<&Value>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut warn = |plugin: &str, setting: &str, wanted: &str, path: Path| {
        let message = format!("{plugin} is configured with {setting}, which does not work with Istio");
        found.push(Finding {
            path,
            message,
            hint: Some(format!("set {wanted} in {plugin}'s configuration")),
        });
    };
    if let Some(felix) = felix {
        let balancing = get(felix, &["spec", "bpfConnectTimeLoadBalancing"]).and_then(Value::as_str);
        if let Some(mode) = balancing.filter(|mode| *mode != "Disabled") {
            let setting = format!("bpfConnectTimeLoadBalancing={mode}");
            warn("Calico", &setting, "bpfConnectTimeLoadBalancing=Disabled", Path::default());
        }
        if get(felix, &["spec", "bpfConnectTimeLoadBalancingEnabled"]) == Some(&Value::Bool(true)) {
            let (setting, wanted) =
                ("bpfConnectTimeLoadBalancingEnabled=true", "bpfConnectTimeLoadBalancingEnabled=false");
            warn("Calico", setting, wanted, Path::default());
        }
    }
    let Some(cilium) = cilium else { return found };
    let is = |name: &str, value: &str| {
        get(cilium, &["data", name]).and_then(Value::as_str).is_some_and(|there| there == value)
    };
    let enabled =
        |name: &str| get(operator, &["spec", "components", name, "enabled"]) == Some(&Value::Bool(true));
    let component = |name: &str| {
        let spec = At::TOP.field("spec");
        spec.field("components").field(name).path()
    };
    if enabled("cni") && is("cni-exclusive", "true") {
        // It would overwrite the configuration of Istio's plugin again and again.
        warn("Cilium", "cni-exclusive=true", "cni-exclusive=false", component("cni"));
    }
    if enabled("ztunnel") && is("enable-bpf-masquerade", "true") {
        warn("Cilium", "enable-bpf-masquerade=true", "enable-bpf-masquerade=false", component("ztunnel"));
    }
    // With these, traffic reaches the other pod past the proxy, unless they are kept to the host.
    if !is("bpf-lb-sock-hostns-only", "true") {
        for (name, value) in [("bpf-lb-sock", "true"), ("kube-proxy-replacement", "strict")] {
            if is(name, value) {
                warn("Cilium", &format!("{name}={value}"), "bpf-lb-sock-hostns-only=true", Path::default());
            }
        }
    }
    found
}
