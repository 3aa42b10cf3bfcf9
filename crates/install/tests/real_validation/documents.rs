//! IstioOperators by hand, and those that the module has.

use std::{fs, path::Path};

use mizzen_testkit::tools;
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};

pub(crate) struct Row {
    pub(crate) document: Value,
    /// The field that is refused.
    pub(crate) refused_at: Option<String>,
}

/// A document with one value in it: `spec.components.ingressGateways[0].name`.
fn at(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, part| match part.strip_suffix("[0]") {
        Some(name) => json!({ name: [inner] }),
        None => json!({ part: inner }),
    })
}

fn fine(path: &str, value: Value) -> Row {
    Row { document: at(path, value), refused_at: None }
}

fn refused(path: &str, value: Value) -> Row {
    Row { document: at(path, value), refused_at: Some(path.to_owned()) }
}

/// Refused at a field below the one that is given.
fn refused_below(path: &str, below: &str, value: Value) -> Row {
    Row { document: at(path, value), refused_at: Some(format!("{path}{below}")) }
}

pub(crate) fn table() -> Vec<Row> {
    let mut rows = vec![Row { document: json!({}), refused_at: None }];
    rows.extend(top());
    rows.extend(images_and_names());
    rows.extend(k8s());
    rows.extend(values());
    rows.extend(proxy());
    rows.extend(kubernetes_in_values());
    rows.extend(mesh());
    rows.extend(ports());
    rows
}

fn top() -> Vec<Row> {
    vec![
        fine("apiVersion", json!("install.istio.io/v1alpha1")),
        fine("kind", json!("Anything")),
        refused("kind", json!(5)),
        refused("status", json!({})),
        fine("metadata", json!({ "name": "a", "annotations": { "a": "b" }, "creationTimestamp": null })),
        refused("metadata.labels", json!(["a"])),
        refused("metadata.labels.a", json!(5)),
        refused("metadata.creationTimestamp", json!("yesterday")),
        fine(
            "metadata.managedFields",
            json!([{ "fieldsV1": { "f:a": {} }, "time": "2006-01-02T15:04:05Z" }]),
        ),
        refused("spec", json!("demo")),
        refused("spec.profil", json!("demo")),
        fine("spec.profile", json!("no-such-profile")),
        refused("spec.profile", json!(["demo"])),
        fine("spec.unvalidatedValues", json!({ "anything": [1, { "goes": true }] })),
        fine("spec.values", json!(null)),
        refused("spec.values", json!("text")),
        refused("spec.values", json!([])),
        fine("spec.components", json!({})),
        refused("spec.components", json!([])),
        refused("spec.components.proxy", json!({})),
        fine("spec.components.istiodRemote", json!({ "enabled": true })),
        refused("spec.components.pilot.enabled", json!("true")),
        refused("spec.components.base.namespace", json!("a")),
        fine("spec.components.pilot.tag", json!(2)),
        refused("spec.components.pilot.hub", json!(2)),
        refused("spec.components.ingressGateways", json!({ "name": "a" })),
        refused("spec.components.ingressGateways[0].label.a", json!(1)),
        refused("spec.components.pilot.name", json!("a")),
        refused("spec.compatibilityVersion", json!(1.28)),
        fine("spec.compatibilityVersion", json!("1.28")),
    ]
}

