//! A control plane on a real API server: what it knows follows the cluster, whatever happens to the connection.

mod common;

use common::{Folder, Plane, options};
use mizzen_pilot::{Access, Options};
use mizzen_testkit::{
    ApiServer, Faults, Istiod, Result, needs,
    wait::{self, PATIENCE, Seen},
};
use std::path::PathBuf;

fn on(kubeconfig: PathBuf) -> Options {
    Options {
        registry: true,
        access: Access { kubeconfig: Some(kubeconfig), ..Access::default() },
        ..options()
    }
}

fn through(faults: &Faults) -> Options {
    on(faults.kubeconfig_file())
}

fn service(name: &str, namespace: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{ports: [{{name: http, port: 80}}]}}\n---\n"
    )
}

fn host(name: &str, namespace: &str) -> String {
    format!("{name}.{namespace}.svc.cluster.local")
}

fn gateway(name: &str, namespace: &str, revision: &str) -> String {
    let labels =
        if revision.is_empty() { String::new() } else { format!(", labels: {{istio.io/rev: {revision}}}") };
    format!(
        "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {{name: {name}, namespace: {namespace}{labels}}}\n\
         spec:\n  servers:\n  - hosts: ['*']\n    port: {{number: 80, name: http, protocol: HTTP}}\n---\n"
    )
}

async fn install(server: &ApiServer) -> Result<()> {
    for crd in mizzen_api::crd::Crd::all() {
        server.apply(&crd.object().to_string()).await?;
    }
    let names: Vec<String> = mizzen_api::crd::Crd::all().map(|crd| format!("crd/{}", crd.name())).collect();
    let mut words = vec!["wait", "--for=condition=Established"];
    words.extend(names.iter().map(String::as_str));
    server.kubectl(&words).await?;
    Ok(())
}

#[tokio::test]
async fn services_and_objects_follow_the_cluster_through_outages() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    install(&server).await?;
    let (faults, n) = (server.faults().await?, server.namespace("shop").await?);
    server.apply(&(service("web", &n) + &gateway("one", &n, ""))).await?;
    let plane = Plane::start(through(&faults))?;
    plane.ready().await?;
    assert!(plane.hosts().await?.contains(&host("web", &n)));
    assert!(plane.objects().await?.contains(&format!("Gateway {n}/one")));

    server.apply(&service("late", &n)).await?;
    plane.knows(&host("late", &n), true).await?;

    // An outage, in which things come, change and go.
    faults.stop().await?;
    plane.metric_is("mizzen_source{source=\"services\",state=\"failing\"}", |is| is == 1.0).await?;
    server.kubectl(&["-n", &n, "delete", "service", "web"]).await?;
    server.apply(&(service("new", &n) + &gateway("two", &n, ""))).await?;
    server.kubectl(&["-n", &n, "delete", "gateways.networking.istio.io", "one"]).await?;
    assert!(plane.hosts().await?.contains(&host("web", &n)), "what was known stays");
    plane.get("/ready").await?.successful()?;
    faults.resume().await?;
    plane.knows(&host("web", &n), false).await?;
    plane.knows(&host("new", &n), true).await?;
    plane.has(&format!("Gateway {n}/one"), false).await?;
    plane.has(&format!("Gateway {n}/two"), true).await?;

    // A restart, and watches that are cut.
    server.restart().await?;
    faults.cut_watches();
    server.apply(&service("after", &n)).await?;
    plane.knows(&host("after", &n), true).await?;
    plane.end().await;
    Ok(())
}

#[tokio::test]
async fn it_is_not_ready_before_the_cluster_has_answered() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let faults = server.faults().await?;
    faults.stop().await?;
    let plane = Plane::start(through(&faults))?;
    wait::until("it says what it waits for", PATIENCE, async || match plane.get("/ready").await {
        Ok(reply) => {
            assert_eq!(reply.status, 503);
            Seen::when(reply.text().contains("services: failing"), || reply.text())
        }
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    faults.resume().await?;
    plane.ready().await
}

#[tokio::test]
async fn kinds_that_are_installed_later_are_followed() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    let n = server.namespace("late").await?;
    let plane = Plane::start(on(server.kubeconfig_file()))?;
    plane.ready().await?;
    plane
        .metric_is("mizzen_source{source=\"gateways.networking.istio.io\",state=\"absent\"}", |is| is == 1.0)
        .await?;
    install(&server).await?;
    server.apply(&gateway("g", &n, "")).await?;
    plane.has(&format!("Gateway {n}/g"), true).await
}

#[tokio::test]
async fn refused_objects_and_those_of_other_revisions_do_not_count() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    install(&server).await?;
    let n = server.namespace("rev").await?;
    server
        .apply(&(gateway("mine", &n, "blue") + &gateway("theirs", &n, "green") + &gateway("all", &n, "")))
        .await?;
    let plane = Plane::start(Options { revision: "blue".into(), ..on(server.kubeconfig_file()) })?;
    plane.ready().await?;
    let objects = plane.objects().await?;
    assert_eq!(objects, [format!("Gateway {n}/all"), format!("Gateway {n}/mine")]);
    server.apply(&(gateway("mine", &n, "green") + &gateway("theirs", &n, "blue"))).await?;
    plane.has(&format!("Gateway {n}/theirs"), true).await?;
    plane.has(&format!("Gateway {n}/mine"), false).await?;

    // What the server takes and Istio's webhook, which is not there, would not.
    let broken = gateway("bad", &n, "blue").replace("number: 80", "number: 70000");
    server.apply(&broken).await?;
    plane.metric_is("mizzen_refused_objects", |count| count >= 1.0).await?;
    assert!(!plane.objects().await?.contains(&format!("Gateway {n}/bad")));
    Ok(())
}

