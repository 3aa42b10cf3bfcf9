//! A control plane without a cluster: a folder of files reaches a real Envoy, and a broken file changes nothing.

mod common;

use common::{Folder, Plane, get, options};
use mizzen_pilot::Options;
use mizzen_testkit::{
    Envoy, Result, Secrets,
    envoy::Bootstrap,
    needs,
    wait::{self, PATIENCE, Seen},
};

fn service(name: &str, port: u16) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: shop}}\n\
         spec: {{clusterIP: 10.0.0.{}, ports: [{{name: http, port: {port}}}]}}\n---\n\
         apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n\
         metadata: {{name: {name}-1, namespace: shop, labels: {{kubernetes.io/service-name: {name}}}}}\n\
         addressType: IPv4\nendpoints: [{{addresses: [127.0.0.1], conditions: {{ready: true}}}}]\n\
         ports: [{{name: http, port: {port}}}]\n---\n",
        port % 250 + 1
    )
}

fn from(folder: &Folder) -> Options {
    Options { config_dirs: vec![folder.path().to_owned()], ..options() }
}

#[tokio::test]
async fn objects_follow_their_files_and_a_broken_one_keeps_its_last_good_version() -> Result<()> {
    let folder = Folder::new();
    folder.write("shop.yaml", &service("web", 80));
    let plane = Plane::start(from(&folder))?;
    plane.ready().await?;
    assert_eq!(plane.hosts().await?, ["web.shop.svc.cluster.local"]);
    folder.write("more.yaml", &service("cart", 81));
    plane.knows("cart.shop.svc.cluster.local", true).await?;

    folder.write("more.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: [\n");
    let state = format!("mizzen_source{{source=\"files:{}\",state=\"failing\"}}", folder.path().display());
    plane.metric_is(&state, |is| is == 1.0).await?;
    assert!(plane.hosts().await?.contains(&"cart.shop.svc.cluster.local".to_owned()));
    let sources = plane.debug("sourcez").await?;
    assert!(sources.to_string().contains("more.yaml:"), "{sources}");

    folder.write("more.yaml", &service("cart", 82));
    wait::until("the port to change", PATIENCE, async || match plane.debug("registryz").await {
        Ok(page) => Seen::when(page.to_string().contains("\"port\":82"), || page.to_string()),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    folder.remove("more.yaml");
    plane.knows("cart.shop.svc.cluster.local", false).await?;
    plane.end().await;
    Ok(())
}

#[tokio::test]
async fn a_mesh_configuration_that_comes_later_is_taken() -> Result<()> {
    let (objects, elsewhere) = (Folder::new(), Folder::new());
    let plane = Plane::start(Options { mesh_config: elsewhere.path().join("mesh.yaml"), ..from(&objects) })?;
    plane.ready().await?;
    let log = async || plane.debug("mesh").await.map(|mesh| mesh["accessLogFile"].clone());
    assert!(log().await?.is_null());
    elsewhere.write("mesh.yaml", "accessLogFile: /dev/stdout\n");
    wait::until("the configuration to hold", PATIENCE, async || match log().await {
        Ok(log) => Seen::when(log == "/dev/stdout", || log.to_string()),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    elsewhere.remove("mesh.yaml");
    plane.metric_is("mizzen_refused_mesh_configurations", |count| count >= 1.0).await?;
    assert_eq!(log().await?, "/dev/stdout", "the last good one stays");
    plane.end().await;
    Ok(())
}

#[tokio::test]
async fn a_change_in_the_folder_reaches_a_connected_envoy() -> Result<()> {
    needs!(Envoy::NEEDS);
    let folder = Folder::new();
    folder.write("shop.yaml", &service("web", 80));
    let plane = Plane::start(from(&folder))?;
    plane.ready().await?;
    let secrets = Secrets::start()?;
    let bootstrap = Bootstrap::sidecar("127.0.0.1", "client-1", "shop")
        .control_plane(plane.grpc)
        .secrets(&secrets.service_account("shop", "default")?);
    let envoy = Envoy::start(bootstrap).await?;
    let has = async |cluster: &str, is: bool| {
        wait::until(&format!("{cluster} in Envoy: {is}"), PATIENCE, async || {
            match envoy.admin().clusters().await {
                Ok(page) => Seen::when(page.to_string().contains(cluster) == is, || {
                    page.to_string().chars().take(2_000).collect()
                }),
                Err(error) => Seen::NotYet(error.to_string()),
            }
        })
        .await
    };
    has("outbound|80||web.shop.svc.cluster.local", true).await?;
    folder.write("more.yaml", &service("cart", 81));
    has("outbound|81||cart.shop.svc.cluster.local", true).await?;

    // Broken: nothing changes. Then something else does, so it is known that it has been seen.
    folder.write("more.yaml", "kind: [");
    folder.write("third.yaml", &service("third", 82));
    has("outbound|82||third.shop.svc.cluster.local", true).await?;
    has("outbound|81||cart.shop.svc.cluster.local", true).await?;
    folder.remove("more.yaml");
    has("outbound|81||cart.shop.svc.cluster.local", false).await?;

    // The pages know the proxy.
    let syncz = plane.debug("syncz").await?;
    assert_eq!(syncz[0]["proxy"], "client-1.shop");
    assert_eq!(syncz[0]["proxy_type"], "sidecar");
    let dump = plane.debug("config_dump?proxyID=client-1.shop").await?;
    assert!(dump.to_string().contains("outbound|80||web.shop.svc.cluster.local"), "{dump}");
    assert!(plane.metric("pilot_xds{version=\"1.31.0\"}").await? == Some(1.0));
    assert_eq!(plane.metric("mizzen_view_differences").await?, Some(0.0));
    assert!(plane.metric("mizzen_views_checked").await?.is_some_and(|count| count > 0.0));
    plane.end().await;
    Ok(())
}

#[tokio::test]
async fn pages_say_what_is_wrong_with_a_question() -> Result<()> {
    let folder = Folder::new();
    let plane = Plane::start(from(&folder))?;
    plane.ready().await?;
    let none = plane.get("/debug/config_dump").await?;
    assert_eq!((none.status.as_u16(), none.text().contains("proxyID")), (400, true));
    let unknown = plane.get("/debug/config_dump?proxyID=x.y").await?;
    assert_eq!(unknown.status, 404);
    assert_eq!(plane.get("/debug/nonsense").await?.status, 404);
    assert_eq!(plane.get("/nonsense").await?.status, 404);
    for path in ["/version", "//version"] {
        assert_eq!(get(plane.monitoring, path).await?.successful()?.text(), "test-0123abc-Clean");
    }
    assert_eq!(get(plane.monitoring, "/ready").await?.status, 404);
    Ok(())
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_at_once() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = Folder::new();
    let failed =
        mizzen_pilot::run(Options { http: Some(address.clone()), ..from(&folder) }, std::future::pending())
            .await;
    let told = failed.expect_err("it cannot start").to_string();
    assert!(told.contains(&address) && told.contains("--httpAddr"), "{told}");
}
