//! What both must refuse, and the word that both must name.

pub(crate) struct Error {
    pub(crate) flags: &'static [&'static str],
    pub(crate) file: &'static str,
    pub(crate) names: &'static str,
    /// istioctl says what is wrong, but not where.
    pub(crate) istioctl_names_it: bool,
}

const fn flag(flags: &'static [&'static str], names: &'static str) -> Error {
    Error { flags, file: "kind: IstioOperator", names, istioctl_names_it: true }
}

const fn file(file: &'static str, names: &'static str) -> Error {
    Error { flags: &[], file, names, istioctl_names_it: true }
}

const fn only_ours(error: Error) -> Error {
    Error { istioctl_names_it: false, ..error }
}

pub(crate) const ERRORS: &[Error] = &[
    flag(&["--set", "profile=nope"], "nope"),
    flag(&["--set", "values.unknown=1"], "unknown"),
    flag(&["--set", "values.global.unknown=1"], "unknown"),
    flag(&["--set", "values.global.proxy.unknown=1"], "unknown"),
    only_ours(flag(&["--set", "values.pilot.autoscaleEnabled=maybe"], "autoscaleEnabled")),
    only_ours(flag(&["--set", "values.pilot.autoscaleMin=two"], "autoscaleMin")),
    only_ours(flag(&["--set", "values.global.hub=1.5"], "hub")),
    only_ours(flag(&["--set", "values.global.proxy.image=true"], "image")),
    only_ours(flag(
        &["--set", "values.gateways.istio-ingressgateway.loadBalancerSourceRanges=1"],
        "loadBalancerSourceRanges",
    )),
    flag(&["--set", "values.global.proxy.includeIPRanges=300.0.0.0/8"], "300.0.0.0/8"),
    flag(&["--set", "values.global.proxy.excludeIPRanges=10.0.0.0"], "10.0.0.0"),
    only_ours(flag(&["--set", "values.global.proxy.includeInboundPorts=99999"], "includeInboundPorts")),
    flag(&["--set", "values.global.proxy.excludeInboundPorts=http"], "http"),
    only_ours(flag(&["--set", "values.global.proxy.excludeOutboundPorts=-1"], "excludeOutboundPorts")),
    flag(&["--set", "hub=bad hub"], "bad hub"),
    flag(&["--set", "tag=bad/tag"], "bad/tag"),
    flag(&["--set", "revision=Bad_Name"], "Bad_Name"),
    flag(&["--set", "components.pilot.k8s.replicaCount=many"], "replicaCount"),
    flag(&["--set", "components.pilot.unknown=1"], "unknown"),
    flag(&["--set", "components.unknown.enabled=true"], "unknown"),
    flag(&["--set", "unknown=1"], "unknown"),
    flag(&["--set", "components.ingressGateways.[name:missing].enabled=true"], "missing"),
    flag(&["--set", "values.global.platform=moon"], "moon"),
    flag(&["--set", "compatibilityVersion=0.1"], "0.1"),
    flag(&["--set", "values.profile=none"], "none"),
    file(
        "kind: IstioOperator\nspec: {components: {pilot: {k8s: {affinity: {nodeAffinity: {unknown: 1}}}}}}",
        "unknown",
    ),
    file("kind: IstioOperator\nspec: {components: {pilot: {k8s: {env: [{name: [a]}]}}}}", "env"),
    only_ours(file(
        "kind: IstioOperator\nspec: {components: {pilot: {k8s: {resources: {requests: {cpu: lots}}}}}}",
        "cpu",
    )),
    file("kind: IstioOperator\nspec: {components: {pilot: {k8s: {tolerations: {key: a}}}}}", "tolerations"),
    file(
        "kind: IstioOperator\nspec: {components: {pilot: {k8s: {hpaSpec: {maxReplicas: few}}}}}",
        "maxReplicas",
    ),
    file(
        "kind: IstioOperator\nspec: {components: {pilot: {k8s: {strategy: {rollingUpdate: {maxSurge: [1]}}}}}}",
        "maxSurge",
    ),
    file("kind: IstioOperator\nspec: {components: {ingressGateways: {name: a}}}", "ingressGateways"),
    file(
        "kind: IstioOperator\nspec: {components: {ingressGateways: [{name: Not_A_Name, enabled: true}]}}",
        "Not_A_Name",
    ),
    file("kind: IstioOperator\nspec: {values: {pilot: {tolerations: [{key: [a]}]}}}", "tolerations"),
    file(
        "kind: IstioOperator\nspec: {values: {global: {proxy: {lifecycle: {preStop: {exec: {command: run}}}}}}}",
        "lifecycle",
    ),
    only_ours(file(
        "kind: IstioOperator\nspec: {meshConfig: {defaultConfig: {concurrency: many}}}",
        "concurrency",
    )),
    file("kind: IstioOperator\n---\nkind: IstioOperator\n", "multiple"),
    only_ours(file("spec: {}", "kind")),
    file("kind: IstioOperator\nspec: [", "yaml"),
    file("kind: IstioOperator\nspec:\n  hub: a\n hub: b\n", "yaml"),
];
