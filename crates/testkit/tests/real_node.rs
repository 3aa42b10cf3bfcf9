//! A real node: pods run, with rules, sidecars and probes; services have addresses; webhooks are called.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use k8s_openapi::api::core::v1::{ConfigMap, ContainerStatus, Pod, Service};
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use mizzen_image::Image;
use mizzen_testkit::{
    Error, Node, Result, needs,
    node::images,
    pki::Leaf,
    wait::{PATIENCE, Seen, until},
    webhook,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::OnceCell,
};

const NEEDS: &[&str] = &["envoy", "pilot-agent", "echo-server", "echo-client"];

/// One node for all tests here; each has a namespace of its own.
async fn node() -> &'static Node {
    static NODE: OnceCell<Node> = OnceCell::const_new();
    let start = || async { Node::start_with(vec![images::proxy()?, images::echo()?]).await };
    NODE.get_or_try_init(start).await.expect("a node")
}

/// Runs the echo client in a pod until it gets through; what it printed.
async fn ask(node: &Node, namespace: &str, pod: &str, url: &str) -> Result<String> {
    let words = ["exec", "-n", namespace, pod, "-c", "app", "--", "/usr/local/bin/client", url];
    until(&format!("{url} to answer"), PATIENCE, async || {
        let said = node.kubectl(&words).await;
        match said {
            Ok(text) if text.contains("StatusCode=200") => Seen::Done(text),
            Ok(text) => Seen::NotYet(text),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
}

/// One request from the node itself.
async fn get(node: &Node, address: SocketAddr) -> Result<String> {
    let mut stream = node.netns().connect(address).await?;
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).await.map_err(Error::other)?;
    stream.read_to_string(&mut answer).await.map_err(Error::other)?;
    Ok(answer)
}

/// The state of one container of a pod, whichever list it stands in.
async fn container(pods: &Api<Pod>, pod: &str, name: &str) -> Result<ContainerStatus> {
    let status = pods.get(pod).await?.status.unwrap_or_default();
    let lists = [status.init_container_statuses, status.container_statuses];
    let found = lists.into_iter().flatten().flatten().find(|status| status.name == name);
    found.ok_or_else(|| Error::other(format_args!("pod {pod} has no container {name}")))
}

#[tokio::test]
async fn a_request_from_pod_to_pod_goes_through_both_sidecars_and_is_counted() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("mesh").await?;
    let bootstrap = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "envoy", "namespace": "mesh" },
        "data": { "envoy.yaml": include_str!("real_node/envoy.yaml") },
    });
    node.apply(&bootstrap.to_string()).await?;
    for name in ["server", "client"] {
        node.apply(&include_str!("real_node/pod.yaml").replace("@NAME@", name)).await?;
    }
    for pod in ["pod/server", "pod/client"] {
        node.wait("mesh", pod, "Ready").await?;
    }

    let answer = ask(node, "mesh", "client", "http://server/asked").await?;
    for header in ["X-Outbound-Envoy:yes", "X-Inbound-Envoy:yes"] {
        assert!(answer.contains(&format!("RequestHeader={header}")), "{answer}");
    }
    for (pod, side) in [("client", "outbound"), ("server", "inbound")] {
        let statistic = format!("vhost.{side}.vcluster.asked.upstream_rq_200");
        let path = format!("stats?filter={statistic}");
        let words = ["/usr/local/bin/pilot-agent", "request", "GET", &path];
        let exec = [&["exec", "-n", "mesh", pod, "-c", "istio-proxy", "--"][..], &words].concat();
        // pilot-agent may complain first of what it did not find.
        let said = node.kubectl(&exec).await?;
        assert_eq!(said.trim().lines().last(), Some(&*format!("{statistic}: 1")), "{pod}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn init_containers_end_before_the_sidecar_and_the_sidecar_is_up_before_the_application() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("order").await?;
    node.apply(
        r#"
apiVersion: v1
kind: Pod
metadata: { name: ordered, namespace: order }
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
  - { name: first, image: localhost/proxy:1, command: [/usr/local/bin/envoy, --version] }
  - name: sidecar
    image: localhost/echo:1
    restartPolicy: Always
    args: [--port, "8081", --grpc, "7071", --tcp, "9091"]
    startupProbe: { httpGet: { path: /, port: 8081 }, initialDelaySeconds: 2, periodSeconds: 1 }
  containers:
  - { name: app, image: localhost/echo:1 }
"#,
    )
    .await?;
    node.wait("order", "pod/ordered", "Ready").await?;

    let pods = Api::<Pod>::namespaced(node.client()?, "order");
    let state = |status: ContainerStatus| status.state.unwrap_or_default();
    let first = state(container(&pods, "ordered", "first").await?).terminated.expect("an end");
    let sidecar = container(&pods, "ordered", "sidecar").await?;
    assert_eq!((first.exit_code, sidecar.started, sidecar.ready), (0, Some(true), true));
    let sidecar = state(sidecar).running.and_then(|running| running.started_at).expect("a start");
    let app = state(container(&pods, "ordered", "app").await?).running;
    let app = app.and_then(|running| running.started_at).expect("a start");
    assert!(first.finished_at.expect("an end").0 <= sidecar.0);
    assert!(sidecar.0 < app.0, "the sidecar's probe waited two seconds: {sidecar:?}, {app:?}");

    let log = node.kubectl(&["logs", "-n", "order", "ordered", "-c", "first"]).await?;
    assert!(log.contains("version:"), "{log}");
    Ok(())
}

#[tokio::test]
async fn a_service_answers_at_its_cluster_address_its_name_and_its_load_balancer() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("service").await?;
    node.apply(
        r#"
apiVersion: v1
kind: Pod
metadata: { name: server, namespace: service, labels: { app: echo } }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - { name: app, image: localhost/echo:1, readinessProbe: { httpGet: { path: /, port: 8080 }, periodSeconds: 1 } }
---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: service }
spec: { type: LoadBalancer, selector: { app: echo }, ports: [{ port: 80, targetPort: 8080 }] }
"#,
    )
    .await?;
    node.wait("service", "pod/server", "Ready").await?;
    let client = node.client()?;
    let service = Api::<Service>::namespaced(client.clone(), "service").get("echo").await?;
    let cluster = service.spec.and_then(|spec| spec.cluster_ip).expect("an address");
    let pod = Api::<Pod>::namespaced(client, "service").get("server").await?;
    let own = pod.status.and_then(|status| status.pod_ip).expect("an address");
    let balancer = Ipv4Addr::new(10, 97, 0, 1);
    node.load_balancer("service", "echo", balancer).await?;

    let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
    for address in [(ip(&own), 8080), (ip(&cluster), 80), (balancer.into(), 80)] {
        let address = SocketAddr::from(address);
        let answer =
            until("the service to answer", PATIENCE, async || Seen::from_result(get(node, address).await))
                .await?;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Hostname=server"), "{answer}");
    }
    for url in ["http://echo", "http://echo.service.svc.cluster.local", &format!("http://{balancer}")] {
        assert!(ask(node, "service", "server", url).await?.contains("Hostname=server"), "{url}");
    }
    Ok(())
}

