//! A real Envoy is started, asked and configured, and gets its secrets.

use std::{fs, path::Path, time::Duration};

use mizzen_testkit::{
    Error, Result,
    echo::{Call, Client, Echo},
    envoy::{Bootstrap, Envoy},
    needs, ports,
    run::run,
    secrets::{Secrets, spiffe},
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};

/// A listener that sends every request to the cluster `echo`, in TLS if there is a context for it.
fn listener(port: u16, tls: Option<Value>) -> Value {
    let manager = json!({ "name": "envoy.filters.network.http_connection_manager", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "front",
        "http_filters": [{ "name": "envoy.filters.http.router", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } }],
        "route_config": { "virtual_hosts": [{ "name": "all", "domains": ["*"], "routes": [
            { "match": { "prefix": "/" }, "route": { "cluster": "echo" } }] }] },
    } });
    let mut chain = json!({ "filters": [manager] });
    if let Some(tls) = tls {
        chain["transport_socket"] = json!({ "name": "envoy.transport_sockets.tls", "typed_config": tls });
    }
    let address = json!({ "socket_address": { "address": "127.0.0.1", "port_value": port } });
    json!({ "name": "front", "address": address, "filter_chains": [chain] })
}

fn cluster(name: &str, port: u16) -> Value {
    json!({ "name": name, "type": "STATIC", "load_assignment": { "cluster_name": name, "endpoints": [
        { "lb_endpoints": [{ "endpoint": { "address": { "socket_address": {
            "address": "127.0.0.1", "port_value": port } } } }] }] } })
}

/// Server side TLS with secrets of these names from `sds-grpc`.
fn server_tls(certificate: &str, root: &str, api_type: &str) -> Value {
    let source = json!({ "resource_api_version": "V3", "initial_fetch_timeout": "0s", "api_config_source": {
        "api_type": api_type, "transport_api_version": "V3",
        "grpc_services": [{ "envoy_grpc": { "cluster_name": "sds-grpc" } }] } });
    json!({
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        "require_client_certificate": true,
        "common_tls_context": {
            "tls_certificate_sds_secret_configs": [{ "name": certificate, "sds_config": source }],
            "validation_context_sds_secret_config": { "name": root, "sds_config": source },
        },
    })
}

/// The serial number of the certificate that Envoy shows to its clients.
async fn serial(envoy: &Envoy) -> Result<String> {
    let certs = envoy.admin().certs().await?;
    let all = certs["certificates"].as_array().into_iter().flatten();
    let chains: Vec<_> = all.flat_map(|pair| pair["cert_chain"].as_array().into_iter().flatten()).collect();
    chains
        .first()
        .and_then(|chain| chain["serial_number"].as_str())
        .map(str::to_owned)
        .ok_or_else(|| Error::other(certs))
}

#[tokio::test]
async fn an_envoy_carries_a_request_and_counts_it() -> Result<()> {
    needs!(Envoy::NEEDS);
    let echo = Echo::start()?;
    let [port] = ports::free()?;
    let bootstrap =
        Bootstrap::plain().listener(listener(port, None)).cluster(cluster("echo", echo.http().port()));
    let envoy = Envoy::start(bootstrap).await?;
    envoy.wait_configured().await?;
    assert!(envoy.admin().ready().await?);

    let answer = Client::new().ask(&Call::to(([127, 0, 0, 1], port).into()).path("/cart")).await?;
    assert_eq!(answer.path, "/cart");
    assert_eq!(answer.header("x-forwarded-proto"), Some("http"), "it came through the proxy");

    let admin = envoy.admin();
    let stats = admin.stats().await?;
    assert_eq!(stats.get("cluster.echo.upstream_rq_200"), 1);
    assert_eq!(stats.of("http.front", "downstream_rq_2xx"), 1);
    assert_eq!(admin.clusters().await?["cluster_statuses"][0]["name"], "echo");
    assert_eq!(admin.listeners().await?["listener_statuses"][0]["name"], "front");
    admin.logging(Some("http"), "debug").await?;
    assert!(admin.get("/logging").await?.status.as_u16() == 405, "only a POST may change levels");
    Ok(())
}

