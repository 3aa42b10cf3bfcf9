//! The operator for the `Istio` resource against a real cluster. Pods run no process there, so this binary is started beside it.
//! Tests have the names of the acceptance scenarios that they are.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "what people see is shown")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, SAMPLE, condition, resource};
use mizzen_testkit::{
    Controllers, Result, needs,
    wait::{PATIENCE, Seen},
};
use operated::{DEPLOYMENT, image, kind, page, passes};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

const HOME: &str = "kyma-system";
const DEFAULT: (&str, &str) = (HOME, "istio-sample");

/// The sample of the document applied: Ready; deleted: gone. Between the two, K-INST-3, K-INST-4 and K-INST-5.
#[tokio::test(flavor = "multi_thread")]
async fn k_inst_3_4_5_the_sample_becomes_a_mesh_and_other_resources_do_not() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, port) = kyma.operator(&[]);
    site.server.apply(SAMPLE).await?;
    let status = kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;

    // What the status says.
    assert_eq!(status["observedGeneration"], 1);
    assert_eq!(status["installedVersion"], "0.1.0", "{status}");
    assert_eq!(status.get("description"), None);
    let components: Vec<(&str, &str)> = status["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|component| (component["name"].as_str().unwrap(), component["phase"].as_str().unwrap()))
        .collect();
    assert_eq!(components, [("Base", "Ready"), ("Pilot", "Ready"), ("IngressGateways", "Ready")]);
    assert_eq!(condition(&status, "Ready")["status"], "True");
    assert_eq!(condition(&status, "IngressTargetingUserResourceFound")["status"], "False");
    let agents = condition(&status, "CNIInstalled");
    assert_eq!((&agents["status"], &agents["reason"]), (&json!("False"), &json!("CNINotInDistribution")));
    println!("{}", here.kubectl("get istios -n kyma-system").await?);
    println!("{}", here.kubectl("describe istio istio-sample -n kyma-system").await?);

    // What was asked for is there, and marked.
    let map = here.get(("", "ConfigMap"), "istio-system", "istio").await.unwrap();
    let mesh = map["data"]["mesh"].as_str().unwrap();
    assert!(mesh.contains("numTrustedProxies: 1"), "{mesh}");
    let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    assert_eq!(image(&istiod), "mizzen/mizzen:0.1.0", "the one that `mizzen install` installs");
    assert_eq!(istiod["metadata"]["labels"]["kyma-project.io/module"], "istio");
    assert_eq!(istiod["spec"]["template"]["metadata"]["labels"]["kyma-project.io/module"], "istio");
    assert!(here.get(("apps", "DaemonSet"), "istio-system", "istio-cni-node").await.is_none());
    let namespace = here.get(("", "Namespace"), "", "istio-system").await.unwrap();
    assert_eq!(namespace["metadata"]["labels"]["namespaces.warden.kyma-project.io/validate"], "enabled");
    let disclaimer =
        &namespace["metadata"]["annotations"]["istios.operator.kyma-project.io/managed-by-disclaimer"];
    assert!(disclaimer.as_str().unwrap().starts_with("DO NOT EDIT"), "{disclaimer}");
    let sample = kyma.get(HOME, "istio-sample").await.unwrap();
    let applied = &sample["metadata"]["annotations"]["operator.kyma-project.io/lastAppliedConfiguration"];
    let applied: Value = serde_json::from_str(applied.as_str().unwrap()).unwrap();
    assert_eq!(applied, json!({ "config": { "numTrustedProxies": 1 }, "IstioTag": "0.1.0" }));
    assert_eq!(
        sample["metadata"]["finalizers"],
        json!(["istios.operator.kyma-project.io/istio-installation"])
    );

    // K-INST-3: managed resources.
    let peer = ("security.istio.io", "PeerAuthentication");
    let strict = here.get(peer, "istio-system", "default").await.unwrap();
    assert_eq!(strict["spec"]["mtls"]["mode"], "STRICT");
    assert_eq!(strict["metadata"]["labels"]["app.kubernetes.io/version"], "0.1.0");
    here.kubectl("delete peerauthentication default -n istio-system").await?;
    let again =
        async || Seen::from_option(here.get(peer, "istio-system", "default").await, || "none".to_owned());
    operator.until("the PeerAuthentication again", PATIENCE, again).await?;
    let edit = r#"{"spec":{"mtls":{"mode":"PERMISSIVE"}}}"#;
    site.server
        .kubectl(&[
            "patch",
            "peerauthentication",
            "default",
            "-n",
            "istio-system",
            "--type=merge",
            "-p",
            edit,
        ])
        .await?;
    let repaired = async || {
        let mode =
            here.get(peer, "istio-system", "default").await.unwrap_or_default()["spec"]["mtls"]["mode"]
                .clone();
        Seen::when(mode == "STRICT", || mode.to_string())
    };
    operator.until("the mode to be repaired", PATIENCE, repaired).await?;

    here.until_scaled().await?;
    kyma.look(&operator).await?;
    here.kubectl("delete configmap istio-features -n kyma-system --ignore-not-found").await?;

    // Left alone it does nothing, and a look at it writes nothing.
    let settled = async || {
        let before = passes(port).await;
        sleep(Duration::from_secs(3)).await;
        let after = passes(port).await;
        Seen::when(before == after, || format!("{before}, then {after}"))
    };
    operator.until("no pass without a cause", PATIENCE, settled).await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;
    let versions = site.versions().await;
    let version = |resource: Option<Value>| resource.unwrap()["metadata"]["resourceVersion"].clone();
    let sample = version(kyma.get(HOME, "istio-sample").await);
    let before = passes(port).await;
    here.kubectl("create configmap istio-features -n kyma-system --from-literal=features={}").await?;
    let passed = async || {
        let now = passes(port).await;
        Seen::when(now != before, || now)
    };
    operator.until("another look", PATIENCE, passed).await?;
    sleep(Duration::from_secs(1)).await;
    here.kubectl("delete configmap istio-features -n kyma-system").await?;
    assert_eq!(site.versions().await, versions);
    assert_eq!(version(kyma.get(HOME, "istio-sample").await), sample);

    // K-INST-4: in another namespace.
    site.server.apply(&resource("default", "elsewhere", "{}")).await?;
    let status = kyma.says(&operator, ("default", "elsewhere"), "Error", "ReconcileFailed").await?;
    assert_eq!(
        status["description"],
        "Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace"
    );
    assert_eq!(condition(&status, "Ready")["status"], "False");
    here.kubectl("delete istio elsewhere -n default --timeout=30s").await?;

    // K-INST-5: a second one.
    site.server.apply(&resource(HOME, "second", "{}")).await?;
    let status = kyma.says(&operator, (HOME, "second"), "Warning", "OlderCRExists").await?;
    assert_eq!(
        status["description"],
        "Stopped Istio CR reconciliation: only Istio CR istio-sample in kyma-system reconciles the module"
    );
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;
    here.kubectl("delete istio second -n kyma-system --timeout=30s").await?;

    // Deleted it is gone, and nothing of it is left.
    here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "istio-sample").await?;
    kyma.until_no_namespace().await?;
    let log = operator.log();
    let refused: Vec<&str> = log.lines().filter(|line| line.contains("forbidden")).collect();
    assert!(refused.is_empty(), "it lacks a right: {refused:#?}");
    let left: Vec<String> = site.objects().await.into_keys().collect();
    assert!(
        left.iter()
            .all(|key| !key.contains("istio.io") && !key.contains("istiod") && !key.contains("inventory")),
        "{left:?}"
    );
    Ok(())
}

