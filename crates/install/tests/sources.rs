//! Charts from where users say: what is found, what is kept, what is refused.
#![allow(clippy::unwrap_used, reason = "a test may end here")]

#[path = "sources/pack.rs"]
mod pack;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "sources/server.rs"]
mod server;

use std::fs;

use mizzen_install::{
    Charts,
    source::{SourceOptions, open},
};
use mizzen_template::helm::{Capabilities, Release, RenderOptions, render};
use pack::{Folder, archive, chart};
use server::{Reply, Server};
use sha2::{Digest, Sha256};

const ISTIOD: &str = "istio-control/istio-discovery";

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn options(server: &Server, cache: &Folder) -> SourceOptions {
    SourceOptions {
        cache: Some(cache.0.clone()),
        roots: Some(server.roots.clone()),
        docker_config: Some(cache.0.clone()),
        ..SourceOptions::default()
    }
}

fn wanted(version: &str, options: &SourceOptions) -> SourceOptions {
    SourceOptions { version: Some(version.to_owned()), ..options.clone() }
}

fn offline(options: &SourceOptions) -> SourceOptions {
    SourceOptions { offline: true, ..options.clone() }
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

/// An index of base and istiod in these versions, and the charts themselves.
fn repository(versions: &[&str]) -> Vec<(String, Reply)> {
    let mut index = "apiVersion: v1\nentries:\n".to_owned();
    let mut pages = Vec::new();
    for name in ["base", "istiod"] {
        index.push_str(&format!("  {name}:\n"));
        for version in versions {
            let bytes = chart(name, version);
            let file = format!("files/{name}-{version}.tgz");
            index.push_str(&format!(
                "  - {{name: {name}, version: {version}, digest: {}, urls: [{file}]}}\n",
                digest(&bytes)
            ));
            pages.push((format!("/charts/{file}"), Reply::ok(bytes)));
        }
    }
    pages.push(("/charts/index.yaml".to_owned(), Reply::ok(index)));
    pages
}

#[test]
fn the_built_in_charts_render_and_bring_their_definitions() {
    let charts = open("", &SourceOptions::default()).unwrap();
    assert!(charts.profiles().iter().any(|name| name == "demo"));
    assert!(charts.profile("demo").is_ok());
    for folder in ["base", ISTIOD, "gateways/istio-ingress", "gateways/istio-egress"] {
        let chart = charts.chart(folder).unwrap_or_else(|error| panic!("{error}"));
        let release =
            Release { name: "istio".into(), namespace: "istio-system".into(), ..Release::default() };
        let values = serde_json::json!({});
        let rendered = render(&chart, &values, &release, &Capabilities::default(), &RenderOptions::default());
        let rendered = rendered.unwrap_or_else(|error| panic!("{folder}: {error}"));
        let text: String = rendered.files.into_iter().map(|(_, text)| text).collect();
        let definitions = text.matches("kind: CustomResourceDefinition").count();
        assert_eq!(definitions, if folder == "base" { 15 } else { 0 }, "{folder}");
    }
    let error = charts.chart("istio-cni").unwrap_err().to_string();
    assert_eq!(error, "there is no chart `istio-cni` in the charts that are built in");
    let error = refused("", &SourceOptions { version: Some("1.0.0".into()), ..SourceOptions::default() });
    assert!(error.contains("have no versions to choose from"), "{error}");
}

#[test]
fn a_folder_holds_charts_and_profiles_or_one_chart() {
    let folder = Folder::new("folder");
    let options = SourceOptions::default();
    assert!(refused(folder.0.to_str().unwrap(), &options).contains("has neither `charts` nor `profiles`"));
    fs::create_dir_all(folder.0.join("charts/base")).unwrap();
    let metadata = "apiVersion: v2\nname: istiod\nversion: 1.0.0\n";
    fs::write(folder.0.join("charts/base/Chart.yaml"), metadata.replace("istiod", "base")).unwrap();
    assert_eq!(version(&*open(folder.0.to_str().unwrap(), &options).unwrap(), "base"), "1.0.0");
    let one = Folder::new("one");
    fs::write(one.0.join("Chart.yaml"), metadata).unwrap();
    let charts = open(one.0.to_str().unwrap(), &options).unwrap();
    assert_eq!(version(&*charts, ISTIOD), "1.0.0");
    assert!(charts.profiles().contains(&"default".to_owned()));
    let error = charts.chart("base").unwrap_err().to_string();
    assert!(error.contains("no chart `base`") && error.contains("the chart istiod alone"), "{error}");
    assert!(refused("/nowhere/at/all", &options).contains("/nowhere/at/all: No such file"));
}

#[test]
fn an_archive_holds_a_release_or_one_chart() {
    let folder = Folder::new("archive");
    let path = folder.0.join("x.tgz");
    let text = path.to_str().unwrap();
    let options = SourceOptions::default();
    let metadata = "apiVersion: v2\nname: base\nversion: 1.2.3\n";
    let release = archive(&[
        ("istio-1/bin/istioctl", "binary"),
        ("istio-1/samples/x/charts/base/Chart.yaml", "name: wrong"),
        ("istio-1/t/charts/base/Chart.yaml", "name: wrong"),
        ("istio-1/manifests/charts/base/Chart.yaml", metadata),
        ("istio-1/manifests/profiles/default.yaml", "spec: {}\n"),
        ("istio-1/manifests/profiles/mine.yaml", "spec: {}\n"),
    ]);
    fs::write(&path, release).unwrap();
    let charts = open(text, &options).unwrap();
    assert_eq!(version(&*charts, "base"), "1.2.3");
    assert_eq!(charts.profiles(), ["default", "mine"]);
    let error = charts.profile("min").unwrap_err().to_string();
    assert!(error.contains("did you mean `mine`?"), "{error}");
    fs::write(&path, chart("ztunnel", "3.0.0")).unwrap();
    assert_eq!(version(&*open(text, &options).unwrap(), "ztunnel"), "3.0.0");
    for (bytes, told) in [
        (b"garbage".to_vec(), "x.tgz: this is no gzip-compressed tar archive"),
        (archive(&[("a/b", "c")]), "holds neither `charts` and `profiles` nor a chart"),
        (chart("base", "1.0.0")[..60].to_vec(), "damaged or cut short"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = refused(text, &options);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_repository_gives_the_newest_release_or_what_is_asked_for() {
    let server = Server::with(repository(&["1.26.0", "1.27.1", "1.27.0", "1.28.0-rc.1"]));
    let cache = Folder::new("versions");
    let options = options(&server, &cache);
    for (asked, wanted_version) in
        [(None, "1.27.1"), (Some("1.26"), "1.26.0"), (Some("1.28.0-rc.1"), "1.28.0-rc.1")]
    {
        let options = SourceOptions { version: asked.map(str::to_owned), ..options.clone() };
        let charts = open(&server.url("/charts/"), &options).unwrap();
        assert_eq!(version(&*charts, "base"), wanted_version);
        assert_eq!(version(&*charts, ISTIOD), wanted_version);
        assert!(charts.profiles().contains(&"demo".to_owned()));
    }
    let error = refused(&server.url("/charts"), &wanted("1.27.9", &options));
    assert!(error.contains("no version 1.27.9 of chart base"), "{error}");
    assert!(error.ends_with("there are 1.27.1, 1.27.0, 1.28.0-rc.1, 1.26.0"), "{error}");
    let charts = open(&server.url("/charts"), &options).unwrap();
    let error = charts.chart("ztunnel").unwrap_err().to_string();
    assert!(error.contains("there is no chart ztunnel in the chart repository"), "{error}");
    let error = charts.chart("gateways/istio-ingress").unwrap_err().to_string();
    assert!(error.contains("which has base, istiod, gateway, cni, ztunnel"), "{error}");
}

#[test]
fn what_was_fetched_is_used_without_a_network() {
    let server = Server::with(repository(&["1.26.0", "1.27.0"]));
    let cache = Folder::new("offline");
    let options = options(&server, &cache);
    let url = server.url("/charts");
    let error = refused(&url, &offline(&options));
    assert!(error.contains("is not in the cache") && error.contains("leave --offline out once"), "{error}");
    assert!(server.asked().is_empty());
    for folder in ["base", ISTIOD] {
        assert_eq!(version(&*open(&url, &options).unwrap(), folder), "1.27.0");
    }
    // A chart that is kept is not fetched again.
    let fetched = |server: &Server| server.asked().iter().filter(|path| path.ends_with(".tgz")).count();
    assert_eq!(fetched(&server), 2);
    version(&*open(&url, &options).unwrap(), "base");
    assert_eq!(fetched(&server), 2);
    let before = server.asked().len();
    for asked in [None, Some("1.27.0")] {
        let options = SourceOptions { version: asked.map(str::to_owned), ..offline(&options) };
        let charts = open(&url, &options).unwrap();
        assert_eq!(version(&*charts, "base"), "1.27.0");
        assert_eq!(version(&*charts, ISTIOD), "1.27.0");
    }
    assert_eq!(server.asked().len(), before);
    // A damaged file of the cache is as good as none.
    for file in fs::read_dir(cache.0.join("blobs")).unwrap() {
        fs::write(file.unwrap().path(), "damaged").unwrap();
    }
    assert!(refused(&url, &offline(&options)).contains("is not in the cache"));
    assert_eq!(version(&*open(&url, &options).unwrap(), "base"), "1.27.0");
}

#[test]
fn where_nobody_answers_and_nothing_is_kept_it_is_told() {
    let cache = Folder::new("down");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("https://127.0.0.1:{port}/charts");
    let options = SourceOptions { cache: Some(cache.0.clone()), ..SourceOptions::default() };
    let error = refused(&url, &options);
    assert!(error.contains("cannot be reached"), "{error}");
    let archive_url = format!("{url}/base-1.0.0.tgz");
    assert!(refused(&archive_url, &options).contains("cannot be reached"));
    assert!(refused(&archive_url, &offline(&options)).contains("is not in the cache"));
}

#[test]
fn an_archive_behind_a_url_is_kept_too() {
    let server = Server::with([("/a/base-1.0.0.tgz".to_owned(), Reply::ok(chart("base", "1.0.0")))]);
    let cache = Folder::new("url");
    let options = options(&server, &cache);
    let url = server.url("/a/base-1.0.0.tgz");
    assert_eq!(version(&*open(&url, &options).unwrap(), "base"), "1.0.0");
    assert_eq!(version(&*open(&url, &offline(&options)).unwrap(), "base"), "1.0.0");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_repository_that_answers_garbage_is_refused() {
    let good = chart("base", "1.0.0");
    let index = |entry: &str| Reply::ok(format!("entries: {{base: [{entry}]}}"));
    let file = |reply: Reply| {
        vec![
            (
                "/index.yaml".to_owned(),
                index(&format!("{{version: 1.0.0, urls: [b.tgz], digest: {}}}", digest(&good))),
            ),
            ("/b.tgz".to_owned(), reply),
        ]
    };
    let page = |reply: Reply| vec![("/index.yaml".to_owned(), reply)];
    let to = |location: &str| Reply::status(302, vec![("location", location.to_owned())]);
    for (pages, told) in [
        (page(Reply::ok("<html>Welcome</html>")), "answers what cannot be understood"),
        (page(Reply::ok("")), "it is empty"),
        (page(Reply::ok("entries: [")), "it is no YAML"),
        (page(Reply::ok("hello: world")), "it is no chart repository"),
        (page(Reply::ok(vec![0xff, 0xfe, 0])), "it is no YAML"),
        (page(Reply { lacking: 10, ..index("") }), "the answer is cut short"),
        (page(Reply::status(500, vec![])), "answers 500: try again later"),
        (page(Reply::status(403, vec![])), "answers 403 (not allowed)"),
        (page(to("/index.yaml")), "redirects without end"),
        (page(to("http://charts.example/index.yaml")), "plain http is only taken from this machine"),
        (page(to("::")), "answers"),
        (page(index("{version: 1.0.0}")), "no address for base 1.0.0"),
        (page(index("{version: 1.0.0, urls: [b.tgz], digest: abc}")), "is none of sha256"),
        (page(index("7, {version: [1]}, null")), "it has none"),
        (file(Reply::ok(chart("base", "6.6.6"))), "its digest is sha256:"),
        (file(Reply { lacking: 5, ..Reply::ok(good.clone()) }), "cut short"),
        (file(Reply::status(404, vec![])), "answers 404 (not found)"),
    ] {
        let server = Server::with(pages);
        let cache = Folder::new(&format!("garbage-{}", server.address.port()));
        let error = refused(&server.url(""), &options(&server, &cache));
        assert!(error.contains(told), "{told:?} is not in {error:?}");
        assert_eq!(error.lines().count(), 1, "{error:?}");
        assert!(!cache.0.join("blobs").exists(), "{told}: something was kept");
    }
}

#[test]
fn a_server_whose_certificate_nobody_vouches_for_is_refused() {
    let server = Server::with(repository(&["1.0.0"]));
    let cache = Folder::new("stranger");
    let options = SourceOptions { roots: None, ..options(&server, &cache) };
    let error = refused(&server.url("/charts"), &options);
    assert!(error.contains("cannot be reached") && error.contains("certificate"), "{error}");
    assert!(server.asked().is_empty());
}
