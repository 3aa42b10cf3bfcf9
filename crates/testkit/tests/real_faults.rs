//! Faults in front of the real API server: each is met, and what a client sees of it is what a cluster's would.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{pin::pin, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::PostParams,
    core::Status,
    runtime::{WatchStreamExt, reflector, watcher},
};
use mizzen_testkit::{
    ApiServer, Faults, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, Seen},
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_stream::StreamExt;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap()
}

/// A proxy, a namespace, and its config maps through the proxy and past it.
struct Scene {
    faults: Faults,
    namespace: String,
    through: Api<ConfigMap>,
    direct: Api<ConfigMap>,
}

async fn scene(hint: &str) -> Result<Scene> {
    let api = ApiServer::shared().await;
    let (faults, namespace) = (api.faults().await?, api.namespace(hint).await?);
    let through = Api::namespaced(faults.client()?, &namespace);
    let direct = Api::namespaced(api.client()?, &namespace);
    Ok(Scene { faults, namespace, through, direct })
}

impl Scene {
    /// Config maps for a client that does not try again by itself.
    fn impatient(&self) -> Result<Api<ConfigMap>> {
        let mut config = self.faults.access().config()?;
        config.default_retry = false;
        Ok(Api::namespaced(Client::try_from(config)?, &self.namespace))
    }

    /// A running reflector, through the proxy, as controllers have them.
    fn reflector(&self) -> (reflector::Store<ConfigMap>, tokio::task::JoinHandle<()>) {
        let (store, writer) = reflector::store();
        let events = watcher(self.through.clone(), watcher::Config::default()).default_backoff();
        let task = tokio::spawn(async move {
            let mut events = pin!(events.reflect(writer));
            while events.next().await.is_some() {}
        });
        (store, task)
    }
}

async fn create(maps: &Api<ConfigMap>, name: &str) -> kube::Result<ConfigMap> {
    maps.create(&PostParams::default(), &config_map(name)).await
}

async fn holds(store: &reflector::Store<ConfigMap>, name: &str) -> Result<()> {
    wait::until(&format!("{name} in the store"), wait::PATIENCE, async || {
        let names: Vec<_> = store.state().iter().map(|map| map.metadata.name.clone()).collect();
        Seen::when(names.iter().flatten().any(|other| other == name), || format!("{names:?}"))
    })
    .await
}

async fn open_watches(faults: &Faults, count: usize) -> Result<()> {
    wait::until(&format!("{count} open watches"), wait::PATIENCE, async || {
        Seen::when(faults.open_watches() == count, || format!("{} are", faults.open_watches()))
    })
    .await
}

fn refusal<T: std::fmt::Debug>(outcome: kube::Result<T>) -> Box<Status> {
    match outcome.unwrap_err() {
        kube::Error::Api(status) => status,
        other => panic!("not the API server's refusal: {other}"),
    }
}

#[tokio::test]
async fn a_reflector_recovers_after_its_watch_was_cut() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("cut").await?;
    create(&scene.direct, "before").await?;
    let (store, reflector) = scene.reflector();
    holds(&store, "before").await?;
    open_watches(&scene.faults, 1).await?;

    // No watch comes back until the change has been made: it happens while nobody looks.
    let refused = scene.faults.inject(Fault::internal_error().on(Verb::Watch));
    assert_eq!(scene.faults.cut_watches(), 1);
    open_watches(&scene.faults, 0).await?;
    create(&scene.direct, "meanwhile").await?;
    wait::until("the watch to be refused", wait::PATIENCE, async || {
        Seen::when(refused.hits() > 0, || "it was not asked for".to_owned())
    })
    .await?;
    scene.faults.remove(&refused);

    holds(&store, "meanwhile").await?;
    create(&scene.direct, "after").await?;
    holds(&store, "after").await?;
    assert!(scene.faults.seen(Verb::Watch) >= 3, "the first, the refused, the last");
    reflector.abort();
    Ok(())
}

