//! A network of workloads: they reach each other and what is let in, nothing else, and redirect rules hold.

use std::net::SocketAddr;

use mizzen_testkit::{
    Result,
    echo::{Call, Client, Echo, Ports},
    envoy::{Bootstrap, Envoy, PROXY_USER},
    needs,
    net::{Net, Workload},
};
use serde_json::json;

const HTTP: Ports = Ports { http: 8080, https: 0, tcp: 0, tls: 0 };

#[tokio::test]
async fn workloads_see_each_other_by_their_addresses() -> Result<()> {
    needs!(Net::NEEDS);
    let net = Net::start()?;
    let (one, two) = (net.workload("one")?, net.workload("two")?);
    let _echo = two.echo("v1", HTTP)?;

    let answer = one.client().ask(&Call::to(two.at(8080))).await?;
    assert_eq!((answer.peer.ip(), answer.local), (one.address(), two.at(8080)));
    assert!(one.dial(two.at(8081)).await.is_err(), "nobody listens there");
    Ok(())
}

#[tokio::test]
async fn two_networks_have_the_same_addresses_and_nothing_to_do_with_each_other() -> Result<()> {
    needs!(Net::NEEDS);
    let (here, there) = (Net::start()?, Net::start()?);
    let (mine, theirs) = (here.workload("mine")?, there.workload("theirs")?);
    assert_eq!(mine.address(), theirs.address());
    let _echo = mine.echo("mine", HTTP)?;
    assert_eq!(here.workload("near")?.client().ask(&Call::to(mine.at(8080))).await?.version, "mine");
    assert!(there.workload("far")?.dial(mine.at(8080)).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_workload_reaches_a_server_of_this_machine_through_the_relay_only() -> Result<()> {
    needs!(Net::NEEDS);
    let net = Net::start()?;
    let workload = net.workload("one")?;
    let echo = Echo::start()?;
    assert!(workload.dial(echo.http()).await.is_err());
    let inside = net.relay(echo.http())?;
    assert_eq!(workload.client().ask(&Call::to(inside)).await?.local, echo.http());
    Ok(())
}

#[tokio::test]
async fn redirected_traffic_goes_through_the_sidecar_both_ways() -> Result<()> {
    needs!(Net::NEEDS, Envoy::NEEDS, Workload::REDIRECT_NEEDS);
    let net = Net::start()?;
    let (client, server) = (net.workload("client")?, net.workload("server")?);
    let _echo = server.echo("v1", HTTP)?;

    // Two ports that send everything where it was going before it was redirected.
    let port = |name: &str, port: u16, cluster: &str| {
        json!({
            "name": name,
            "address": { "socket_address": { "address": "0.0.0.0", "port_value": port } },
            "listener_filters": [{ "name": "envoy.filters.listener.original_dst", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.listener.original_dst.v3.OriginalDst" } }],
            "filter_chains": [{ "filters": [{ "name": "envoy.filters.network.tcp_proxy", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
                "stat_prefix": name, "cluster": cluster } }] }],
        })
    };
    let bootstrap = Bootstrap::plain()
        .listener(port("out", 15001, "original"))
        .listener(port("in", 15006, "application"))
        .cluster(json!({ "name": "original", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED" }))
        // The rules tell the proxy's way to its application by this address of origin; any other is sent in again.
        .cluster(json!({ "name": "application", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED",
            "upstream_bind_config": { "source_address": { "address": "127.0.0.6", "port_value": 0 } } }));
    let mut envoys = Vec::new();
    for workload in [&client, &server] {
        workload.redirect().await?;
        let envoy = workload.envoy(bootstrap.clone()).await?;
        envoy.wait_configured().await?;
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", envoy.part().pid())).unwrap_or_default();
        assert!(status.contains(&format!("Uid:\t{PROXY_USER}")), "{status}");
        envoys.push(envoy);
    }

    client.client().ask(&Call::to(server.at(8080))).await?;
    let counted = async |envoy: &Envoy, prefix: &str| -> Result<u64> {
        Ok(envoy.admin().stats().await?.get(&format!("tcp.{prefix}.downstream_cx_total")))
    };
    assert_eq!((counted(&envoys[0], "out").await?, counted(&envoys[0], "in").await?), (1, 0));
    assert_eq!((counted(&envoys[1], "out").await?, counted(&envoys[1], "in").await?), (0, 1));
    Ok(())
}

#[tokio::test]
async fn the_machine_itself_is_not_in_the_network() -> Result<()> {
    needs!(Net::NEEDS);
    let net = Net::start()?;
    let workload = net.workload("one")?;
    let echo = Echo::start_in(workload.netns())?;
    let port = echo.http().port();
    assert!(Client::new().call(&Call::to(SocketAddr::from(([127, 0, 0, 1], port)))).await.is_err());
    assert!(workload.dial(SocketAddr::from(([127, 0, 0, 1], port))).await.is_ok());
    Ok(())
}

#[tokio::test]
async fn who_comes_later_cuts_nobody_off() -> Result<()> {
    needs!(Net::NEEDS);
    let net = Net::start()?;
    let hardware = || -> Result<String> {
        let shown = net.switch().ip("link show switch")?;
        Ok(shown.split("link/ether ").nth(1).unwrap_or_default().chars().take(17).collect())
    };
    let alone = hardware()?;
    assert_eq!(alone.len(), 17, "{alone}");
    let workloads = [net.workload("first")?, net.workload("second")?];
    assert_eq!(hardware()?, alone, "the address at which {} know the switch", workloads.len());
    Ok(())
}
