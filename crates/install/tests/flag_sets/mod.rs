//! Inputs that change what a profile renders, and inputs that nothing can be rendered of.

/// Flags and a file that go together.
#[derive(Clone, Copy)]
pub struct FlagSet<'a> {
    pub name: &'a str,
    pub sets: &'a [&'a str],
    pub revision: Option<&'a str>,
    pub file: Option<&'a str>,
}

impl FlagSet<'_> {
    pub const NONE: Self = Self { name: "", sets: &[], revision: None, file: None };
}

const fn sets<'a>(name: &'a str, sets: &'a [&'a str]) -> FlagSet<'a> {
    FlagSet { name, sets, revision: None, file: None }
}

const fn file<'a>(name: &'a str, text: &'a str) -> FlagSet<'a> {
    FlagSet { name, sets: &[], revision: None, file: Some(text) }
}

pub const FLAG_SETS: [FlagSet<'static>; 18] = [
    FlagSet { name: "revision", sets: &[], revision: Some("canary"), file: None },
    sets("scope-cluster", &["values.global.resourceScope=cluster"]),
    sets("scope-namespace", &["values.global.resourceScope=namespace"]),
    sets("gke", &["values.global.platform=gke"]),
    // The openshift profiles have their platform already.
    sets("openshift", &["values.global.platform=openshift", "values.global.logAsJson=true"]),
    sets("compatibility", &["compatibilityVersion=1.28"]),
    sets(
        "remote-by-address",
        &["values.istiodRemote.enabled=true", "values.global.remotePilotAddress=10.1.2.3"],
    ),
    sets(
        "remote-by-name",
        &["values.istiodRemote.enabled=true", "values.global.remotePilotAddress=istiod.example.com"],
    ),
    sets("network-policy", &["values.global.networkPolicy.enabled=true"]),
    sets("unvalidated", &["unvalidatedValues.pilot.extra=1", "unvalidatedValues.pilot.env.FOO=bar"]),
    sets(
        "numbers",
        &[
            "values.pilot.traceSampling=12.5",
            "values.pilot.autoscaleMax=7",
            "values.global.proxy.logLevel=debug",
        ],
    ),
    sets(
        "escapes",
        &[
            r"values.pilot.podAnnotations.example\.com/name=a=b",
            "values.global.proxy.includeIPRanges=10.0.0.0/8,11.0.0.0/8",
            "meshConfig.defaultConfig.proxyMetadata.NUMBER=1",
        ],
    ),
    file("two-gateways", include_str!("two_gateways.yaml")),
    file("kubernetes", include_str!("kubernetes.yaml")),
    file("nothing", include_str!("nothing.yaml")),
    file("mesh-config", include_str!("mesh_config.yaml")),
    file("hpa", include_str!("hpa.yaml")),
    file("both-meshes", include_str!("both_meshes.yaml")),
];

const fn broken<'a>(name: &'a str, what: &'a [&'a str], field: &'a str) -> (FlagSet<'a>, &'a str) {
    (sets(name, what), field)
}

/// What is refused, and the field that must be named.
pub const BROKEN: [(FlagSet<'static>, &str); 34] = [
    broken("profile", &["profile=nosuch"], "spec.profile"),
    broken("top", &["nosuch=1"], "spec.nosuch"),
    broken("component", &["components.nosuch.enabled=true"], "spec.components.nosuch"),
    broken("component-field", &["components.pilot.nosuch=1"], "spec.components.pilot.nosuch"),
    broken("component-on", &["components.pilot.enabled=maybe"], "spec.components.pilot.enabled"),
    broken("component-namespace", &["components.pilot.namespace=1"], "spec.components.pilot.namespace"),
    broken("k8s", &["components.pilot.k8s.nosuch=1"], "spec.components.pilot.k8s.nosuch"),
    broken("replicas", &["components.pilot.k8s.replicaCount=many"], "spec.components.pilot.k8s.replicaCount"),
    broken(
        "replicas-negative",
        &["components.pilot.k8s.replicaCount=-1"],
        "spec.components.pilot.k8s.replicaCount",
    ),
    broken(
        "hpa",
        &["components.pilot.k8s.hpaSpec.maxReplicas=x"],
        "spec.components.pilot.k8s.hpaSpec.maxReplicas",
    ),
    broken(
        "hpa-field",
        &["components.pilot.k8s.hpaSpec.nosuch=1"],
        "spec.components.pilot.k8s.hpaSpec.nosuch",
    ),
    broken(
        "pull-policy",
        &["components.pilot.k8s.imagePullPolicy=1"],
        "spec.components.pilot.k8s.imagePullPolicy",
    ),
    broken(
        "annotations",
        &["components.pilot.k8s.podAnnotations.a=1"],
        "spec.components.pilot.k8s.podAnnotations.a",
    ),
    broken(
        "selector",
        &["components.pilot.k8s.nodeSelector.a=true"],
        "spec.components.pilot.k8s.nodeSelector.a",
    ),
    broken("strategy", &["components.pilot.k8s.strategy.type=1"], "spec.components.pilot.k8s.strategy.type"),
    broken("env", &["components.pilot.k8s.env[0].name=1"], "spec.components.pilot.k8s.env[0].name"),
    broken(
        "tolerations",
        &["components.pilot.k8s.tolerations[0].tolerationSeconds=x"],
        "spec.components.pilot.k8s.tolerations[0].tolerationSeconds",
    ),
    broken(
        "affinity",
        &["components.pilot.k8s.affinity.nosuch.x=1"],
        "spec.components.pilot.k8s.affinity.nosuch",
    ),
    broken(
        "probe",
        &["components.pilot.k8s.readinessProbe.periodSeconds=x"],
        "spec.components.pilot.k8s.readinessProbe.periodSeconds",
    ),
    broken(
        "gateways",
        &["components.ingressGateways[0].nosuch=1"],
        "spec.components.ingressGateways[0].nosuch",
    ),
    broken("values", &["values.nosuch=1"], "spec.values.nosuch"),
    broken("values-pilot", &["values.pilot.nosuch=1"], "spec.values.pilot.nosuch"),
    broken("values-global", &["values.global.nosuch.deeper=1"], "spec.values.global.nosuch"),
    broken("values-type", &["values.pilot.autoscaleEnabled=x"], "spec.values.pilot.autoscaleEnabled"),
    broken("values-number", &["values.pilot.autoscaleMin=x"], "spec.values.pilot.autoscaleMin"),
    broken("values-map", &["values.telemetry=1"], "spec.values.telemetry"),
    broken(
        "ip-ranges",
        &["values.global.proxy.includeIPRanges=nowhere"],
        "spec.values.global.proxy.includeIPRanges",
    ),
    broken(
        "exclude-ranges",
        &["values.global.proxy.excludeIPRanges=1.2.3.4.5/8"],
        "spec.values.global.proxy.excludeIPRanges",
    ),
    broken(
        "ports",
        &["values.global.proxy.includeInboundPorts=x"],
        "spec.values.global.proxy.includeInboundPorts",
    ),
    broken(
        "exclude-ports",
        &["values.global.proxy.excludeInboundPorts=99999999"],
        "spec.values.global.proxy.excludeInboundPorts",
    ),
    broken("revision", &["revision=Not_A_Label"], "spec.revision"),
    broken("hub", &["hub=x y"], "spec.hub"),
    broken(
        "mesh",
        &["meshConfig.defaultConfig.drainDuration=x"],
        "spec.meshConfig.defaultConfig.drainDuration",
    ),
    broken("mesh-type", &["meshConfig.enableTracing=x"], "spec.meshConfig.enableTracing"),
];