#[tokio::test]
async fn a_reflector_recovers_after_an_outage() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("outage").await?;
    create(&scene.direct, "before").await?;
    let (store, reflector) = scene.reflector();
    holds(&store, "before").await?;

    scene.faults.stop().await?;
    open_watches(&scene.faults, 0).await?;
    scene.direct.delete("before", &Default::default()).await?;
    create(&scene.direct, "meanwhile").await?;
    scene.faults.resume().await?;

    holds(&store, "meanwhile").await?;
    let names: Vec<_> = store.state().iter().map(|map| map.metadata.name.clone().unwrap()).collect();
    assert!(!names.contains(&"before".to_owned()), "{names:?}");
    reflector.abort();
    Ok(())
}

#[tokio::test]
async fn a_stopped_server_refuses_connections_until_it_is_resumed() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("stopped").await?;
    create(&scene.through, "kept").await?;
    scene.faults.stop().await?;
    // Also on the connection that was open.
    let error = scene.through.get("kept").await.unwrap_err();
    assert!(!matches!(error, kube::Error::Api(_)), "{error}");
    let address = scene.faults.access().url.replace("https://", "");
    let error = tokio::net::TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    scene.faults.resume().await?;
    scene.through.get("kept").await?;
    Ok(())
}

#[tokio::test]
async fn too_many_requests_are_told_to_come_later_and_kube_does() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("busy").await?;
    let busy = scene.faults.inject(Fault::too_many_requests(1).on(Verb::Write).path("configmaps").next(3));
    let status = refusal(create(&scene.impatient()?, "map").await);
    assert_eq!((status.code, &*status.reason), (429, "TooManyRequests"));
    assert_eq!(status.details.unwrap().retry_after_seconds, 1);

    create(&scene.through, "map").await?;
    assert_eq!((busy.hits(), scene.faults.seen(Verb::Write)), (3, 4));
    Ok(())
}

#[tokio::test]
async fn an_internal_error_is_gone_at_the_next_try() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("broken").await?;
    let broken = scene.faults.inject(Fault::internal_error().on(Verb::Read).next(1));
    create(&scene.through, "map").await?;
    let status = refusal(scene.through.get("map").await);
    assert_eq!((status.code, &*status.reason), (500, "InternalError"));
    scene.through.get("map").await?;
    assert_eq!(broken.hits(), 1);
    Ok(())
}

#[tokio::test]
async fn a_conflict_names_the_object_and_changes_nothing() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("conflict").await?;
    let mut map = create(&scene.through, "map").await?;
    let lost = scene.faults.inject(Fault::conflict().on(Verb::Write).path("configmaps/map").next(1));
    map.data = Some([("key".to_owned(), "value".to_owned())].into());
    let status = refusal(scene.through.replace("map", &PostParams::default(), &map).await);
    assert_eq!((status.code, &*status.reason), (409, "Conflict"));
    assert_eq!(status.details.unwrap().name, "map");
    assert_eq!(scene.direct.get("map").await?.data, None);

    scene.through.replace("map", &PostParams::default(), &map).await?;
    assert_eq!(scene.direct.get("map").await?.data, map.data);
    assert_eq!(lost.hits(), 1);
    Ok(())
}

#[tokio::test]
async fn a_rate_is_kept_exactly() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("rate").await?;
    let third = scene.faults.inject(Fault::internal_error().on(Verb::Write).rate(1, 3));
    let mut outcomes = Vec::new();
    for number in 1..=9 {
        outcomes.push(create(&scene.through, &format!("map-{number}")).await.is_ok());
    }
    assert_eq!(outcomes, [true, true, false, true, true, false, true, true, false]);
    assert_eq!(third.hits(), 3);

    scene.faults.clear();
    create(&scene.through, "map-3").await?;
    Ok(())
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_has_happened() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("lost").await?;
    let lost = scene.faults.inject(Fault::lose_answer().on(Verb::Write).nth(2));
    create(&scene.through, "first").await?;
    let error = create(&scene.through, "second").await.unwrap_err();
    assert!(!matches!(error, kube::Error::Api(_)), "{error}");
    scene.direct.get("second").await?;
    create(&scene.through, "third").await?;
    assert_eq!((lost.hits(), scene.faults.seen(Verb::Write)), (1, 3));
    Ok(())
}

