//! What the server refuses is told before anything is sent, at the line where it was written, also of objects whose namespace the
//! release itself makes.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod application;
mod site;

use application::Application;
use mizzen_testkit::{Controllers, Result, needs};
use serde_json::json;

/// A definition whose rules only a server knows.
const TOYS: &str = r#"{ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": { "name": "toys.example.com" }, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": { "kind": "Toy", "plural": "toys" },
        "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
            "type": "object", "properties": { "spec": { "type": "object", "properties": { "wheels": { "type": "integer", "maximum": 4 } } } } } } }] } }"#;

const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data:
  not a key: a
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: worker }
spec:
  replica: 2
  selector: { matchLabels: { a: b } }
  template:
    metadata: { labels: { a: b } }
    spec: { containers: [{ name: c, image: i }] }
---
apiVersion: example.com/v1
kind: Toy
metadata: { name: car }
spec:
  wheels: 5
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: a-name-that-is-longer-than-what-the-server-takes-of-cronjobs }
spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i }] } } } } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: fine }
data: { a: b }
";

async fn shop() -> Result<Application> {
    let shop = Application::without_kinds().await?;
    shop.site.server.apply(TOYS).await?;
    shop.site
        .server
        .kubectl(&["wait", "--for=condition=Established", "crd/toys.example.com", "--timeout=90s"])
        .await?;
    shop.file(
        "app.yaml",
        "name: shop\nmanifests: [objects.yaml]\nworkload: { image: shop:1, ports: [{ port: 80 }] }\n",
    );
    Ok(shop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_release_that_the_server_refuses_does_not_begin() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = shop().await?;
    // Somebody has objects of these names where the server is asked in the stead of what is not there.
    let server = &shop.site.server;
    server.kubectl(&["-n", "default", "create", "configmap", "settings", "--from-literal=a=theirs"]).await?;
    server.kubectl(&["-n", "default", "create", "deployment", "shop", "--image=theirs"]).await?;
    let before = shop.everything().await;
    shop.file("objects.yaml", OBJECTS);
    for line in ["preview", "apply -y"] {
        let told = shop.app(line).await.badly();
        for place in
            ["objects.yaml:5:14\n", "objects.yaml:11:3\n", "objects.yaml:21:11\n", "objects.yaml:25:19\n"]
        {
            assert!(told.contains(place), "no {place} in {told}");
        }
        for words in [
            "applying ConfigMap shop/settings is refused: ConfigMap \"settings\" is invalid: data[not a key]",
            "applying Deployment shop/worker is refused",
            ".spec.replica: field not declared in schema",
            "applying Toy shop/car is refused: Toy.example.com \"car\" is invalid: spec.wheels",
            "applying CronJob shop/a-name-that-is-longer",
            "the server refuses 4 objects",
            "nothing was done",
        ] {
            assert!(told.contains(words), "no {words} in {told}");
        }
        assert!(!told.contains("default"), "{told}");
        assert_eq!(shop.everything().await, before, "{line}");
    }
    let mended = OBJECTS
        .replace("not a key", "a-key")
        .replace("replica:", "replicas:")
        .replace("wheels: 5", "wheels: 4")
        .replace("-takes-of-cronjobs", "");
    shop.file("objects.yaml", mended);
    assert!(shop.app("apply -y").await.well().ends_with("release 1 is in force\n"));
    shop.app("destroy -y").await.well();
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_block_and_a_spec_file_say_is_told_at_their_lines_too() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = shop().await?;
    let before = shop.everything().await;
    // Two ports of one name.
    shop.file(
        "app.yaml",
        "name: shop\nworkload:\n  image: shop:1\n  ports:\n  - { port: 80 }\n  - { port: 81, name: http-80 }\n",
    );
    let told = shop.app("apply -y").await.badly();
    assert!(told.contains("applying Service shop/shop is refused") && told.contains("app.yaml:4:"), "{told}");
    let spec = "resources:\n- id: v1:Namespace:shop\n  type: Kubernetes\n  attributes: { apiVersion: v1, kind: Namespace, metadata: { name: shop } }\n- id: v1:ConfigMap:shop:a\n  type: Kubernetes\n  attributes:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: { name: a, namespace: shop }\n    data: { a: { b: c } }\n";
    shop.file("spec.yaml", spec);
    let line =
        format!("apply -y --spec-file {}/spec.yaml --app shop --stack dev -n shop", shop.folder.display());
    let told = shop.app(&line).await.badly();
    assert!(told.contains("applying ConfigMap shop/a is refused") && told.contains("spec.yaml:"), "{told}");
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_namespace_that_stands_in_has_against_an_object_is_a_warning() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = shop().await?;
    let refused = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    shop.policy("elsewhere", "!(object.metadata.namespace in ['default', 'kube-public'])", &refused).await?;
    shop.file("objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: fine }\n");
    let ended = shop.app("apply -y").await;
    assert!(
        ended.err.contains("whether ConfigMap shop/fine is taken in namespace shop, which is not there yet, is known when it is")
            && ended.err.contains("denied request"),
        "{}",
        ended.err
    );
    assert!(ended.well().ends_with("release 1 is in force\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_lives_in_no_namespace_is_put_in_none() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    shop.site.server.apply(&TOYS.replace("Namespaced", "Cluster")).await?;
    shop.site
        .server
        .kubectl(&["wait", "--for=condition=Established", "crd/toys.example.com", "--timeout=90s"])
        .await?;
    let before = shop.everything().await;
    shop.file("app.yaml", "name: shop\ncreateNamespace: true\nmanifests: [objects.yaml]\n");
    shop.file(
        "objects.yaml",
        "apiVersion: example.com/v1\nkind: Toy\nmetadata: { name: car }\nspec: { wheels: 4 }\n",
    );
    let ended = shop.app("apply -y").await;
    assert!(ended.err.contains("whether Toy of example.com/v1 lives in a namespace"), "{}", ended.err);
    assert!(ended.well().contains("created Toy car\n"));
    assert!(shop.app("apply -y").await.well().ends_with("nothing was written\n"));
    assert!(shop.state().await.contains_key("Toy /car"));
    assert!(shop.app("destroy -y").await.well().contains("deleted Toy car\n"));
    assert_eq!(shop.everything().await, before);
    Ok(())
}
