//! What is asked of both: flags and a file on top of every profile. Each set must change something in every profile, so
//! it switches on whatever it needs.

pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) flags: &'static [&'static str],
    /// What comes below the head of an IstioOperator.
    pub(crate) file: &'static str,
}

/// Everything on, so that the profiles `empty`, `minimal` and `remote` show what a setting does.
const ON: &str = "
spec:
  components:
    base: {enabled: true}
    pilot: {enabled: true}
    ingressGateways: [{name: istio-ingressgateway, enabled: true}]
";

pub(crate) const SETS: &[Set] = &[
    Set { name: "revision", flags: &["--revision", "canary"], file: ON },
    Set { name: "scope cluster", flags: &["--set", "values.global.resourceScope=cluster"], file: ON },
    Set { name: "scope namespace", flags: &["--set", "values.global.resourceScope=namespace"], file: ON },
    Set { name: "platform gke", flags: &["--set", "values.global.platform=gke"], file: ON },
    Set {
        name: "platform openshift",
        flags: &[
            "--set",
            "values.global.platform=openshift",
            "--set",
            "components.cni.enabled=true",
            "--set",
            "values.cni.chained=true",
        ],
        file: ON,
    },
    Set { name: "compatibility 1.28", flags: &["--set", "compatibilityVersion=1.28"], file: ON },
    Set {
        name: "two gateways with overlays",
        flags: &["-s", "components.ingressGateways.[name:inner].k8s.resources.requests.cpu=55m"],
        file: r#"
spec:
  components:
    ingressGateways:
    - name: istio-ingressgateway
      enabled: true
      k8s:
        overlays:
        - kind: Deployment
          name: istio-ingressgateway
          patches:
          - {path: "spec.template.spec.containers.[name:istio-proxy].args.[:router]", value: gateway}
          - {path: "spec.template.spec.containers.[name:istio-proxy].env.[-1]", value: {name: ADDED, value: "1"}}
          - {path: "metadata.annotations.example\\.com/owner", value: edge}
        - kind: Service
          name: istio-ingressgateway
          patches:
          - {path: "spec.ports.[port:443].name", value: tls}
          - {path: "spec.ports.[0]"}
    - name: inner
      namespace: edge
      enabled: true
      label: {app: inner, istio: inner}
      hub: mirror.example/mesh
      tag: 2
      k8s:
        service: {type: ClusterIP, ports: [{name: http, port: 80, targetPort: 8080}]}
        hpaSpec: {minReplicas: 2, maxReplicas: 3}
        overlays:
        - kind: HorizontalPodAutoscaler
          name: inner
          patches:
          - {path: "spec.metrics.[type:Resource].resource.target.averageUtilization", value: 55}
"#,
    },
    Set {
        name: "every k8s field",
        flags: &[],
        file: r#"
spec:
  components:
    pilot:
      enabled: true
      k8s: &k8s
        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]}}}
        env: [{name: POD_NAME, value: changed}, {name: NEW, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]
        hpaSpec: {minReplicas: 2, maxReplicas: 7, metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 60}}}]}
        imagePullPolicy: Always
        nodeSelector: {disk: ssd}
        podDisruptionBudget: {maxUnavailable: 1}
        podAnnotations: {example.com/team: mesh}
        priorityClassName: system-cluster-critical
        readinessProbe: {periodSeconds: 7, failureThreshold: 3}
        replicaCount: 3
        resources: {requests: {cpu: 250m, memory: 300Mi}, limits: {cpu: "2"}}
        service: {type: ClusterIP, sessionAffinity: ClientIP}
        strategy: {rollingUpdate: {maxSurge: 50%, maxUnavailable: 0}}
        tolerations: [{key: dedicated, operator: Equal, value: mesh, effect: NoSchedule}]
        serviceAnnotations: {example.com/lb: internal}
        securityContext: {fsGroup: 2000, seccompProfile: {type: RuntimeDefault}}
        volumes: [{name: unused, emptyDir: {}}]
    ingressGateways: [{name: istio-ingressgateway, enabled: true, k8s: *k8s}]