#[tokio::test]
async fn an_envoy_with_a_bad_bootstrap_says_what_is_bad() -> Result<()> {
    needs!(Envoy::NEEDS);
    let error = Envoy::start(json!({ "static_resources": { "clusterz": [] } })).await.err();
    let said = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("clusterz") && said.contains("log:"), "{said}");
    Ok(())
}

#[tokio::test]
async fn secrets_are_served_and_replaced_while_connected() -> Result<()> {
    needs!(Envoy::NEEDS);
    for api_type in ["GRPC", "DELTA_GRPC"] {
        let echo = Echo::start()?;
        let secrets = Secrets::start()?;
        let [port] = ports::free()?;
        let bootstrap = Bootstrap::plain()
            .listener(listener(port, Some(server_tls("default", "ROOTCA", api_type))))
            .cluster(cluster("echo", echo.http().port()))
            .secrets(&secrets.service_account("shop", "cart")?);
        let envoy = Envoy::start(bootstrap).await?;
        envoy.wait_configured().await?;

        let certs = envoy.admin().certs().await?.to_string();
        assert!(certs.contains(&spiffe("shop", "cart")), "{certs}");
        assert_eq!(secrets.asked().len(), 2, "{:?}", secrets.asked());

        let first = serial(&envoy).await?;
        secrets.rotate();
        wait::until("the second certificate", PATIENCE, async || {
            Seen::from_result(serial(&envoy).await.and_then(|now| match now == first {
                true => Err(Error::other("the first certificate")),
                false => Ok(()),
            }))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn certificates_in_files_are_read_from_there() -> Result<()> {
    needs!(Envoy::NEEDS);
    let secrets = Secrets::start()?;
    let folder = run().part_folder("files").map_err(Error::other)?;
    secrets.pair(&spiffe("files", "mounted"))?.write(&folder, "cert")?;
    fs::write(folder.join("root.pem"), secrets.root()).map_err(Error::other)?;
    let name = |file: &str| Path::new(&folder).join(file).display().to_string();

    let [port] = ports::free()?;
    let tls = server_tls(
        &format!("file-cert:{}~{}", name("cert.crt"), name("cert.key")),
        &format!("file-root:{}", name("root.pem")),
        "GRPC",
    );
    let bootstrap = Bootstrap::plain()
        .listener(listener(port, Some(tls)))
        .cluster(cluster("echo", port))
        .secrets(&secrets.service_account("shop", "cart")?);
    let envoy = Envoy::start(bootstrap).await?;
    envoy.wait_configured().await?;
    let certs = envoy.admin().certs().await?.to_string();
    assert!(certs.contains(&spiffe("files", "mounted")), "{certs}");
    Ok(())
}

#[tokio::test]
async fn a_secret_that_nobody_has_keeps_the_listener_warming_and_is_named() -> Result<()> {
    needs!(Envoy::NEEDS);
    let secrets = Secrets::start()?;
    let [port] = ports::free()?;
    let bootstrap = Bootstrap::plain()
        .listener(listener(port, Some(server_tls("kubernetes://nobody", "ROOTCA", "GRPC"))))
        .cluster(cluster("echo", port))
        .secrets(&secrets.service_account("shop", "cart")?);
    let envoy = Envoy::start(bootstrap).await?;
    wait::until("both secrets to be asked for", PATIENCE, async || {
        let asked = secrets.asked();
        Seen::when(asked.iter().any(|name| name == "kubernetes://nobody"), || format!("{asked:?}"))
    })
    .await?;
    let error = envoy.configured_within(Duration::from_secs(1)).await.err();
    let said = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("secret kubernetes://nobody"), "{said}");
    Ok(())
}
