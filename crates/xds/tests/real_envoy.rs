//! Real Envoys take what the server sends, by both protocols.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod fake;

use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use fake::{Fake, Running, serve, serve_at};
use mizzen_testkit::{
    Error, Result,
    echo::{Call, Client, Echo},
    envoy::{Bootstrap, Envoy},
    needs, ports,
    wait::{self, PATIENCE, Seen},
};
use mizzen_xds::{Options, Protocol, Type, Watched};
use prost_reflect::{DynamicMessage, prost::Message};
use serde_json::{Value, json};

/// A message of that type, from JSON.
fn encode(kind: &Type, value: &Value) -> Bytes {
    let name = kind.url().rsplit('/').next().unwrap();
    let descriptor = mizzen_proto::descriptors().get_message_by_name(name).unwrap();
    DynamicMessage::deserialize(descriptor, value).unwrap().encode_to_vec().into()
}

fn put(fake: &Fake, kind: Type, name: &str, value: &Value) {
    let body = encode(&kind, value);
    fake.put(kind, name, body);
}

fn ads() -> Value {
    json!({ "ads": {}, "resource_api_version": "V3", "initial_fetch_timeout": "0s" })
}

/// `timeout` only makes it another cluster.
fn cluster(name: &str, timeout: &str) -> Value {
    json!({ "name": name, "type": "EDS", "connect_timeout": timeout, "eds_cluster_config": { "eds_config": ads() } })
}

fn endpoints(name: &str, port: u16) -> Value {
    json!({ "cluster_name": name, "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": {
        "socket_address": { "address": "127.0.0.1", "port_value": port } } } }] }] })
}

fn listener(name: &str, port: u16, route: &str) -> Value {
    let manager = json!({ "name": "envoy.filters.network.http_connection_manager", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name,
        "http_filters": [{ "name": "envoy.filters.http.router", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } }],
        "rds": { "route_config_name": route, "config_source": ads() },
    } });
    let address = json!({ "socket_address": { "address": "127.0.0.1", "port_value": port } });
    json!({ "name": name, "address": address, "filter_chains": [{ "filters": [manager] }] })
}

fn route(name: &str, cluster: &str) -> Value {
    json!({ "name": name, "virtual_hosts": [{ "name": "all", "domains": ["*"], "routes": [
        { "match": { "prefix": "/" }, "route": { "cluster": cluster } }] }] })
}

/// The one stream, as the server sees one type.
fn watched(running: &Running, kind: &Type) -> Option<Watched> {
    let connections = running.server.connections();
    connections.first()?.watched.iter().find(|watched| watched.kind == *kind).cloned()
}

async fn in_sync(running: &Running, kind: &Type) -> Result<()> {
    wait::until(&format!("{kind} to be accepted"), PATIENCE, async || {
        let watched = watched(running, kind);
        let newest =
            running.server.connections().first().map_or(0, |one| {
                one.watched.iter().map(|watched| watched.generation_sent).max().unwrap_or(0)
            });
        let done = watched.as_ref().is_some_and(|watched| {
            watched.nonce_acked == watched.nonce_sent && watched.generation_acked == newest
        });
        Seen::when(done, || format!("{watched:?}"))
    })
    .await
}

async fn cluster_names(envoy: &Envoy) -> Result<Vec<String>> {
    let clusters = envoy.admin().clusters().await?;
    let all = clusters["cluster_statuses"].as_array().into_iter().flatten();
    Ok(all.filter_map(|one| one["name"].as_str().map(str::to_owned)).collect())
}

async fn until_clusters(envoy: &Envoy, name: &str, there: bool) -> Result<()> {
    wait::until(&format!("cluster {name} there: {there}"), PATIENCE, async || {
        Seen::from_result(cluster_names(envoy).await.and_then(|names| {
            match names.iter().any(|known| known == name) == there {
                true => Ok(()),
                false => Err(Error::other(format!("{names:?}"))),
            }
        }))
    })
    .await
}

async fn answers(port: u16, path: &str) -> Result<()> {
    wait::until("an answer", PATIENCE, async || {
        let call = Call::to(([127, 0, 0, 1], port).into()).path(path);
        Seen::from_result(Client::new().ask(&call).await.and_then(|answer| match answer.path == path {
            true => Ok(()),
            false => Err(Error::other(answer.path)),
        }))
    })
    .await
}

