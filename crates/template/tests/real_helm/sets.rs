//! Five value sets for each chart of the module; each has to change something.

pub(crate) type Chart = (&'static str, [&'static str; 5]);

pub(crate) const CHARTS: &[Chart] = &[
    (
        "base",
        [
            "defaultRevision: canary",
            "base: {excludedCRDs: [wasmplugins.extensions.istio.io]}",
            "experimental: {stableValidationPolicy: true}",
            "global: {resourceScope: namespace}",
            "global: {istioNamespace: mesh, imagePullSecrets: [pull]}\nbase: {validationURL: 'https://validate.example'}",
        ],
    ),
    (
        "default",
        [
            "revision: canary",
            "base: {validationURL: 'https://validate.example'}",
            "istiodRemote: {injectionURL: 'https://inject.example', injectionPath: /inject/x}",
            "sidecarInjectorWebhook: {enableNamespacesByDefault: true, reinvocationPolicy: IfNeeded}",
            "global: {istioNamespace: mesh}\nbase: {validationCABundle: Y2E=}",
        ],
    ),
    (
        "istio-control/istio-discovery",
        [
            "profile: demo\nrevision: canary\nrevisionTags: [prod, stage]",
            "global: {networkPolicy: {enabled: true}, platform: openshift, variant: distroless, logging: {level: 'all:debug'}}",
            "meshConfig: {accessLogFile: /dev/stdout, defaultConfig: {proxyMetadata: {A: '1', B: 'yes'}}}\n\
             pilot: {env: {X: 'true', Y: 7}, resources: {requests: {cpu: 2}}, autoscaleEnabled: false, replicaCount: 3}",
            "profile: remote\nistiodRemote: {enabled: true}\nglobal: {remotePilotAddress: 10.1.2.3, configCluster: true}",
            "profile: stable\ncompatibilityVersion: '1.28'\njwksResolverExtraRootCA: |\n  some\n  certificate\n\
             gatewayClasses: {istio: {service: {spec: {type: ClusterIP}}}}\nnodeSelector: {a: b}\n\
             tolerations: [{key: x, operator: Exists}]",
        ],
    ),
    (
        "gateways/istio-ingress",
        [
            "gateways: {istio-ingressgateway: {name: other, labels: {app: other, istio: other}}}",
            "gateways: {istio-ingressgateway: {autoscaleEnabled: false, replicaCount: 2, type: NodePort}}",
            "gateways: {istio-ingressgateway: {injectionTemplate: gateway, serviceAnnotations: {a: b}, podAnnotations: {c: d}}}",
            "global: {networkPolicy: {enabled: true}, logAsJson: true, proxy: {logLevel: debug}}\nrevision: canary",
            "gateways: {istio-ingressgateway: {ports: [{port: 80, targetPort: 8080, name: http2, protocol: TCP}], \
             runAsRoot: true, loadBalancerIP: 1.2.3.4, externalTrafficPolicy: Local, env: {A: b}}}",
        ],
    ),
    (
        "gateways/istio-egress",
        [
            "gateways: {istio-egressgateway: {name: other, labels: {app: other, istio: other}}}",
            "gateways: {istio-egressgateway: {autoscaleEnabled: false, replicaCount: 4}}",
            "gateways: {istio-egressgateway: {injectionTemplate: gateway, serviceAnnotations: {a: b}}}",
            "global: {networkPolicy: {enabled: true}, priorityClassName: high}\nrevision: canary",
            "gateways: {istio-egressgateway: {runAsRoot: true, env: {A: b}, secretVolumes: [{name: s, secretName: t, mountPath: /u}]}}",
        ],
    ),
    (
        "gateway",
        [
            "kind: DaemonSet\nlabels: {a: b}\nannotations: {c: d}",
            "service: {type: None}\nrbac: {enabled: false}\nserviceAccount: {create: false}",
            "autoscaling: {enabled: false}\nreplicaCount: 3\npodDisruptionBudget: {minAvailable: 2}",
            "name: other\nplatform: openshift\nglobal: {networkPolicy: {enabled: true}}\nrevision: canary",
            "service: {ports: [{name: http, port: 80, targetPort: 80, protocol: TCP}], annotations: {x: 'y'}}\n\
             resources: {requests: {cpu: 1m}}\nenv: {A: 'b'}\ntolerations: [{operator: Exists}]",
        ],
    ),
    (
        "istio-cni",
        [
            "ambient: {enabled: true}\nglobal: {networkPolicy: {enabled: true}}",
            "repair: {enabled: false}\ncniBinDir: /opt/bin\nlogging: {level: debug}",
            "provider: multus\nchained: false",
            "global: {platform: gke}\nresourceQuotas: {enabled: true, pods: 7}",
            "profile: ambient\nexcludeNamespaces: [a, b]\nresources: {requests: {cpu: 5m}}\npodLabels: {l: m}",
        ],
    ),
    (
        "ztunnel",
        [
            "revision: canary\nlogLevel: debug",
            "resourceName: other\nlabels: {a: b}\nannotations: {c: d}",
            "platform: openshift",
            "resourceQuotas: {enabled: true}\nenv: {A: b, C: 'true'}",
            "global: {networkPolicy: {enabled: true}, hub: example.org/x, tag: 7}\nmeshConfig: {defaultConfig: {proxyMetadata: {Z: q}}}",
        ],
    ),
];

/// The umbrella chart of the samples, whose dependencies are charts of the module.
pub(crate) const AMBIENT: Chart = (
    "ambient",
    [
        "istiod: {enabled: false}",
        "istiod: {pilot: {env: {A: b}}}\ncni: {cniBinDir: /opt/bin}",
        "global: {hub: example.org/x, tag: t, networkPolicy: {enabled: true}}",
        "ztunnel: {logLevel: debug}\nbase: {defaultRevision: canary}",
        "cni: {ambient: {enabled: false}}\nistiod: {revision: r}",
    ],
);

pub(crate) const AMBIENT_DEPENDENCIES: &[(&str, &str)] = &[
    ("base", "base"),
    ("cni", "istio-cni"),
    ("istiod", "istio-control/istio-discovery"),
    ("ztunnel", "ztunnel"),
];