#[tokio::test]
async fn probes_decide_who_is_ready_and_who_is_restarted() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("probes").await?;
    node.apply(
        r#"
apiVersion: v1
kind: Pod
metadata: { name: unready, namespace: probes }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - { name: app, image: localhost/echo:1, readinessProbe: { httpGet: { path: "/?codes=503", port: 8080 }, periodSeconds: 1 } }
---
apiVersion: v1
kind: Pod
metadata: { name: unhealthy, namespace: probes }
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: localhost/echo:1
    livenessProbe: { httpGet: { path: "/?codes=500", port: 8080 }, periodSeconds: 1, failureThreshold: 1 }
"#,
    )
    .await?;
    let pods = Api::<Pod>::namespaced(node.client()?, "probes");
    until("a restart", PATIENCE, async || match container(&pods, "unhealthy", "app").await {
        Ok(status) => Seen::when(status.restart_count > 0, || "none yet".to_owned()),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    let events = ["events", "-n", "probes", "--for", "pod/unready"];
    until("a failed probe", PATIENCE, async || match node.kubectl(&events).await {
        Ok(text) => Seen::when(text.contains("Readiness probe failed") && text.contains("503"), || text),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    let unready = container(&pods, "unready", "app").await?;
    assert_eq!((unready.ready, unready.started, unready.restart_count), (false, Some(true), 0));
    Ok(())
}

/// Makes a ConfigMap and says which webhook touched it.
async fn touched(node: &Node, namespace: &str) -> Result<Option<String>> {
    let metadata = ObjectMeta { generate_name: Some("asked-".to_owned()), ..ObjectMeta::default() };
    let object = ConfigMap { metadata, ..ConfigMap::default() };
    let made = Api::namespaced(node.client()?, namespace).create(&PostParams::default(), &object).await?;
    Ok(made.metadata.labels.and_then(|labels| labels.get(webhook::LABEL).cloned()))
}

#[tokio::test]
async fn a_webhook_on_the_nodes_loopback_is_called_by_url() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("by-url").await?;
    let authority = node.control_plane().authority();
    let leaf = Leaf { common_name: "webhook", ip: &[Ipv4Addr::LOCALHOST.into()], ..Leaf::default() };
    let pair = authority.leaf(&leaf)?;
    let listener = node.netns().listen((Ipv4Addr::LOCALHOST, 9443).into())?;
    tokio::spawn(async move { webhook::serve(listener, &pair, "the-test").await });

    assert_eq!(touched(node, "by-url").await?, None);
    let client = json!({ "url": "https://127.0.0.1:9443/mutate" });
    node.apply(&webhook::registration("by-url", client, &authority.certificate()).to_string()).await?;
    until("the webhook to be called", PATIENCE, async || match touched(node, "by-url").await {
        Ok(label) => Seen::when(label.as_deref() == Some("the-test"), || format!("{label:?}")),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}

#[tokio::test]
async fn a_webhook_in_a_pod_is_called_by_service() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = node().await;
    node.namespace("by-service").await?;
    let program = env!("CARGO_BIN_EXE_testkit-webhook");
    node.load(Image::new("localhost/webhook:1").program(program, "/webhook").directory("/tmp", 0o1777))
        .await?;
    let authority = node.control_plane().authority();
    let leaf = Leaf { common_name: "webhook", dns: &["webhook.by-service.svc"], ..Leaf::default() };
    let pair = authority.leaf(&leaf)?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "webhook", "namespace": "by-service" },
        "stringData": { "certificate": pair.certificate, "key": pair.key },
    });
    node.apply(&secret.to_string()).await?;
    node.apply(
        r#"
apiVersion: v1
kind: Pod
metadata: { name: webhook, namespace: by-service, labels: { app: webhook } }
spec:
  terminationGracePeriodSeconds: 1
  volumes: [{ name: pair, secret: { secretName: webhook } }]
  containers:
  - name: webhook
    image: localhost/webhook:1
    command: [/webhook, /pair, the-pod]
    volumeMounts: [{ name: pair, mountPath: /pair }]
    readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 }
---
apiVersion: v1
kind: Service
metadata: { name: webhook, namespace: by-service }
spec: { selector: { app: webhook }, ports: [{ port: 443, targetPort: 8443 }] }
"#,
    )
    .await?;
    node.wait("by-service", "pod/webhook", "Ready").await?;

    let client = json!({ "service": { "name": "webhook", "namespace": "by-service", "path": "/mutate" } });
    node.apply(&webhook::registration("by-service", client, &authority.certificate()).to_string()).await?;
    until("the webhook to be called", PATIENCE, async || match touched(node, "by-service").await {
        Ok(label) => Seen::when(label.as_deref() == Some("the-pod"), || format!("{label:?}")),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}