/// A resource that is not as it should be says so, and what is there stays.
#[tokio::test(flavor = "multi_thread")]
async fn k_uni_2_deletion_waits_for_what_people_have_made() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&[]);

    // Bad ones first: nothing is installed for them.
    let authorizers = "{ config: { authorizers: [{ name: a, port: 1 }, { name: a, port: 2 }] } }";
    site.server.apply(&resource(HOME, "default", authorizers)).await?;
    let status = kyma.says(&operator, (HOME, "default"), "Warning", "ValidationFailed").await?;
    assert_eq!(status["description"], "Authorizer name needs to be unique: a is duplicated");
    let bad = [
        (
            "{ config: { proxyStatsMatcher: { inclusionRegexps: ['('] } } }",
            "Error",
            "ValidationFailed",
            "invalid regular expression",
        ),
        (
            "{ experimental: { enableAmbient: true } }",
            "Error",
            "ReconcileUnknown",
            "Experimental features are not supported",
        ),
        (
            "{ config: { authorizers: [{ name: a, port: 1, timeout: soon }] } }",
            "Error",
            "IstioCustomResourceMisconfigured",
            "authorizers[0].timeout",
        ),
        (
            "{ mizzen: { distribution: istio } }",
            "Error",
            "IstioCustomResourceMisconfigured",
            "--istio-manifests",
        ),
    ];
    for (spec, state, reason, words) in bad {
        site.server.apply(&resource(HOME, "default", spec)).await?;
        let status = kyma.says(&operator, (HOME, "default"), state, reason).await?;
        assert!(status["description"].as_str().unwrap().contains(words), "{status}");
    }
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_none());

    // One whose wishes cannot all be granted works, and says so.
    let features = async |text: &str| {
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio-features", "namespace": HOME },
            "data": { "features": text },
        });
        site.server.apply(&map.to_string()).await
    };
    features(r#"{"disableCni":"#).await?;
    site.server.apply(&resource(HOME, "default", "{ components: { cni: { k8s: {} } } }")).await?;
    let status = kyma.says(&operator, (HOME, "default"), "Warning", "ReconcileFailed").await?;
    let description = status["description"].as_str().unwrap();
    assert!(
        description.contains("spec.mizzen.distribution: istio") && description.contains("istio-features"),
        "{description}"
    );
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    features(r#"{"enableControlPlaneVPA":true}"#).await?;
    let told = async || {
        let status = kyma.get(HOME, "default").await.unwrap_or_default()["status"].clone();
        let sentence = condition(&status, "AllWishesGranted")["message"].to_string();
        Seen::when(sentence.contains("enableControlPlaneVPA"), || status.to_string())
    };
    operator.until("the wish that is not granted yet", PATIENCE, told).await?;
    here.kubectl("delete configmap istio-features -n kyma-system").await?;
    site.server.apply(&resource(HOME, "default", "{ compatibilityMode: false }")).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;

    // Somebody's EnvoyFilter at the gateway is told.
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "mine", "namespace": "istio-system" },
        "spec": { "workloadSelector": { "labels": { "istio": "ingressgateway" } }, "configPatches": [] },
    });
    site.server.apply(&filter.to_string()).await?;
    site.server.apply(&resource(HOME, "default", "{ config: { numTrustedProxies: 2 } }")).await?;
    let status = kyma.says(&operator, (HOME, "default"), "Warning", "ReconcileFailed").await?;
    assert_eq!(condition(&status, "IngressTargetingUserResourceFound")["status"], "True");
    assert!(status["description"].as_str().unwrap().contains("istio-system/mine"), "{status}");
    here.kubectl("delete envoyfilter mine -n istio-system").await?;

    // A version that may not follow the one that is there is refused, and what is there stays.
    let further = json!({ "config": { "numTrustedProxies": 3 } });
    let status = kyma.refuses_to_follow(&operator, (HOME, "default"), "0.3.0", &further).await?;
    assert!(status["description"].as_str().unwrap().contains("downgrade not supported"), "{status}");
    let map = here.get(("", "ConfigMap"), "istio-system", "istio").await.unwrap();
    assert!(map["data"]["mesh"].as_str().unwrap().contains("numTrustedProxies: 2"), "{map}");

    // K-UNI-2: somebody's DestinationRule. Deletion asks for no version.
    let rule = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": { "name": "mine", "namespace": "default" }, "spec": { "host": "somewhere" },
    });
    site.server.apply(&rule.to_string()).await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    let status = kyma.says(&operator, (HOME, "default"), "Warning", "IstioCustomResourcesDangling").await?;
    let description = status["description"].as_str().unwrap();
    assert!(
        description
            .starts_with("There are Istio resources that block deletion: DestinationRule default/mine"),
        "{description}"
    );
    let definition = ("apiextensions.k8s.io", "CustomResourceDefinition");
    assert!(here.get(definition, "", "destinationrules.networking.istio.io").await.is_some());
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    // The youngest of Istio's kinds is one of them.
    let extension = json!({
        "apiVersion": "extensions.istio.io/v1alpha1", "kind": "TrafficExtension",
        "metadata": { "name": "mine", "namespace": "default" }, "spec": { "lua": { "inlineCode": "x = 1" } },
    });
    site.server.apply(&extension.to_string()).await?;
    here.kubectl("delete destinationrule mine -n default").await?;
    let held = async || {
        let status = kyma.get(HOME, "default").await.unwrap_or_default()["status"].clone();
        Seen::when(status["description"].to_string().contains("TrafficExtension default/mine"), || {
            status.to_string()
        })
    };
    // What is blocked is looked at once a minute.
    operator.until("the extension to be told", PATIENCE * 2, held).await?;
    // What people keep in the mesh's namespace does not hold its mesh up, and is not lost with it.
    here.kubectl("create secret generic mine -n istio-system --from-literal=certificate=mine").await?;
    here.kubectl("delete trafficextension mine -n default").await?;
    kyma.until_gone(&operator, "default").await?;
    assert!(here.get(definition, "", "destinationrules.networking.istio.io").await.is_none());
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_none());
    let namespace = here.get(("", "Namespace"), "", "istio-system").await.unwrap();
    assert_eq!(namespace["metadata"].get("deletionTimestamp"), None);
    let events =
        here.kubectl("get events -n kyma-system --field-selector reason=NamespaceKept -o json").await?;
    let events: Value = serde_json::from_str(&events).unwrap();
    assert_eq!(
        events["items"][0]["message"],
        "the mesh is gone, and the namespace istio-system stays: Secret istio-system/mine is in it"
    );
    assert_eq!(events["items"][0]["involvedObject"]["kind"], "Istio");

    let marks =
        namespace["metadata"]["annotations"].to_string() + &namespace["metadata"]["labels"].to_string();
    assert!(!marks.contains("kyma-project.io"), "nobody looks after it any more: {marks}");

    // The same where the Secret is made of something that the operator cannot see.
    site.server.apply(&kind("bitnami.com", "SealedSecret")).await?;
    here.kubectl("wait --for=condition=Established crd sealedsecrets.bitnami.com --timeout=60s").await?;
    let sealed = json!({
        "apiVersion": "bitnami.com/v1", "kind": "SealedSecret",
        "metadata": { "name": "mine", "namespace": "istio-system" },
    });
    site.server.apply(&sealed.to_string()).await?;
    let sealed = here.get(("bitnami.com", "SealedSecret"), "istio-system", "mine").await.unwrap();
    let owner = json!([{ "op": "add", "path": "/metadata/ownerReferences", "value": [{
        "apiVersion": "bitnami.com/v1", "kind": "SealedSecret", "name": "mine", "uid": sealed["metadata"]["uid"],
    }] }]);
    site.server
        .kubectl(&["patch", "secret", "mine", "-n", "istio-system", "--type=json", "-p", &owner.to_string()])
        .await?;
    site.server.apply(&resource(HOME, "default", "{}")).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    assert!(here.get(("", "Secret"), "istio-system", "mine").await.is_some());

    // Without it the namespace goes as well; what is left of a release of Helm's is nobody's.
    site.server.apply(&resource(HOME, "default", "{}")).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    here.kubectl("delete sealedsecret mine -n istio-system").await?;
    here.kubectl("wait --for=delete secret/mine -n istio-system --timeout=120s").await?;
    here.kubectl(
        "create secret generic sh.helm.release.v1.istiod.v1 -n istio-system --type=helm.sh/release.v1",
    )
    .await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await
}