"#,
    },
    Set {
        name: "a null",
        flags: &[],
        file: r#"
spec:
  components:
    pilot: {enabled: true, k8s: {resources: null, env: [{name: A, value: b}]}}
    ingressGateways: [{name: istio-ingressgateway, enabled: true}]
  values:
    global: {proxy: {resources: null}, imagePullPolicy: null, priorityClassName: null}
    pilot: {resources: null, nodeSelector: null}
    gateways: {istio-ingressgateway: {serviceAnnotations: null}}
"#,
    },
    Set {
        name: "unvalidated values",
        flags: &["--set", "unvalidatedValues.base.validationFailurePolicy=Fail"],
        file: r"
spec:
  components: {base: {enabled: true}, pilot: {enabled: true}}
  unvalidatedValues:
    global: {unknownKey: 1}
    pilot: {unknownList: [a, {b: c}]}
    gateways: {istio-ingressgateway: {unknownKey: true}}
",
    },
    Set {
        name: "remote pilot by IP",
        flags: &[
            "--set",
            "values.istiodRemote.enabled=true",
            "--set",
            "values.global.remotePilotAddress=192.0.2.7",
        ],
        file: ON,
    },
    Set {
        name: "remote pilot by name",
        flags: &[
            "--set",
            "values.istiodRemote.enabled=true",
            "--set",
            "values.global.remotePilotAddress=pilot.example.com",
            "--set",
            "values.global.configCluster=true",
        ],
        file: ON,
    },
    Set { name: "network policy", flags: &["--set", "values.global.networkPolicy.enabled=true"], file: ON },
    Set {
        name: "mesh configuration",
        flags: &[
            "--set",
            "meshConfig.defaultConfig.proxyMetadata.NUMBER=1",
            "--set",
            "meshConfig.rootNamespace=mesh",
        ],
        file: r"
spec:
  components: {pilot: {enabled: true}, base: {enabled: true}}
  meshConfig:
    accessLogFile: /dev/stdout
    enableTracing: true
    defaultConfig: {holdApplicationUntilProxyStarts: true, tracing: {sampling: 12.5}}
    extensionProviders: [{name: otel, envoyOtelAls: {service: otel.example.com, port: 4317}}]
  values:
    meshConfig: {accessLogFile: /dev/stderr, outboundTrafficPolicy: {mode: REGISTRY_ONLY}}
    telemetry: {enabled: true}
",
    },
    Set {
        name: "autoscaling",
        flags: &["--set", "values.pilot.autoscaleMin=2"],
        file: r"
spec:
  components:
    pilot: {enabled: true, k8s: {hpaSpec: {minReplicas: 3, maxReplicas: 9}}}
    ingressGateways: [{name: istio-ingressgateway, enabled: true, k8s: {hpaSpec: {minReplicas: 4}, replicaCount: 2}}]
",
    },
    Set {
        name: "other gateways and networks",
        flags: &[
            "--set",
            "values.gateways.istio-egressgateway.enabled=true",
            "--set",
            "values.global.network=one",
        ],
        file: r"
spec:
  components:
    base: {enabled: true}
    pilot: {enabled: true, hub: mirror.example/pilot, tag: 1.2}
    egressGateways: [{name: istio-egressgateway, enabled: true, namespace: out}]
  values:
    global:
      multiCluster: {clusterName: east}
      meshNetworks: {one: {endpoints: [{fromRegistry: east}], gateways: [{address: 192.0.2.1, port: 15443}]}}
      imagePullSecrets: [regcred]
    revisionTags: [stable, old]
    sidecarInjectorWebhook: {neverInjectSelector: [{matchExpressions: [{key: job, operator: Exists}]}]}
",
    },
];