#[tokio::test]
async fn a_delay_holds_up_its_own_requests_only() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("delay").await?;
    create(&scene.through, "quick").await?;
    create(&scene.through, "slow").await?;
    let slow = scene.faults.inject(Fault::delay(Duration::from_hours(1)).path("configmaps/slow"));
    let (through, other) = (scene.through.clone(), scene.through.clone());
    let held = tokio::spawn(async move { through.get("slow").await });
    wait::until("the request to be held up", wait::PATIENCE, async || {
        Seen::when(slow.hits() == 1, || "it has not come".to_owned())
    })
    .await?;
    other.get("quick").await?;
    assert!(!held.is_finished());
    held.abort();

    scene.faults.clear();
    let short = scene.faults.inject(Fault::delay(Duration::from_millis(1)));
    scene.through.get("slow").await?;
    assert_eq!(short.hits(), 1);
    Ok(())
}

#[tokio::test]
async fn rights_are_the_same_through_the_proxy() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("rights").await?;
    let maps: Api<ConfigMap> = Api::namespaced(scene.faults.client_as("jane", &[])?, &scene.namespace);
    let status = refusal(maps.list(&Default::default()).await);
    assert_eq!(status.code, 403);
    assert!(status.message.contains("jane"), "{}", status.message);
    Ok(())
}

/// kubectl speaks HTTP/2.
#[tokio::test]
async fn kubectl_goes_through_the_proxy() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("kubectl").await?;
    create(&scene.direct, "map").await?;
    let kubeconfig = scene.faults.kubeconfig_file();
    let args = ["--kubeconfig", &kubeconfig.to_string_lossy(), "-n", &scene.namespace];
    let get = ["get", "configmap/map", "-o", "name"];
    let printed = ApiServer::shared().await.kubectl(&[&args[..], &get[..]].concat()).await?;
    assert_eq!(printed.trim(), "configmap/map");
    assert!(scene.faults.seen(Verb::Read) > 0);
    Ok(())
}

/// Like exec and port-forward; a watch by WebSocket needs no node.
#[tokio::test]
async fn an_upgraded_connection_passes_through_and_ends_with_a_stop() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let scene = scene("upgrade").await?;
    create(&scene.direct, "map").await?;
    let mut stream = connect(&scene.faults).await;
    let token = ApiServer::shared().await.control_plane().token();
    let head = format!(
        "GET /api/v1/namespaces/{}/configmaps?watch=true HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\
         Authorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGVzdGtpdCBvZiBtaXp6ZW4=\r\n\r\n",
        scene.namespace
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    while !text(&received).contains("ADDED") {
        let more = tokio::time::timeout(wait::PATIENCE, stream.read_buf(&mut received)).await;
        let count = more.unwrap_or_else(|_| panic!("no more after: {}", text(&received))).unwrap();
        assert_ne!(count, 0, "ended after: {}", text(&received));
    }
    assert!(text(&received).starts_with("HTTP/1.1 101 "), "{}", text(&received));

    scene.faults.stop().await?;
    // An error is as good an end as none.
    let _ = tokio::time::timeout(wait::PATIENCE, stream.read_to_end(&mut received)).await.unwrap();
    Ok(())
}

async fn connect(faults: &Faults) -> tokio_rustls::client::TlsStream<tokio::net::TcpStream> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(faults.access().authority.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let address = faults.access().url.replace("https://", "");
    let stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    connector.connect("localhost".try_into().unwrap(), stream).await.unwrap()
}