#[tokio::test]
async fn the_mesh_configuration_follows_its_config_map() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    let map = |text: &str| {
        let text = serde_json::Value::from(text);
        format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: istio-system}}\n---\n\
             apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: istio, namespace: istio-system}}\ndata: {{mesh: {text}}}\n"
        )
    };
    // Broken from the start: waited for.
    server.apply(&map("trustDomain: [")).await?;
    let plane = Plane::start(on(server.kubeconfig_file()))?;
    plane.metric_is("mizzen_refused_mesh_configurations", |count| count >= 1.0).await?;
    assert_eq!(plane.get("/ready").await?.status, 503);
    server.apply(&map("trustDomain: one")).await?;
    plane.ready().await?;
    let trusts = async |domain: &str| {
        wait::until(domain, PATIENCE, async || match plane.debug("mesh").await {
            Ok(mesh) => Seen::when(mesh["trustDomain"] == domain, || mesh["trustDomain"].to_string()),
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await
    };
    trusts("one").await?;
    server.apply(&map("trustDomain: two")).await?;
    trusts("two").await?;
    server.apply(&map("connectTimeout: never")).await?;
    plane.metric_is("mizzen_refused_mesh_configurations", |count| count >= 2.0).await?;
    trusts("two").await
}

#[tokio::test]
async fn a_mesh_configuration_in_a_file_goes_before_the_config_map() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let folder = Folder::new();
    folder.write("mesh.yaml", "trustDomain: file");
    let plane = Plane::start(Options {
        mesh_config: folder.path().join("mesh.yaml"),
        ..on(server.kubeconfig_file())
    })?;
    plane.ready().await?;
    assert_eq!(plane.debug("mesh").await?["trustDomain"], "file");
    folder.write("mesh.yaml", "trustDomain: [");
    plane.metric_is("mizzen_refused_mesh_configurations", |count| count >= 1.0).await?;
    assert_eq!(plane.debug("mesh").await?["trustDomain"], "file");
    folder.write("mesh.yaml", "trustDomain: other");
    wait::until("the new file", PATIENCE, async || match plane.debug("mesh").await {
        Ok(mesh) => Seen::when(mesh["trustDomain"] == "other", || mesh["trustDomain"].to_string()),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}

/// The pages that others read have the real istiod's shape: every field of ours is one of its, with the same value where both
/// know it.
#[tokio::test]
async fn pages_have_istiods_shape() -> Result<()> {
    needs!(ApiServer::NEEDS, Istiod::NEEDS);
    let server = ApiServer::start().await?;
    let istiod = Istiod::start(&server, mizzen_testkit::istiod::Options::default()).await?;
    let n = server.namespace("shape").await?;
    let objects = service("web", &n)
        + &gateway("g", &n, "")
        + &format!(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: e, namespace: {n}}}\n\
         spec: {{hosts: [e.example.com], ports: [{{number: 443, name: tls, protocol: TLS}}], resolution: DNS}}\n"
        );
    server.apply(&objects).await?;
    let plane = Plane::start(on(server.kubeconfig_file()))?;
    plane.ready().await?;
    wait::until("istiod to know it, too", PATIENCE, async || match istiod.debug("registryz").await {
        Ok(page) => Seen::when(page.to_string().contains("e.example.com"), || page.to_string()),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    let by = |page: serde_json::Value, key: &str| -> std::collections::BTreeMap<String, serde_json::Value> {
        let items = page.as_array().cloned().unwrap_or_default();
        items
            .into_iter()
            .map(|item| (item.pointer(key).map(ToString::to_string).unwrap_or_default(), item))
            .collect()
    };
    let (ours, theirs) =
        (by(plane.debug("registryz").await?, "/hostname"), by(istiod.debug("registryz").await?, "/hostname"));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (host, service) in &ours {
        subset(service, &theirs[host], host);
    }
    let (ours, theirs) = (
        by(plane.debug("configz").await?, "/metadata/uid"),
        by(istiod.debug("configz").await?, "/metadata/uid"),
    );
    assert!(ours.len() >= 2, "{ours:?}");
    for (uid, object) in &ours {
        subset(object, &theirs[uid], uid);
    }
    subset(&plane.debug("mesh").await?, &istiod.debug("mesh").await?, "mesh");
    assert_eq!(plane.debug("syncz").await?, istiod.debug("syncz").await?);
    assert_eq!(plane.debug("connections").await?, istiod.debug("connections").await?);
    const OWN: [&str; 2] = ["problemz", "sourcez"];
    let known = istiod.debug("list").await?;
    for page in plane
        .debug("list")
        .await?
        .as_array()
        .into_iter()
        .flatten()
        .filter(|page| !OWN.contains(&page.as_str().unwrap_or_default()))
    {
        assert!(known.as_array().is_some_and(|known| known.contains(page)), "{page}");
    }
    Ok(())
}

/// Addresses that istiod hands out are not compared: who writes them into the status is later work.
fn subset(ours: &serde_json::Value, theirs: &serde_json::Value, at: &str) {
    match (ours, theirs) {
        (serde_json::Value::Object(ours), serde_json::Value::Object(theirs)) => {
            for (name, value) in
                ours.iter().filter(|(name, _)| !name.starts_with("autoAllocated") && *name != "status")
            {
                let path = format!("{at}.{name}");
                match theirs.get(name) {
                    Some(theirs) => subset(value, theirs, &path),
                    None => panic!("istiod has no {path}; ours is {value}"),
                }
            }
        }
        // One of the two may have seen it a moment later.
        _ if at.ends_with("resourceVersion") || at.ends_with("generation") => {}
        (ours, theirs) => assert_eq!(ours, theirs, "{at}"),
    }
}