/// What restarts the gateway restarts it once; network policies come and go with the wish for them.
#[tokio::test(flavor = "multi_thread")]
async fn k_rst_1_2_3_k_np_1_2_3_k_ext_1_a_changed_spec_restarts_the_gateway_and_policies_come_and_go()
-> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, port) = kyma.operator(&[]);
    let gateway =
        async || here.get(DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap_or_default();
    let restarted = |gateway: &Value| {
        let annotations = &gateway["spec"]["template"]["metadata"]["annotations"];
        (
            annotations["istio-operator.kyma-project.io/restartedAt"].clone(),
            annotations["mizzen.io/restarted-for"].clone(),
        )
    };
    let policies = async || {
        let all =
            here.cluster.list("networking.k8s.io", "NetworkPolicy", "kyma-project.io/module=istio").await;
        let all = all.unwrap();
        for policy in &all {
            assert_eq!(policy["metadata"]["labels"]["kyma-project.io/managed-by"], "kyma", "{policy}");
            assert!(
                !policy["spec"]["podSelector"]["matchLabels"].as_object().unwrap().is_empty(),
                "{policy}"
            );
            let rules = ["ingress", "egress"].map(|way| policy["spec"][way].as_array().map_or(0, Vec::len));
            assert!(rules.iter().sum::<usize>() > 0, "{policy}");
        }
        let names = all.iter().map(|policy| policy["metadata"]["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    site.server.apply(&resource(HOME, "default", "{ compatibilityMode: false }")).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    assert_eq!(restarted(&gateway().await).1, Value::Null, "it has just started");
    assert_eq!(policies().await, Vec::<String>::new(), "K-NP-1");

    let configs = [
        ("K-RST-1", "numTrustedProxies: 1"),
        ("K-RST-2", "numTrustedProxies: 1, trustDomain: my.domain"),
        ("K-RST-3", "numTrustedProxies: 1, trustDomain: my.domain, forwardClientCertDetails: SANITIZE"),
    ];
    for (scenario, config) in configs {
        let before = gateway().await;
        site.server.apply(&resource(HOME, "default", &format!("{{ config: {{ {config} }} }}"))).await?;
        kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
        let after = gateway().await;
        assert!(restarted(&after).0.is_string() && restarted(&after).1 != restarted(&before).1, "{scenario}");
        let number = |deployment: &Value| deployment["metadata"]["generation"].as_i64().unwrap();
        assert!(number(&after) > number(&before), "{scenario}");
    }

    // The seven policies are there, then they are not; both hold at once, because everything is restarted.
    let config = configs[2].1;
    for (scenario, on, count) in [("K-NP-2", true, 7), ("K-NP-3", false, 0)] {
        let spec = format!("{{ config: {{ {config} }}, networkPoliciesEnabled: {on} }}");
        site.server.apply(&resource(HOME, "default", &spec)).await?;
        let status = kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
        assert_eq!(condition(&status, "NetworkPoliciesApplied")["status"] == "True", on, "{scenario}");
        assert_eq!(policies().await.len(), count, "{scenario}");
        let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
        for part in [gateway().await, istiod] {
            let mark =
                &part["spec"]["template"]["metadata"]["annotations"]["mizzen.io/restarted-for-policies"];
            assert_eq!(*mark, format!("networkPoliciesEnabled is {on}"), "{scenario}");
        }
    }

    // K-EXT-1: what the authorizers are, as metrics.
    let authorizer = "{ name: a, service: a.example, port: 80, pathPrefix: /check, timeout: 2s }";
    let spec = format!("{{ config: {{ {config}, authorizers: [{authorizer}] }} }}");
    site.server.apply(&resource(HOME, "default", &spec)).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    let metrics = page(port, "/metrics").await;
    for what in ["providers_total", "timeout_configured_number_total", "path_prefix_configured_number_total"]
    {
        assert!(metrics.contains(&format!("\nistio_ext_auth_{what} 1\n")), "{what}: {metrics}");
    }

    // Another change restarts nothing. Where the cluster has vertical autoscalers, there are some.
    let before = restarted(&gateway().await);
    site.server.apply(&kind("autoscaling.k8s.io", "VerticalPodAutoscaler")).await?;
    here.kubectl(
        "wait --for=condition=Established crd verticalpodautoscalers.autoscaling.k8s.io --timeout=60s",
    )
    .await?;
    let features = r#"--from-literal=features={"enableControlPlaneVPA":true}"#;
    here.kubectl(&format!("create configmap istio-features -n kyma-system {features}")).await?;
    let autoscalers = async |count: usize| {
        let probe = async || {
            here.cluster.look().await.unwrap();
            let all = here.cluster.list("autoscaling.k8s.io", "VerticalPodAutoscaler", "").await.unwrap();
            Seen::when(all.len() == count, || all.len().to_string())
        };
        operator.until(&format!("{count} vertical autoscalers"), PATIENCE, probe).await
    };
    autoscalers(5).await?;
    here.kubectl("delete configmap istio-features -n kyma-system").await?;
    autoscalers(1).await?;
    assert_eq!(restarted(&gateway().await), before);
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    autoscalers(0).await
}

/// With upstream's charts there are node agents, too.
#[tokio::test(flavor = "multi_thread")]
async fn k_inst_2_k_inst_6_k_cfg_3_upstreams_distribution_with_numbers_of_ones_own_is_kept() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio"]);
    let flag = format!("--istio-manifests {}", site::upstream().display());
    let kyma = Kyma::start_with(&flag).await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&flag.split(' ').collect::<Vec<_>>());
    let settings = |cpu: &str| {
        format!(
            "{{ k8s: {{ resources: {{ limits: {{ cpu: {cpu}, memory: 1200Mi }}, requests: {{ cpu: 15m, memory: 200Mi }} }} }} }}"
        )
    };
    let egress = settings("900m").replace("{ k8s", "{ enabled: true, k8s");
    let components = format!(
        "{{ pilot: {}, ingressGateway: {}, egressGateway: {egress} }}",
        settings("1100m"),
        settings("1500m")
    );
    let spec = format!("{{ components: {components}, mizzen: {{ distribution: istio }} }}");
    site.server.apply(&resource(HOME, "default", &spec)).await?;
    let status = kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    assert_eq!(condition(&status, "CNIInstalled"), Value::Null, "{status}");
    let definitions = here
        .cluster
        .list("apiextensions.k8s.io", "CustomResourceDefinition", "kyma-project.io/module=istio")
        .await
        .unwrap();
    let groups = definitions
        .iter()
        .filter(|one| one["spec"]["group"].as_str().unwrap().ends_with(".istio.io"))
        .count();
    assert!(groups >= 14, "{groups}");
    for (name, cpu) in
        [("istiod", "1100m"), ("istio-ingressgateway", "1500m"), ("istio-egressgateway", "900m")]
    {
        let deployment = here.get(DEPLOYMENT, "istio-system", name).await.unwrap();
        let resources = &deployment["spec"]["template"]["spec"]["containers"][0]["resources"];
        assert_eq!(resources["limits"], json!({ "cpu": cpu, "memory": "1200Mi" }), "{name}");
        assert_eq!(resources["requests"], json!({ "cpu": "15m", "memory": "200Mi" }), "{name}");
    }
    // Only the switch of the node agents is ours: the profile's numbers are theirs still.
    let agents = ("apps", "DaemonSet");
    let set = here.get(agents, "istio-system", "istio-cni-node").await.unwrap();
    let resources = &set["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert_eq!(resources["requests"], json!({ "cpu": "100m", "memory": "512Mi" }));
    assert_eq!(set["spec"]["template"]["metadata"]["labels"]["kyma-project.io/module"], "istio");

    let budget = async |name: &str| {
        here.get(("policy", "PodDisruptionBudget"), "istio-system", name).await.unwrap()["spec"].clone()
    };
    assert_eq!(budget("istiod").await["minAvailable"], 1);
    assert_eq!(budget("istio-ingressgateway").await["maxUnavailable"], 1);

    // K-INST-6: what is deleted comes again; and so it does when the resource is changed meanwhile.
    here.kubectl("delete deployment istiod istio-ingressgateway -n istio-system").await?;
    here.kubectl("delete daemonset istio-cni-node -n istio-system").await?;
    here.kubectl("delete peerauthentication default -n istio-system").await?;
    let changed = spec.replacen("{ components", "{ config: { numTrustedProxies: 1 }, components", 1);
    site.server.apply(&resource(HOME, "default", &changed)).await?;
    let again = async || {
        let mut missing = Vec::new();
        let peer = ("security.istio.io", "PeerAuthentication");
        for (kind, name) in [
            (DEPLOYMENT, "istiod"),
            (DEPLOYMENT, "istio-ingressgateway"),
            (agents, "istio-cni-node"),
            (peer, "default"),
        ] {
            if here.get(kind, "istio-system", name).await.is_none() {
                missing.push(name);
            }
        }
        Seen::when(missing.is_empty(), || format!("{missing:?}"))
    };
    operator.until("all of them again", PATIENCE, again).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await
}

#[tokio::test(flavor = "multi_thread")]
async fn k_uni_3_a_resource_whose_mesh_was_purged_by_hand_goes() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&[]);
    site.server.apply(&resource(HOME, "default", "{}")).await?;
    kyma.says(&operator, (HOME, "default"), "Ready", "ReconcileSucceeded").await?;
    operator.kill();
    site.mizzen("uninstall --purge -y").await.well();
    here.kubectl("delete namespace istio-system --timeout=60s").await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    let (operator, _) = kyma.operator(&[]);
    kyma.until_gone(&operator, "default").await?;
    let left: Vec<String> = site.objects().await.into_keys().collect();
    assert!(left.iter().all(|key| !key.contains("istiod") && !key.contains("inventory")), "{left:?}");
    Ok(())
}