fn images_and_names() -> Vec<Row> {
    vec![
        fine("spec.hub", json!("docker.io/istio")),
        fine("spec.hub", json!("localhost:5000/a/b")),
        fine("spec.hub", json!("gcr.io")),
        fine("spec.hub", json!("")),
        refused("spec.hub", json!("docker.io/Istio")),
        refused("spec.hub", json!("docker.io:tag/istio")),
        refused("spec.hub", json!("docker.io/istio:1.2")),
        refused("spec.hub", json!("a b")),
        fine("spec.hub", json!("https://docker.io/istio")),
        refused("spec.hub", json!("user@docker.io/istio")),
        fine("spec.tag", json!("1.31.0-distroless")),
        fine("spec.tag", json!(1.31)),
        fine("spec.tag", json!(999_999)),
        refused("spec.tag", json!(20_261_116)),
        fine("spec.tag", json!(true)),
        refused("spec.tag", json!("")),
        refused("spec.tag", json!("a/b")),
        refused("spec.tag", json!("a:b")),
        refused("spec.tag", json!("x".repeat(129))),
        refused("spec.tag", json!(["1"])),
        fine("spec.revision", json!("1-31-0")),
        fine("spec.revision", json!("Canary")),
        refused("spec.revision", json!("1.31.0")),
        refused("spec.revision", json!("-a")),
        refused("spec.revision", json!("a".repeat(64))),
        refused("spec.components.ingressGateways[0].name", json!("Gateway")),
        refused("spec.components.egressGateways[0].name", json!("a_b")),
        fine("spec.components.egressGateways[0].name", json!("a.b-c")),
        refused("spec.components.egressGateways[0].name", json!("a".repeat(255))),
    ]
}

