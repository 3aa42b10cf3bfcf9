//! Real istiod, real Envoys, real redirect rules, and a request through all of it.

use std::net::{IpAddr, SocketAddr};

use http::StatusCode;
use mizzen_testkit::{
    Error, Result,
    apiserver::ApiServer,
    echo::{Answer, Call, Ports, Protocol},
    envoy::{Bootstrap, Envoy},
    istiod::{Istiod, Options},
    needs,
    net::{Net, Workload},
    secrets::{Secrets, spiffe},
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};

const APPLICATION: Ports = Ports { http: 8080, https: 0, tcp: 9000, tls: 0 };

/// Makes a service account and a pod for each workload, and a Service with its endpoints for the one named last; gives
/// the Service's address. Nobody runs the pods: the workload of the same name is what its pod says it is.
async fn describe(server: &ApiServer, namespace: &str, workloads: &[&Workload]) -> Result<IpAddr> {
    let mut objects = Vec::new();
    let mut statuses = Vec::new();
    for workload in workloads {
        let metadata = json!({ "name": workload.name(), "namespace": namespace });
        objects.push(json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata }));
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": { "serviceAccountName": workload.name(), "nodeName": "nowhere",
                "containers": [{ "name": "application", "image": "echo" }] },
        });
        // The second label is the injector's: others may use mutual TLS with it.
        pod["metadata"]["labels"] = json!({ "app": workload.name(), "security.istio.io/tlsMode": "istio" });
        objects.push(pod);
        let address = workload.address();
        statuses.push(json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "status": { "phase": "Running", "podIP": address, "podIPs": [{ "ip": address }],
                "conditions": [{ "type": "Ready", "status": "True" }] },
        }));
    }
    let served = workloads.last().ok_or_else(|| Error::other("no workload"))?;
    let name = served.name();
    objects.push(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": namespace },
        "spec": { "selector": { "app": name }, "ports": [
            { "name": "http", "port": 80, "targetPort": 8080 }, { "name": "tcp", "port": 9000 }] },
    }));
    objects.push(json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": { "name": name, "namespace": namespace, "labels": { "kubernetes.io/service-name": name } },
        "endpoints": [{ "addresses": [served.address()], "conditions": { "ready": true },
            "targetRef": { "kind": "Pod", "name": name, "namespace": namespace } }],
        "ports": [{ "name": "http", "port": 8080 }, { "name": "tcp", "port": 9000 }],
    }));
    let list = |items: Vec<Value>| json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    server.apply(&list(objects)).await?;
    let words = ["apply", "--server-side", "--subresource=status", "-f", "-"];
    server.kubectl_reading(&list(statuses), &words).await?;
    let words = ["get", "service", name, "-n", namespace, "-o", "jsonpath={.spec.clusterIP}"];
    server.kubectl(&words).await?.parse().map_err(Error::other)
}

/// The bootstrap of a workload's sidecar, before it is told of a control plane.
fn bootstrap(secrets: &Secrets, namespace: &str, workload: &Workload) -> Result<Bootstrap> {
    let name = workload.name();
    Ok(Bootstrap::sidecar(workload.address(), name, namespace)
        .service_account(name)
        .labels([("app", name)])
        .secrets(&secrets.service_account(namespace, name)?))
}

async fn sidecar(workload: &Workload, bootstrap: Bootstrap) -> Result<Envoy> {
    workload.redirect().await?;
    let envoy = workload.envoy(bootstrap).await?;
    envoy.wait_configured().await?;
    Ok(envoy)
}

/// Sets how a namespace wants to be talked to.
async fn mutual_tls(server: &ApiServer, namespace: &str, mode: &str) -> Result<()> {
    let policy = json!({
        "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
        "metadata": { "name": "default", "namespace": namespace }, "spec": { "mtls": { "mode": mode } },
    });
    server.apply(&policy.to_string()).await.map(|_| ())
}

/// Asks until there is an answer: istiod may not have heard of the endpoints yet.
async fn answered(workload: &Workload, call: &Call) -> Result<Answer> {
    let ask = async || Seen::from_result(workload.client().ask(call).await);
    wait::until("an answer through the mesh", PATIENCE, ask).await
}

