//! `tag` beside the real istioctl, on one cluster: what one does the other sees and can undo.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;
mod mesh;

use common::Ended;
use mesh::{Mesh, NEEDS};
use mizzen_testkit::{Result, needs};
use mizzen_text::{
    Source,
    yaml::{Options, load_all},
};
use serde_json::Value;

/// Both print the same list in every format.
fn listed(mesh: &Mesh) -> String {
    for line in ["tag list", "tag list -o json"] {
        assert_eq!(mesh.ours(line).good(), mesh.theirs(line).good(), "{line}");
    }
    let [ours, theirs] = [mesh.ours("tag list -o yaml"), mesh.theirs("tag list -o yaml")]
        .map(|ended| documents(&ended.good()));
    assert_eq!(ours, theirs);
    mesh.ours("tag list").good()
}

fn documents(text: &str) -> Vec<Value> {
    let source = Source::new("yaml", text.as_bytes());
    load_all(&source, &Options::KUBERNETES).map(|document| document.unwrap().value).collect()
}

/// The sentence that it was refused with.
fn sentence(ended: Ended) -> String {
    let said = ended.bad(1);
    let line = said.lines().next().unwrap();
    line.trim_start_matches("Error: ").trim_start_matches("error: ").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_program_does_with_tags_the_other_sees_and_undoes() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::installed(&["default", "canary"]).await?;
    assert_eq!(listed(&mesh), "TAG     REVISION NAMESPACES\n        canary   \ndefault default  \n");
    for namespace in ["shop", "store"] {
        mesh.server.kubectl(&["create", "namespace", namespace]).await?;
        mesh.server.kubectl(&["label", "namespace", namespace, "istio.io/rev=prod"]).await?;
    }

    // Ours made, theirs seen, moved by them, moved back by us, removed by them.
    let set = mesh.ours("tag set prod --revision canary").good();
    assert!(listed(&mesh).contains("prod    canary   shop,store\n"));
    mesh.theirs("tag set prod --revision default --overwrite").good();
    assert!(listed(&mesh).contains("prod    default  shop,store\n"));
    assert_eq!(mesh.ours("tag set prod --revision canary --overwrite").good(), set);
    assert!(listed(&mesh).contains("prod    canary   shop,store\n"));
    let removed = mesh.theirs("tag remove prod -y").good();
    assert!(!listed(&mesh).contains("prod"));

    // And the other way round; the words are the same.
    assert_eq!(mesh.theirs("tag set prod --revision canary").good(), set);
    let said = mesh.ours("tag remove prod").bad(1);
    assert!(said.contains("standard input is no terminal") && said.contains("2 namespace(s)"), "{said}");
    assert!(said.contains("hint: give -y"), "{said}");
    assert_eq!(mesh.ours("tag remove prod -y").good(), removed);
    assert!(!listed(&mesh).contains("prod"));

    for line in [
        "tag set test --revision none",
        "tag set default --revision canary",
        "tag set canary --revision default",
        "tag remove test",
    ] {
        assert_eq!(sentence(mesh.ours(line)), sentence(mesh.theirs(line)), "{line}");
    }
    let said = mesh.ours("tag set canary --revision default --overwrite").err;
    assert!(said.contains("[IST0139]") && said.contains("Webhook overlaps"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_tag_is_moved_with_its_validation_and_the_older_webhook_is_put_out() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::installed(&["canary"]).await?;
    mesh.install(&["--set", "profile=minimal"]);
    mesh.theirs("tag remove default -y").good();
    // As before there were tags: the plain revision's own webhook injects.
    let active = r#"[{"op":"replace","path":"/webhooks/0/namespaceSelector","value":{"matchLabels":{"istio-injection":"enabled"}}}]"#;
    let webhook = "mutatingwebhookconfiguration/istio-sidecar-injector";
    mesh.server.kubectl(&["patch", webhook, "--type=json", "-p", active]).await?;
    mesh.ours("tag set default --revision canary").good();
    assert!(listed(&mesh).contains("default canary   \n"));
    let get = async |path: &'static str, object: &'static str| {
        mesh.server.kubectl(&["get", object, "-o", path]).await
    };
    let selector = "jsonpath={.webhooks[*].namespaceSelector.matchLabels.istio\\.io/deactivated}";
    let older = get(selector, webhook).await?;
    assert_eq!(older, ["never-match"; 4].join(" "));
    let validator = "validatingwebhookconfiguration/istiod-default-validator";
    let service = "jsonpath={.webhooks[0].clientConfig.service.name} {.metadata.labels.istio\\.io/tag}";
    assert_eq!(get(service, validator).await?, "istiod-canary default");
    mesh.ours("tag set default --revision default --overwrite").good();
    assert_eq!(get(service, validator).await?, "istiod default");
    // Ours from the charts that are built in, theirs from Istio's: the other may still take it over.
    mesh.theirs("tag set default --revision canary --overwrite").good();
    assert_eq!(get(service, validator).await?, "istiod-canary default");
    mesh.ours("tag remove default").good();
    assert!(get("name", validator).await.is_err(), "the tag's validation goes with it");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn generate_prints_what_istioctl_does_and_writes_nothing() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::installed(&["default"]).await?;
    let line = format!("tag generate prod --revision default -d {}", mesh::manifests().display());
    let (ours, theirs) = (documents(&mesh.ours(&line).good()), documents(&mesh.theirs(&line).good()));
    let names = |objects: &[Value]| -> Vec<String> {
        objects.iter().map(|object| format!("{} {}", object["kind"], object["metadata"])).collect()
    };
    assert_eq!(names(&ours), names(&theirs));
    assert_eq!(ours[0], theirs[0]);
    assert!(!listed(&mesh).contains("prod"));
    Ok(())
}