fn k8s() -> Vec<Row> {
    let k8s = |field: &str| format!("spec.components.pilot.k8s.{field}");
    vec![
        refused(&k8s("affinty"), json!({})),
        fine(
            &k8s("affinity"),
            json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [] } } }),
        ),
        refused(
            &k8s("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"),
            json!({}),
        ),
        fine(
            &k8s("env"),
            json!([{ "name": "A", "value": "1" }, { "name": "B", "valueFrom": { "fieldRef": { "fieldPath": "x" } } }]),
        ),
        refused(&k8s("env[0].value"), json!(1)),
        refused(&k8s("env[0].valueFrom.fieldRef.path"), json!("x")),
        fine(
            &k8s("hpaSpec"),
            json!({ "maxReplicas": 5, "minReplicas": 1, "scaleTargetRef": { "kind": "Deployment", "name": "x" },
            "metrics": [{ "type": "Resource", "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } } }] }),
        ),
        refused(&k8s("hpaSpec.metrics[0].resource.targetAverageUtilization"), json!(80)),
        refused(&k8s("hpaSpec.maxReplicas"), json!("5")),
        refused(&k8s("imagePullPolicy"), json!(true)),
        refused(&k8s("nodeSelector.a"), json!(true)),
        fine(&k8s("podDisruptionBudget"), json!({ "minAvailable": 1, "maxUnavailable": "50%" })),
        refused(&k8s("podDisruptionBudget.minAvailable"), json!(1.5)),
        refused(&k8s("podAnnotations.a"), json!(1)),
        refused(&k8s("priorityClassName"), json!({})),
        fine(
            &k8s("readinessProbe"),
            json!({ "httpGet": { "path": "/", "port": "http" }, "periodSeconds": 3 }),
        ),
        refused(&k8s("readinessProbe.httpGet.port"), json!(true)),
        fine(&k8s("replicaCount"), json!(3)),
        refused(&k8s("replicaCount"), json!(-1)),
        refused(&k8s("replicaCount"), json!("3")),
        fine(
            &k8s("resources"),
            json!({ "requests": { "cpu": "10m", "memory": 1_000_000 }, "limits": { "cpu": 0.5 } }),
        ),
        refused(&k8s("resources.requests.cpu"), json!("10 m")),
        refused(&k8s("resources.requests.cpu"), json!({})),
        refused(&k8s("resources.requests.cpu"), json!("")),
        refused(&k8s("service.ports[0].port"), json!("80")),
        refused(&k8s("service.type"), json!(1)),
        fine(&k8s("strategy"), json!({ "rollingUpdate": { "maxSurge": "100%", "maxUnavailable": 0 } })),
        refused(&k8s("strategy.rollingUpdate.maxSurge"), json!([])),
        fine(&k8s("tolerations"), json!([{ "key": "a", "operator": "Exists", "tolerationSeconds": 5 }])),
        refused(&k8s("tolerations[0].tolerationSeconds"), json!("5")),
        refused(&k8s("serviceAnnotations.a"), json!(null_or_list())),
        fine(&k8s("securityContext"), json!({ "runAsUser": 1337, "fsGroup": 0, "sysctls": [] })),
        refused(&k8s("securityContext.runAsUser"), json!("1337")),
        fine(&k8s("volumes"), json!([{ "name": "a", "emptyDir": { "sizeLimit": "1Gi" } }])),
        refused(&k8s("volumes[0].emptyDirectory"), json!({})),
        refused(&k8s("volumeMounts[0].path"), json!("/")),
        fine(
            &k8s("overlays"),
            json!([{ "kind": "Deployment", "name": "istiod", "patches": [{ "path": "a.b", "value": { "any": 1 } }] }]),
        ),
        refused(&k8s("overlays[0].patches[0].vlue"), json!(1)),
        refused(&k8s("overlays[0].patches"), json!({})),
    ]
}

fn null_or_list() -> Value {
    json!([null])
}

fn values() -> Vec<Row> {
    let v = |field: &str| format!("spec.values.{field}");
    vec![
        refused(&v("gloabl"), json!({})),
        refused(&v("global.proxy.foo"), json!("bar")),
        refused(&v("cni.foo"), json!("bar")),
        fine(&v("global.tag"), json!(1.31)),
        fine(&v("global.tag"), json!({ "any": "thing" })),
        refused(&v("global.hub"), json!(5)),
        fine(&v("global.proxy_init"), json!({ "image": "x" })),
        fine(&v("global.sts.servicePort"), json!("15012")),
        refused(&v("global.sts.servicePort"), json!("many")),
        refused(&v("global.sts.servicePort"), json!(-1)),
        fine(&v("global.proxy.tracer"), json!("zipkin")),
        fine(&v("global.proxy.tracer"), json!(3)),
        refused(&v("global.proxy.tracer"), json!("jaeger")),
        fine(&v("pilot.traceSampling"), json!(1.5)),
        fine(&v("pilot.traceSampling"), json!("1.5")),
        refused(&v("pilot.traceSampling"), json!("much")),
        fine(&v("pilot.keepaliveMaxServerConnectionAge"), json!("30m")),
        refused(&v("pilot.keepaliveMaxServerConnectionAge"), json!("30")),
        refused(&v("pilot.keepaliveMaxServerConnectionAge"), json!(30)),
        fine(&v("pilot.rollingMaxSurge"), json!("25%")),
        fine(&v("pilot.rollingMaxSurge"), json!(1)),
        refused(&v("pilot.rollingMaxSurge"), json!(true)),
        refused(&v("pilot.rollingMaxSurge"), json!(1.5)),
        refused(&v("pilot.env"), json!(["a"])),
        fine(&v("pilot.env"), json!({ "A": 1, "B": [true] })),
        refused(&v("pilot.resources.requests.cpu"), json!(1)),
        fine(&v("gateways.istio-ingressgateway.labels"), json!({ "a": "b" })),
        fine(&v("gateways.istio_ingressgateway.labels"), json!({ "a": "b" })),
        refused(&v("gateways.istio-ingressgateway.labels.a"), json!(1)),
        refused(&v("gateways.istio-ingresgateway"), json!({})),
        refused(&v("base.validationFailurePolicy"), json!("Ignore")),
        fine(&v("ztunnel"), json!({ "whatever": 1 })),
        fine(&v("gatewayClasses"), json!([1])),
        refused(&v("telemetry.enabled"), json!("yes")),
        fine(&v("istio_cni.enabled"), json!(true)),
        fine(&v("istioCni.enabled"), json!(true)),
        refused(&v("revisionTags"), json!("prod")),
        refused(&v("global.resourceScope"), json!("everything")),
        fine(&v("global.resourceScope"), json!("cluster")),
    ]
}

fn proxy() -> Vec<Row> {
    let p = |field: &str| format!("spec.values.global.proxy.{field}");
    vec![
        fine(&p("includeIPRanges"), json!("*")),
        fine(&p("includeIPRanges"), json!("1.1.0.0/16,fd00::/8")),
        refused(&p("includeIPRanges"), json!("*,1.1.0.0/16")),
        refused(&p("includeIPRanges"), json!("1.1.0.0")),
        refused(&p("excludeIPRanges"), json!("3.3.0.0/33")),
        refused(&p("excludeIPRanges"), json!("1.2.3.x/16")),
        refused(&p("excludeIPRanges"), json!("1.1.0.0/16, 2.2.0.0/16")),
        fine(&p("includeInboundPorts"), json!("80,*,,443")),
        refused(&p("includeInboundPorts"), json!("80,http")),
        refused(&p("excludeInboundPorts"), json!("-1")),
        refused(&p("excludeInboundPorts"), json!("65536")),
        fine(&p("excludeOutboundPorts"), json!("not looked at")),
    ]
}

fn kubernetes_in_values() -> Vec<Row> {
    let v = |field: &str| format!("spec.values.{field}");
    vec![
        fine(&v("pilot.tolerations"), json!([{ "key": "a", "operator": "Exists" }])),
        fine(&v("pilot.tolerations"), json!([{ "key": 5, "value": true }])),
        refused(&v("pilot.tolerations[0].keys"), json!("a")),
        refused(&v("pilot.affinity.podAffinty"), json!({})),
        refused(&v("cni.affinity.nodeAffinity"), json!([])),
        refused(&v("cni.seccompProfile.kind"), json!("x")),
        refused(&v("pilot.seccompProfile.type"), json!([])),
        refused(&v("global.proxy.seccompProfile.typ"), json!("x")),
        refused(&v("global.proxy.lifecycle.preStop.exec.command"), json!("sleep")),
        refused(&v("global.defaultTolerations[0].seconds"), json!(1)),
        refused(&v("gateways.istio-egressgateway.tolerations[0].x"), json!(1)),
        refused(&v("gateways.istio-ingressgateway.podAntiAffinityLabelSelector[0].key"), json!("a")),
        refused(&v("sidecarInjectorWebhook.neverInjectSelector[0].matchLabel"), json!({})),
        refused(&v("sidecarInjectorWebhook.alwaysInjectSelector[0].matchLabels"), json!([])),
        refused(&v("pilot.topologySpreadConstraints[0].maxSkew"), json!("one")),
        refused(&v("pilot.volumeMounts[0].path"), json!("/")),
        refused(&v("pilot.volumes[0].hostPath.path"), json!(5)),
        fine(&v("pilot.volumes[0].name"), json!(5)),
        refused(&v("global.waypoint.affinity.x"), json!({})),
        refused_below(
            &v("global.waypoint.nodeSelector"),
            "[\"kubernetes.io/os\"]",
            json!({ "kubernetes.io/os": "linux" }),
        ),
        refused(&v("global.waypoint.toleration[0].x"), json!(1)),
        refused(&v("global.waypoint.topologySpreadConstraints[0].x"), json!(1)),
    ]
}

fn mesh() -> Vec<Row> {
    let m = |field: &str| format!("spec.meshConfig.{field}");
    vec![
        fine("spec.meshConfig", json!({ "accessLogFile": "/dev/stdout", "enableTracing": true })),
        fine("spec.meshConfig", json!(null)),
        refused("spec.meshConfig", json!("text")),
        fine(&m("unheardOf"), json!(1)),
        refused(&m("accessLogFile"), json!(5)),
        refused(&m("connectTimeout"), json!("2h")),
        refused(&m("proxyListenPort"), json!(99_999)),
        refused(&m("trustDomain"), json!("")),
        refused(&m("defaultConfig.proxyAdminPort"), json!(99_999)),
        refused("spec.values.meshConfig.outboundTrafficPolicy.mode", json!("SOME")),
        fine("spec.values.meshConfig.outboundTrafficPolicy.mode", json!("REGISTRY_ONLY")),
    ]
}

fn ports() -> Vec<Row> {
    let ingress = "spec.components.ingressGateways[0].k8s.service.ports";
    let older = "spec.values.gateways.istio-ingressgateway.ingressPorts";
    let root = |name: &str| {
        let mut document = at(ingress, json!([{ "port": 80, "targetPort": 80 }]));
        document["spec"]["values"] = json!({ "gateways": { name: { "runAsRoot": true } } });
        document
    };
    let target = "spec.components.ingressGateways[0].k8s.service.ports[0].targetPort".to_owned();
    vec![
        refused_below(ingress, "[0].targetPort", json!([{ "port": 80 }])),
        refused_below(ingress, "[0].targetPort", json!([{ "port": 1024 }])),
        fine(ingress, json!([{ "port": 1025 }])),
        fine(ingress, json!([{ "port": 80, "targetPort": 1024 }])),
        refused_below(ingress, "[0].targetPort", json!([{ "port": 80, "targetPort": 1023 }])),
        fine(ingress, json!([{ "port": 80, "targetPort": "http" }])),
        Row { document: root("istio-ingressgateway"), refused_at: None },
        Row { document: root("istio-egressgateway"), refused_at: Some(target) },
        refused_below(
            "spec.components.egressGateways[0].k8s.service.ports",
            "[0].targetPort",
            json!([{ "port": 443 }]),
        ),
        refused_below(older, "[0].targetPort", json!([{ "port": 80 }])),
        refused_below(older, "[0].targetPort", json!([{ "port": 80, "targetPort": 90 }])),
        fine(older, json!([{ "port": 80, "targetPort": 8080 }])),
        fine(older, json!([{ "port": "80" }])),
        fine(older, json!([{ "port": 80, "targetPort": "http" }])),
    ]
}

/// Documents that are accepted with warnings, and where.
pub(crate) fn warned() -> Vec<(Value, Vec<&'static str>)> {
    let scaled = json!({ "pilot": { "autoscaleEnabled": true }, "gateways": {
        "istio-ingressgateway": { "autoscaleEnabled": true }, "istio-egressgateway": { "autoscaleEnabled": true } } });
    let gateways = |count: u32| json!([{ "name": "a", "k8s": { "replicaCount": count } }]);
    let components = |count: u32| json!({ "pilot": { "k8s": { "replicaCount": count } }, "ingressGateways": gateways(count), "egressGateways": gateways(count) });
    vec![
        (json!({ "spec": { "values": scaled, "components": components(0) } }), vec![]),
        (
            json!({ "spec": { "values": scaled, "components": components(1) } }),
            vec![
                "spec.components.ingressGateways[0].k8s.replicaCount",
                "spec.components.egressGateways[0].k8s.replicaCount",
            ],
        ),
        (
            json!({ "spec": { "values": scaled, "components": components(2) } }),
            vec![
                "spec.components.pilot.k8s.replicaCount",
                "spec.components.ingressGateways[0].k8s.replicaCount",
                "spec.components.egressGateways[0].k8s.replicaCount",
            ],
        ),
        (json!({ "spec": { "components": components(2) } }), vec![]),
    ]
}

/// Every IstioOperator among the module's profiles and test inputs.
pub(crate) fn of_the_module() -> Vec<(String, Value)> {
    let module = tools::folder("modules/istio").unwrap();
    let mut documents = Vec::new();
    for folder in ["manifests/profiles", "operator/cmd/mesh/testdata", "samples", "operator/samples"] {
        below(&module.join(folder), &mut documents);
    }
    documents
}

fn below(folder: &Path, documents: &mut Vec<(String, Value)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            below(&path, documents);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            let source = Source::new(path.display().to_string(), fs::read(&path).unwrap());
            for document in yaml::load_all(&source, &yaml::Options::KUBERNETES).flatten() {
                if document.value["kind"] == "IstioOperator" {
                    documents.push((path.display().to_string(), document.value));
                }
            }
        }
    }
}