#[tokio::test]
async fn a_request_goes_through_both_sidecars_with_mutual_tls() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let server = ApiServer::shared().await;
    let istiod = Istiod::start(server, Options::default()).await?;
    let namespace = server.namespace("mesh").await?;
    mutual_tls(server, &namespace, "STRICT").await?;

    let net = Net::start()?;
    let (client, cart, plain) = (net.workload("client")?, net.workload("cart")?, net.workload("plain")?);
    let address = describe(server, &namespace, &[&client, &cart]).await?;
    let _application = cart.echo("v1", APPLICATION)?;

    let secrets = Secrets::start()?;
    let discovery = net.relay(istiod.discovery())?;
    let near = sidecar(&client, bootstrap(&secrets, &namespace, &client)?.control_plane(discovery)).await?;
    let far = sidecar(&cart, bootstrap(&secrets, &namespace, &cart)?.control_plane(discovery)).await?;

    let host = format!("cart.{namespace}.svc.cluster.local");
    let outbound = format!("cluster.outbound|80||{host}");
    let call = Call::to(SocketAddr::new(address, 80)).host("cart").path("/items");
    let answer = answered(&client, &call).await?;
    assert_eq!((answer.path.as_str(), answer.version.as_str()), ("/items", "v1"));
    let certified = answer.header("x-forwarded-client-cert").unwrap_or_default().to_owned();
    assert!(certified.contains(&format!("By={}", spiffe(&namespace, "cart"))), "{certified}");
    assert!(certified.contains(&format!("URI={}", spiffe(&namespace, "client"))), "{certified}");
    assert_eq!(answer.peer.ip().to_string(), "127.0.0.6", "the application is called by its own sidecar");

    let sent = near.admin().stats().await?;
    assert_eq!(sent.of(&outbound, "upstream_rq_200"), 1);
    assert!(sent.of(&outbound, "ssl.handshake") >= 1);
    let received = far.admin().stats().await?;
    assert!(received.of("listener.0.0.0.0_15006", "ssl.handshake") >= 1);
    assert_eq!(received.of("cluster.inbound|8080||", "upstream_rq_200"), 1);

    // The same by a protocol that proxies do not look into.
    let line = Call::to(SocketAddr::new(address, 9000)).over(Protocol::Tcp).body("hello");
    assert_eq!(answered(&client, &line).await?.body, "hello");
    let sent = near.admin().stats().await?;
    assert!(sent.of(&format!("cluster.outbound|9000||{host}"), "ssl.handshake") >= 1);

    // Who has no identity is not let in, by the same address that the client's sidecar used.
    let in_the_clear = Call::to(cart.at(8080)).host("cart");
    let refused = plain.client().call(&in_the_clear).await;
    assert!(refused.is_err(), "{refused:?}");
    let received = far.admin().stats().await?;
    assert_eq!(received.of("cluster.inbound|8080||", "upstream_rq_200"), 1, "the application heard nothing");

    // It was the policy that refused, and its change reaches the proxy.
    mutual_tls(server, &namespace, "PERMISSIVE").await?;
    let answer = answered(&plain, &in_the_clear).await?;
    assert_eq!(answer.header("x-forwarded-client-cert"), None);

    let dump = istiod.config_dump("cart", &namespace).await?;
    assert!(dump.to_string().contains("virtualInbound"));
    let synced = istiod.debug("syncz").await?;
    assert!(synced.to_string().contains(&format!("client.{namespace}")), "{synced}");
    Ok(())
}

#[tokio::test]
async fn an_unknown_service_is_answered_by_the_sidecar() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let server = ApiServer::shared().await;
    let registry_only = json!({ "outboundTrafficPolicy": { "mode": "REGISTRY_ONLY" } });
    let istiod = Istiod::start(server, Options { mesh_config: registry_only, ..Options::default() }).await?;
    let namespace = server.namespace("closed").await?;
    let net = Net::start()?;
    let (client, cart) = (net.workload("client")?, net.workload("cart")?);
    let address = describe(server, &namespace, &[&client, &cart]).await?;
    let secrets = Secrets::start()?;
    let told = bootstrap(&secrets, &namespace, &client)?;
    let told = told.control_plane_state_of_the_world(net.relay(istiod.discovery())?);
    let _near = sidecar(&client, told).await?;

    let call = Call::to(SocketAddr::new(address, 80)).host("nobody");
    // The sidecar may have been there before istiod knew the Service.
    wait::until("the mesh configuration to be in force", PATIENCE, async || {
        match client.client().call(&call).await {
            Ok(reply) => Seen::when(reply.status == StatusCode::BAD_GATEWAY, || reply.status.to_string()),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
}

#[tokio::test]
async fn a_pod_of_a_labelled_namespace_comes_back_with_a_sidecar() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Istiod::INJECTION_NEEDS);
    let server = ApiServer::shared().await;
    let (marked, other) = (server.namespace("marked").await?, server.namespace("other").await?);
    server.kubectl(&["label", "namespace", &marked, "istio-injection=enabled"]).await?;

    let containers = async |name: &str, namespace: &str| -> Result<Vec<String>> {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": namespace },
            "spec": { "containers": [{ "name": "application", "image": "echo" }] },
        });
        let words = ["create", "-o", "json", "-f", "-"];
        let made: Value = serde_json::from_str(&server.kubectl_reading(&pod.to_string(), &words).await?)
            .map_err(Error::other)?;
        let lists = [&made["spec"]["initContainers"], &made["spec"]["containers"]];
        let all = lists.into_iter().filter_map(Value::as_array).flatten();
        Ok(all.filter_map(|container| container["name"].as_str().map(str::to_owned)).collect())
    };
    {
        let _istiod = Istiod::start(server, Options { injection: true, ..Options::default() }).await?;
        let mut injected = containers("cart", &marked).await?;
        injected.sort();
        assert_eq!(injected, ["application", "istio-init", "istio-proxy"]);
        assert_eq!(containers("cart", &other).await?, ["application"], "its namespace did not ask for it");
    }
    assert_eq!(containers("late", &marked).await?, ["application"], "the webhook went with istiod");
    Ok(())
}
