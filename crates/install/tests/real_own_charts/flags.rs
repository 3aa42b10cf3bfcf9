//! What the charts are rendered with: profiles, and flags that reach every switch of theirs.

pub(crate) type Flags = (&'static str, &'static [&'static str]);

pub(crate) const PROFILES: [&str; 7] = ["default", "demo", "minimal", "empty", "preview", "stable", "remote"];

/// With every profile.
pub(crate) const FLAGS: [Flags; 7] = [
    ("plain", &[]),
    ("revision", &["revision=canary"]),
    ("cluster", &["values.global.resourceScope=cluster"]),
    ("namespace", &["values.global.resourceScope=namespace"]),
    ("network-policy", &["values.global.networkPolicy.enabled=true"]),
    ("remote-by-address", &["values.istiodRemote.enabled=true", "values.global.remotePilotAddress=10.1.2.3"]),
    (
        "remote-by-name",
        &["values.istiodRemote.enabled=true", "values.global.remotePilotAddress=istiod.example.com"],
    ),
];

/// With the demo profile, which has every component. The base chart, most of the time of a rendering, does not know them.
pub(crate) const SWITCHES: [Flags; 23] = [
    ("tags", &["values.revisionTags[0]=a", "values.revisionTags[1]=default", "revision=b"]),
    ("tag-of-the-default", &["values.revisionTags[0]=a"]),
    ("every-namespace", &["values.sidecarInjectorWebhook.enableNamespacesByDefault=true"]),
    ("analysis", &["values.global.istiod.enableAnalysis=true"]),
    ("taint", &["values.pilot.taint.enabled=true", "values.pilot.taint.namespace=agents"]),
    ("trust-bundle", &["values.pilot.env.ENABLE_CLUSTER_TRUST_BUNDLE_API=true"]),
    ("signer", &["values.global.pilotCertProvider=k8s.io/one", "values.global.certSigners[0]=two"]),
    (
        "local-injector",
        &[
            "values.istiodRemote.enabled=true",
            "values.istiodRemote.enabledLocalInjectorIstiod=true",
            "values.global.remotePilotAddress=1.2.3.4",
        ],
    ),
    (
        "config-cluster",
        &[
            "values.istiodRemote.enabled=true",
            "values.global.configCluster=true",
            "values.global.remotePilotAddress=1.2.3.4",
        ],
    ),
    (
        "remote-revision",
        &["values.istiodRemote.enabled=true", "revision=z", "values.global.remotePilotAddress=1.2.3.4"],
    ),
    (
        "replicas",
        &[
            "values.pilot.autoscaleEnabled=true",
            "values.pilot.autoscaleMin=2",
            "values.pilot.memory.targetAverageUtilization=70",
            "values.gateways.istio-ingressgateway.autoscaleEnabled=true",
            "values.gateways.istio-ingressgateway.autoscaleMin=3",
        ],
    ),
    ("fixed-replicas", &["values.pilot.replicaCount=3"]),
    ("openshift", &["values.global.platform=openshift"]),
    ("compatibility", &["compatibilityVersion=1.28"]),
    ("injected-gateway", &["values.gateways.istio-ingressgateway.injectionTemplate=gateway"]),
    (
        "names",
        &[
            "values.global.meshID=mesh",
            "values.global.network=here",
            "values.global.multiCluster.clusterName=cluster",
            "meshConfig.trustDomain=domain",
        ],
    ),
    ("logs", &["values.global.logAsJson=true", "values.global.sts.servicePort=15463"]),
    ("tracer", &["values.global.proxy.tracer=zipkin"]),
    (
        "nothing-managed",
        &[
            "values.global.configValidation=false",
            "values.global.operatorManageWebhooks=true",
            "values.global.omitSidecarInjectorConfigMap=true",
            "values.pilot.configMap=false",
        ],
    ),
    (
        "gateway-ports",
        &[
            "values.gateways.istio-ingressgateway.ingressPorts[0].name=more",
            "values.gateways.istio-ingressgateway.ingressPorts[0].port=9900",
            "values.gateways.istio-ingressgateway.type=NodePort",
            "values.gateways.istio-ingressgateway.runAsRoot=true",
        ],
    ),
    ("gateway-class", &["values.gatewayClasses.istio.service.spec.type=ClusterIP"]),
    (
        "groups",
        &[
            "values.pilot.env.MCS_API_GROUP=services.example.com",
            "values.pilot.env.PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER=false",
        ],
    ),
    (
        "certificates",
        &[
            "values.pilot.jwksResolverExtraRootCA=pem",
            "values.pilot.trustedZtunnelNamespace=agents",
            "values.global.externalIstiod=true",
            "values.global.trustBundleName=bundle",
            "values.global.mountMtlsCerts=true",
            "values.global.caAddress=ca.example.com:443",
        ],
    ),
];

/// With the demo profile, and the base.
pub(crate) const BASE_SWITCHES: [Flags; 7] = [
    ("elsewhere", &["values.global.istioNamespace=other"]),
    ("default-revision", &["values.defaultRevision=default"]),
    (
        "default-policy",
        &["values.experimental.stableValidationPolicy=true", "values.defaultRevision=default"],
    ),
    ("no-reader", &["values.global.enableReaderRBAC=false"]),
    ("plain-definitions", &["values.base.enableCRDTemplates=false"]),
    ("without-a-definition", &["values.base.excludedCRDs[0]=envoyfilters.networking.istio.io"]),
    (
        "addresses",
        &[
            "values.base.validationURL=https://example.com/validate",
            "values.istiodRemote.injectionURL=https://example.com/inject",
            "values.base.validationCABundle=Zm9v",
        ],
    ),
];
