//! A real registry and the real helm: what helm pushes, we take; and a registry of our own that asks who we are.
#![allow(clippy::unwrap_used, reason = "a test may end here")]

#[path = "sources/pack.rs"]
mod pack;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "sources/server.rs"]
mod server;

use std::{fs, path::Path, process::Command};

use mizzen_install::{
    Charts,
    source::{SourceOptions, open},
};
use mizzen_testkit::{Registry, Result, needs, tools};
use pack::{Folder, chart};
use server::{Reply, Server};
use sha2::{Digest, Sha256};

const ISTIOD: &str = "istio-control/istio-discovery";
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn version(charts: &dyn Charts, folder: &str) -> String {
    charts.chart(folder).unwrap_or_else(|error| panic!("{error}")).metadata.version
}

fn refused(text: &str, options: &SourceOptions) -> String {
    match open(text, options) {
        Err(error) => error.to_string(),
        Ok(charts) => charts.chart("base").unwrap_err().to_string(),
    }
}

fn push(folder: &Path, name: &str, version: &str, target: &str) -> String {
    let file = folder.join(format!("{name}-{version}.tgz"));
    fs::write(&file, chart(name, version)).unwrap();
    let mut command = Command::new(tools::command("helm").unwrap());
    // Helm keeps its state beside the test, not in the user's folder.
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).env("XDG_CACHE_HOME", folder);
    let output = command.arg("push").arg(&file).args([target, "--plain-http"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text.split("Digest: ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_helm_has_pushed_is_found_by_tag_range_and_digest() -> Result<()> {
    needs!(Registry::NEEDS, &["helm"]);
    let registry = Registry::start().await?;
    let folder = Folder::new("oci");
    let place = format!("oci://{}/istio/charts", registry.address());
    let mut pinned = String::new();
    for (name, version) in
        [("base", "1.26.0"), ("base", "1.27.0"), ("base", "1.28.0-rc.1+build"), ("istiod", "1.27.0")]
    {
        let digest = push(&folder.0, name, version, &place);
        if (name, version) == ("base", "1.26.0") {
            pinned = format!("{place}/base@{digest}");
        }
    }
    let cache = folder.0.join("cache");
    let options = SourceOptions { cache: Some(cache), ..SourceOptions::default() };
    let wanted = |version: &str| SourceOptions { version: Some(version.to_owned()), ..options.clone() };
    let offline = SourceOptions { offline: true, ..options.clone() };

    let charts = open(&place, &options).unwrap();
    assert_eq!(
        (version(&*charts, "base").as_str(), version(&*charts, ISTIOD).as_str()),
        ("1.27.0", "1.27.0")
    );
    for (text, options, found) in [
        (place.clone(), wanted("~1.26"), "1.26.0"),
        (place.clone(), wanted("1.28.0-rc.1+build"), "1.28.0-rc.1+build"),
        (format!("{place}/base:1.26.0"), options.clone(), "1.26.0"),
        (format!("{place}:1.27.0"), options.clone(), "1.27.0"),
        (pinned.clone(), options.clone(), "1.26.0"),
    ] {
        assert_eq!(version(&*open(&text, &options).unwrap(), "base"), found, "{text}");
    }
    let error = refused(&place, &wanted("1.27.5"));
    assert!(
        error.contains("no version 1.27.5 of chart base") && error.contains("there are 1.27.0"),
        "{error}"
    );
    let error = refused(&format!("{place}/base:1.26.0"), &wanted("1.27.0"));
    assert!(error.contains("leave one of them out"), "{error}");
    let error = open(&place, &options).unwrap().chart("ztunnel").unwrap_err().to_string();
    assert!(error.contains("there is no chart istio/charts/ztunnel"), "{error}");
    let error = open(&format!("{place}/base"), &options).unwrap().chart(ISTIOD).unwrap_err().to_string();
    assert!(error.contains("there is no chart `istio-control/istio-discovery`"), "{error}");

    // Without a network: the pin, and the newest as it was.
    drop(registry);
    assert_eq!(version(&*open(&pinned, &offline).unwrap(), "base"), "1.26.0");
    assert_eq!(version(&*open(&place, &offline).unwrap(), "base"), "1.27.0");
    assert_eq!(version(&*open(&place, &options).unwrap(), ISTIOD), "1.27.0");
    let other = format!("{place}/base@sha256:{}", "0".repeat(64));
    assert!(refused(&other, &offline).contains("is not in the cache"));
    Ok(())
}

/// A registry with one chart that wants a token, which wants a password.
fn private(layer: Vec<u8>, promised: &str) -> Server {
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "layers": [{"mediaType": CHART, "digest": promised, "size": layer.len()}],
    });
    let manifest = manifest.to_string();
    let blob = format!("/v2/private/base/blobs/{promised}");
    Server::plain(Box::new(move |path, authorization| match (path, authorization) {
        (path, Some("Basic bWU6cHc=")) if path.starts_with("/token?") => {
            assert!(path.contains("scope=repository:private/base:pull"), "{path}");
            Reply::ok(r#"{"token": "let-me-in"}"#)
        }
        (path, _) if path.starts_with("/token?") => Reply::status(401, vec![]),
        ("/v2/private/base/tags/list", Some("Bearer let-me-in")) => Reply::ok(r#"{"tags": ["1.0.0"]}"#),
        ("/v2/private/base/manifests/1.0.0", Some("Bearer let-me-in")) => Reply::ok(manifest.clone()),
        (path, Some("Bearer let-me-in")) if path == blob => Reply::ok(layer.clone()),
        _ => Reply::status(
            401,
            vec![("www-authenticate", "Bearer realm=\"SELF/token\",service=\"test\"".to_owned())],
        ),
    }))
}

#[test]
fn a_registry_that_asks_gets_the_password_that_docker_has() {
    let layer = chart("base", "1.0.0");
    let server = private(layer.clone(), &digest(&layer));
    let folder = Folder::new("login");
    let options = SourceOptions {
        cache: Some(folder.0.join("cache")),
        docker_config: Some(folder.0.clone()),
        ..SourceOptions::default()
    };
    let place = format!("oci://{}/private", server.address);
    let error = refused(&place, &options);
    assert!(error.contains("answers 401 (not allowed): log in with"), "{error}");
    let config = serde_json::json!({"auths": {server.address.to_string(): {"auth": "bWU6cHc="}}});
    fs::write(folder.0.join("config.json"), config.to_string()).unwrap();
    assert_eq!(version(&*open(&place, &options).unwrap(), "base"), "1.0.0");
}

#[test]
fn a_layer_with_another_digest_is_refused_and_not_kept() {
    let server = private(chart("base", "6.6.6"), &digest(&chart("base", "1.0.0")));
    let folder = Folder::new("swapped");
    let config = serde_json::json!({"auths": {server.address.to_string(): {"auth": "bWU6cHc="}}});
    fs::write(folder.0.join("config.json"), config.to_string()).unwrap();
    let options = SourceOptions {
        cache: Some(folder.0.join("cache")),
        docker_config: Some(folder.0.clone()),
        ..SourceOptions::default()
    };
    let error = refused(&format!("oci://{}/private", server.address), &options);
    assert!(error.contains("its digest is sha256:"), "{error}");
    let manifest_alone = fs::read_dir(folder.0.join("cache/blobs")).unwrap().count();
    assert_eq!(manifest_alone, 1);
}

#[test]
fn a_registry_that_answers_garbage_is_refused() {
    for (tags, manifest, told) in [
        ("<html>", "", "it is no JSON"),
        ("{}", "", "it has none"),
        (r#"{"tags": ["1.0.0"]}"#, "no", "it is no JSON"),
        (r#"{"tags": ["1.0.0"]}"#, "{}", "its manifest has no layers"),
        (r#"{"tags": ["1.0.0"]}"#, r#"{"layers": [{"mediaType": "text/plain"}]}"#, "it is no Helm chart"),
        (
            r#"{"tags": ["1.0.0"]}"#,
            r#"{"layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": "../../x"}]}"#,
            "no sha256 digest",
        ),
    ] {
        let server = Server::plain(Box::new(move |path, _| {
            Reply::ok(if path.ends_with("/tags/list") { tags } else { manifest })
        }));
        let folder = Folder::new(&format!("oci-garbage-{}", server.address.port()));
        let options = SourceOptions { cache: Some(folder.0.clone()), ..SourceOptions::default() };
        let error = refused(&format!("oci://{}/x", server.address), &options);
        assert!(error.contains(told), "{told:?} is not in {error:?}");
    }
}

#[test]
fn a_redirect_is_followed_but_does_not_take_the_password_along() {
    let layer = chart("base", "1.0.0");
    let promised = digest(&layer);
    let storage = Server::plain(Box::new(move |_, authorization| match authorization {
        None => Reply::ok(layer.clone()),
        Some(_) => Reply::status(400, vec![]),
    }));
    let location = format!("http://{}/somewhere", storage.address);
    let manifest = serde_json::json!({"layers": [{"mediaType": CHART, "digest": promised}]}).to_string();
    let server = Server::plain(Box::new(move |path, authorization| match authorization {
        None => Reply::status(401, vec![("www-authenticate", "Basic realm=\"test\"".to_owned())]),
        Some(_) if path.ends_with("/tags/list") => Reply::ok(r#"{"tags": ["1.0.0"]}"#),
        Some(_) if path.contains("/manifests/") => Reply::ok(manifest.clone()),
        Some(_) => Reply::status(307, vec![("location", location.clone())]),
    }));
    let folder = Folder::new("redirect");
    let config = serde_json::json!({"auths": {server.address.to_string(): {"auth": "bWU6cHc="}}});
    fs::write(folder.0.join("config.json"), config.to_string()).unwrap();
    let options = SourceOptions {
        cache: Some(folder.0.join("cache")),
        docker_config: Some(folder.0.clone()),
        ..SourceOptions::default()
    };
    assert_eq!(version(&*open(&format!("oci://{}/x", server.address), &options).unwrap(), "base"), "1.0.0");
    assert_eq!(storage.asked(), ["/somewhere"]);
}
