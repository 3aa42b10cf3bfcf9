//! The simulated proxy on a real istiod.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use mizzen_testkit::{
    ApiServer, Error, Istiod, Proxy, Result,
    istiod::Options,
    needs,
    proxy::{self, Identity, Kind, Role},
    wait::{self, PATIENCE, Seen},
};
use serde_json::json;

const QUIET: Duration = Duration::from_millis(500);

fn service(namespace: &str, name: &str) -> String {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": namespace },
        "spec": { "ports": [{ "name": "http", "port": 80 }, { "name": "tcp", "port": 9000 }] },
    });
    service.to_string()
}

fn sidecar(namespace: &str) -> Identity {
    Identity::new(Role::Sidecar, [10, 9, 8, 7].into(), "client", namespace)
}

#[tokio::test]
async fn both_protocols_give_a_proxy_the_same_and_follow_every_change() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS);
    let server = ApiServer::shared().await;
    let istiod = Istiod::start(server, Options::default()).await?;
    let namespace = server.namespace("same").await?;
    server.apply(&service(&namespace, "cart")).await?;
    let connect = async |state_of_the_world| {
        let options = proxy::Options { state_of_the_world, ..Default::default() };
        Proxy::connect(istiod.discovery(), &sidecar(&namespace), options).await
    };
    let (delta, whole) = (connect(false).await?, connect(true).await?);
    let cart = format!("outbound|80||cart.{namespace}.svc.cluster.local");
    for proxy in [&delta, &whole] {
        until(proxy, |proxy| proxy.ledger().resources(Kind::Endpoints).contains_key(&cart)).await?;
    }
    let first = equal(&delta, &whole).await?;
    for kind in Kind::ALL {
        assert!(!first.0[&kind].is_empty(), "{kind:?}");
    }
    assert_eq!(first.0[&Kind::Clusters][&cart]["type"], "EDS");

    server.apply(&service(&namespace, "bank")).await?;
    let bank = format!("outbound|80||bank.{namespace}.svc.cluster.local");
    for proxy in [&delta, &whole] {
        until(proxy, |proxy| proxy.ledger().resources(Kind::Endpoints).contains_key(&bank)).await?;
    }
    assert_ne!(equal(&delta, &whole).await?, first);

    server.kubectl(&["-n", &namespace, "delete", "service", "bank"]).await?;
    for proxy in [&delta, &whole] {
        until(proxy, |proxy| !proxy.ledger().resources(Kind::Clusters).contains_key(&bank)).await?;
        assert!(
            !proxy.ledger().resources(Kind::Endpoints).contains_key(&bank),
            "nobody asks for it any more"
        );
    }
    assert_eq!(equal(&delta, &whole).await?, first);
    Ok(())
}

#[tokio::test]
async fn a_kind_that_is_refused_is_not_taken_and_istiod_hears_of_it() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS);
    let server = ApiServer::shared().await;
    let istiod = Istiod::start(server, Options::default()).await?;
    let namespace = server.namespace("refusing").await?;
    for state_of_the_world in [false, true] {
        let options = proxy::Options { refuse: vec![Kind::Listeners], state_of_the_world };
        let proxy = Proxy::connect(istiod.discovery(), &sidecar(&namespace), options).await?;
        until(&proxy, |proxy| !proxy.ledger().refusals().is_empty()).await?;
        let ledger = proxy.ledger();
        assert!(!ledger.resources(Kind::Clusters).is_empty());
        assert!(ledger.resources(Kind::Listeners).is_empty());
        assert_eq!(ledger.refusals()[0].kind, Kind::Listeners);
    }
    Ok(())
}

#[tokio::test]
async fn a_stream_that_is_refused_says_why() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS);
    let server = ApiServer::shared().await;
    let istiod = Istiod::start(server, Options::default()).await?;
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{}", istiod.discovery()));
    let channel = endpoint.map_err(Error::other)?.connect().await.map_err(Error::other)?;
    let mut nobody = sidecar("x").node();
    nobody.id = "nobody".to_owned();
    let proxy = Proxy::over(channel, nobody, proxy::Options::default());
    let error = proxy.settled(QUIET).await.unwrap_err().to_string();
    assert!(error.contains("its stream ended"), "{error}");
    Ok(())
}

async fn until(proxy: &Proxy, seen: impl Fn(&Proxy) -> bool) -> Result<()> {
    let probe = async || Seen::when(seen(proxy), || proxy.ledger().open().unwrap_or_default());
    wait::until("a resource to come or go", PATIENCE, probe).await
}

async fn equal(one: &Proxy, other: &Proxy) -> Result<proxy::Configuration> {
    let probe = async || {
        for proxy in [one, other] {
            if let Err(error) = proxy.settled(QUIET).await {
                return Seen::Never(error.to_string());
            }
        }
        match (one.dump(), other.dump()) {
            (Ok(one), Ok(other)) if one == other => Seen::Done(one),
            _ => Seen::NotYet("two proxies with different configurations".to_owned()),
        }
    };
    wait::until("both protocols to say the same", PATIENCE, probe).await
}