async fn take(protocol: Protocol) -> Result<()> {
    let echo = Echo::start()?;
    let upstream = echo.http().port();
    let [one, two] = ports::free()?;
    let fake = Fake::new();
    put(&fake, Type::Cluster, "cart", &cluster("cart", "1s"));
    put(&fake, Type::Endpoints, "cart", &endpoints("cart", upstream));
    put(&fake, Type::Listener, "front", &listener("front", one, "front"));
    put(&fake, Type::Route, "front", &route("front", "cart"));
    let running = serve(&fake, Options::default()).await;

    let bootstrap = Bootstrap::sidecar("127.0.0.1", "pod", "shop");
    let bootstrap = match protocol {
        Protocol::Delta => bootstrap.control_plane(running.address),
        Protocol::StateOfTheWorld => bootstrap.control_plane_state_of_the_world(running.address),
    };
    let envoy = Envoy::start(bootstrap).await?;
    envoy.wait_configured().await?;
    answers(one, "/first").await?;
    assert_eq!(running.server.connections()[0].protocol, protocol);
    for kind in [Type::Cluster, Type::Endpoints, Type::Listener, Type::Route] {
        in_sync(&running, &kind).await?;
    }

    // A change of a cluster: it is warmed with endpoints that did not change.
    put(&fake, Type::Cluster, "cart", &cluster("cart", "2s"));
    in_sync(&running, &Type::Endpoints).await?;
    envoy.wait_configured().await?;
    answers(one, "/second").await?;

    // A new cluster, listener and route in one generation.
    fake.change(|all| {
        let mut put = |kind: Type, name: &str, value: &Value| {
            let body = encode(&kind, value);
            all.entry(kind).or_default().insert(name.to_owned(), body);
        };
        put(Type::Cluster, "till", &cluster("till", "1s"));
        put(Type::Endpoints, "till", &endpoints("till", upstream));
        put(Type::Listener, "back", &listener("back", two, "back"));
        put(Type::Route, "back", &route("back", "till"));
    });
    answers(two, "/third").await?;
    until_clusters(&envoy, "till", true).await?;

    // And gone again.
    fake.change(|all| {
        for (kind, name) in [
            (Type::Cluster, "till"),
            (Type::Endpoints, "till"),
            (Type::Listener, "back"),
            (Type::Route, "back"),
        ] {
            all.entry(kind).or_default().remove(name);
        }
    });
    until_clusters(&envoy, "till", false).await?;
    answers(one, "/fourth").await?;
    let stats = envoy.admin().stats().await?;
    for count in ["cluster_manager.cds.update_rejected", "listener_manager.lds.update_rejected"] {
        assert_eq!(stats.get(count), 0, "{count}");
    }

    // Something that Envoy refuses, beside something that it would take. State of the world has all in one response, and
    // Envoy takes none of it; delta finds out which it was.
    fake.change(|all| {
        let clusters = all.entry(Type::Cluster).or_default();
        let bad = json!({ "name": "bad", "type": "STATIC", "connect_timeout": "-1s" });
        clusters.insert("bad".to_owned(), encode(&Type::Cluster, &bad));
        clusters.insert("good".to_owned(), encode(&Type::Cluster, &cluster("good", "1s")));
        let good = encode(&Type::Endpoints, &endpoints("good", upstream));
        all.entry(Type::Endpoints).or_default().insert("good".to_owned(), good);
    });
    let refusal = wait::until("the refusal", PATIENCE, async || {
        let refusal = watched(&running, &Type::Cluster).and_then(|watched| watched.refusal);
        let told = refusal.clone().filter(|refusal| protocol != Protocol::Delta || refusal.of == 1);
        Seen::from_option(told, || format!("{refusal:?}"))
    })
    .await?;
    assert!(refusal.text.contains("duration") && refusal.code == 13, "{refusal:?}");
    if protocol == Protocol::Delta {
        assert_eq!(*refusal.resources[0], *"bad");
        until_clusters(&envoy, "good", true).await?;
    }
    answers(one, "/still").await?;

    // The reason goes when it is good.
    put(&fake, Type::Cluster, "bad", &cluster("bad", "1s"));
    put(&fake, Type::Endpoints, "bad", &endpoints("bad", upstream));
    until_clusters(&envoy, "bad", true).await?;
    in_sync(&running, &Type::Cluster).await?;
    assert_eq!(watched(&running, &Type::Cluster).unwrap().refusal, None);

    // The server goes and another one comes. By delta it hears what the client has, and sends only endpoints.
    let address = running.address;
    running.stop().await;
    answers(one, "/fifth").await?;
    let running = serve_at(&fake, Options::default(), address).await;
    for kind in [Type::Cluster, Type::Endpoints, Type::Listener, Type::Route] {
        in_sync(&running, &kind).await?;
        let again = protocol == Protocol::StateOfTheWorld || kind == Type::Endpoints;
        let sent = running.server.statistics().of(&kind).resources.load(Relaxed);
        assert_eq!(sent > 0, again, "{sent} of {kind}");
    }
    envoy.wait_configured().await?;
    put(&fake, Type::Cluster, "cart", &cluster("cart", "3s"));
    in_sync(&running, &Type::Cluster).await?;
    answers(one, "/sixth").await
}

#[tokio::test]
async fn an_envoy_takes_clusters_listeners_and_routes_by_delta() -> Result<()> {
    needs!(Envoy::NEEDS);
    take(Protocol::Delta).await
}

#[tokio::test]
async fn an_envoy_takes_clusters_listeners_and_routes_by_state_of_the_world() -> Result<()> {
    needs!(Envoy::NEEDS);
    take(Protocol::StateOfTheWorld).await
}
