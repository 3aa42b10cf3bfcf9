//! Others at work beside us: a second installation at the same time, istioctl after us, lists that somebody breaks.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod site;

use mizzen_testkit::{
    Controllers, Result,
    faults::{Fault, Verb},
    needs,
};
use serde_json::{Value, json};
use site::{BINARY, Site, changed, upstream};
use std::{fs, path::Path, time::Duration};

#[tokio::test(flavor = "multi_thread")]
async fn of_two_installations_at_once_the_last_one_wins_and_the_other_is_told() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y --set profile=minimal").await.well();
    let alone = site.state().await;
    let faults = site.server.faults().await?;
    let slow = faults.kubeconfig_file();
    for after in [2, 12, 30] {
        site.mizzen("uninstall --purge -y").await.well();
        let delayed = faults.inject(Fault::delay(Duration::from_millis(250)).on(Verb::Write));
        let first = site.run(Path::new(BINARY), &slow, "install -y --set profile=demo");
        let second = async {
            while delayed.hits() < after {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            site.mizzen("install -y --set profile=minimal").await
        };
        let (first, second) = tokio::join!(first, second);
        faults.clear();
        second.well();
        let told = first.badly();
        assert!(
            told.contains("somebody else works on the same installation"),
            "after {after} writes: {told}"
        );
        // Whatever the first still did on its way out, running it again makes it right.
        site.mizzen("install -y --set profile=minimal").await.well();
        let state = site.state().await;
        let keys: Vec<_> = state.keys().filter(|key| !alone.contains_key(*key)).collect();
        assert!(keys.is_empty(), "after {after} writes these are left: {keys:?}");
        for (key, object) in &alone {
            assert_eq!(state.get(key), Some(object), "after {after} writes: {key}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_want_the_same_objects_with_other_values_are_two() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let faults = site.server.faults().await?;
    let slow = faults.kubeconfig_file();
    let line = |verb: &str, file: &str| {
        format!("{verb} --set profile=minimal --set meshConfig.accessLogFile={file}")
    };
    site.mizzen(&line("install -y", "/dev/null")).await.well();
    // Its list, two objects, its list again: the second one does all its work while one of these is on its way.
    for held in [2, 4] {
        let late = faults.inject(Fault::delay(Duration::from_secs(20)).on(Verb::Write).nth(held));
        let (ours, theirs) = (line("install -y", "/a"), line("install -y", "/b"));
        let first = site.run(Path::new(BINARY), &slow, &ours);
        let second = async {
            while late.hits() == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            site.mizzen(&theirs).await
        };
        let (first, second) = tokio::join!(first, second);
        faults.clear();
        second.well();
        let told = first.badly();
        assert!(told.contains("somebody else works on the same installation"), "write {held}: {told}");
        site.mizzen(&line("diff", "/b")).await.well();
        site.mizzen(&line("install -y", "/dev/null")).await.well();
    }
    Ok(())
}

/// With a reader who has seen enough.
async fn unread(site: &Site, line: &str, reader: &str) {
    let kubeconfig = site.server.kubeconfig_file();
    let line = format!("set -o pipefail; {BINARY} {line} --kubeconfig {} | {reader}", kubeconfig.display());
    let ended = tokio::process::Command::new("bash").args(["-c", &line]).output().await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stops_reading_does_not_stop_the_work() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    for reader in ["true", "head -3"] {
        unread(&site, "install -y --set profile=minimal", reader).await;
        site.mizzen("diff --set profile=minimal").await.well();
        unread(&site, "uninstall --purge -y", reader).await;
        let left = site.mizzen("uninstall --purge -y").await.well();
        assert!(left.contains("there is nothing to remove"), "{left}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn istioctl_after_us_and_us_again_harm_nothing() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio", "istioctl"]);
    let site = Site::start().await?;
    let flags = format!("-d {} --set profile=demo --set tag=1.31.0", upstream().display());
    site.istioctl(&format!("install -y {flags}")).await.well();
    site.mizzen(&format!("install -y --adopt {flags}")).await.well();
    // Whoever leaves the option in their script has nothing to do the second time.
    let adopted = site.versions().await;
    let told = site.mizzen(&format!("install -y --adopt {flags}")).await.well();
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(site.versions().await, adopted);
    site.mizzen(&format!("diff --adopt {flags}")).await.well();

    site.istioctl(&format!("install -y {flags}")).await.well();
    let told = site.mizzen(&format!("install -y {flags}")).await.well();
    assert!(!told.contains("2000m") && !told.contains("1024Mi"), "what is only written differently: {told}");
    site.mizzen(&format!("install -y --adopt {flags}")).await.well();
    let again = site.versions().await;
    site.mizzen(&format!("install -y {flags}")).await.well();
    assert_eq!(changed(&again, &site.versions().await), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_somebody_breaks_harms_no_other_and_is_told_to_its_owner() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y --set profile=minimal").await.well();
    let broken = |name: &str, namespace: &str| {
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "inventory.json": "{" },
            "metadata": { "name": name, "namespace": namespace, "labels": { "mizzen.io/inventory": "x" } } })
    };
    for (name, namespace) in [("anything", "default"), ("mizzen-inventory-other", "default")] {
        site.server.apply(&broken(name, namespace).to_string()).await?;
    }
    let told = site.mizzen("install -y --set profile=minimal").await.well();
    assert!(told.contains("nothing was written"), "{told}");
    let patch = r#"{"data":{"inventory.json":"{"}}"#;
    let map =
        ["-n", "istio-system", "patch", "configmap", "mizzen-inventory-default", "--type=merge", "-p", patch];
    site.server.kubectl(&map).await?;
    let told = site.mizzen("install -y --set profile=minimal").await.badly();
    assert!(
        told.contains("mizzen-inventory-default") && told.contains("delete it to begin a new list"),
        "{told}"
    );
    site.mizzen("uninstall --purge -y").await.well();
    let left = site.objects().await;
    assert!(!left.contains_key("ConfigMap istio-system/mizzen-inventory-default"), "{:?}", left.keys());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_refused_before_anything_is() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let before = site.versions().await;
    let elsewhere = "--set components.ingressGateways.[0].namespace=edge";
    let told = site.mizzen(&format!("install -y {elsewhere}")).await.badly();
    assert!(told.contains("there is no namespace edge") && told.contains("nothing was done"), "{told}");
    assert_eq!(changed(&before, &site.versions().await), Vec::<String>::new());
    site.server.kubectl(&["create", "namespace", "edge"]).await?;
    site.mizzen(&format!("install -y {elsewhere}")).await.well();
    assert!(site.objects().await.contains_key("Deployment edge/istio-ingressgateway"));
    let both = site.mizzen("uninstall -y --purge --revision nowhere").await;
    assert_eq!(both.code, Some(2), "{}", both.err);

    // A name that cannot be a label of everything.
    let installed = site.versions().await;
    let file = site.server.kubeconfig_file().with_file_name("named.yaml");
    for name in ["Foo_Bar".to_owned(), "a".repeat(64)] {
        let operator = json!({ "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
            "metadata": { "name": name, "namespace": "istio-system" }, "spec": { "profile": "minimal", "revision": "x" } });
        fs::write(&file, operator.to_string()).unwrap();
        let told = site.mizzen(&format!("install -y -f {}", file.display())).await.badly();
        assert!(told.contains(&format!("the name {name:?} of the IstioOperator")), "{told}");
    }
    assert_eq!(changed(&installed, &site.versions().await), Vec::<String>::new());

    // Back, and over a minor version: told by the image, whatever sets it; and a script still reads JSON.
    site.mizzen("install -y --set tag=0.9.3 --force").await.well();
    for line in ["install -y", "install -y --set tag=0.9.3 --set components.pilot.tag=0.7.0"] {
        let told = site.mizzen(line).await.badly();
        assert!(told.contains("0.9.3 is running, and going back to"), "{line}: {told}");
    }
    let refused = site.mizzen("install -y -o json").await;
    let told: Value = serde_json::from_str(&refused.out).unwrap();
    assert!(told["problems"][0]["message"].as_str().unwrap().contains("going back"), "{told}");
    assert_eq!(refused.code, Some(1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_of_a_file_goes_by_its_file_and_an_empty_one_leaves_no_tag() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let file = site.server.kubeconfig_file().with_file_name("mesh.yaml");
    let operator = json!({ "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
        "metadata": { "name": "two", "namespace": "elsewhere" }, "spec": { "profile": "minimal", "revision": "two" } });
    fs::write(&file, operator.to_string()).unwrap();
    site.mizzen(&format!("install -y -f {}", file.display())).await.well();
    site.mizzen("tag set prod --revision two -y").await.well();
    let told = site.mizzen(&format!("uninstall -y -f {}", file.display())).await.well();
    assert!(told.contains("the tag prod will point at nothing"), "{told}");
    let left = site.objects().await;
    assert!(left.keys().all(|key| !key.ends_with("-two")), "{:?}", left.keys());

    site.mizzen("install -y --set profile=minimal").await.well();
    site.mizzen("install -y --set profile=empty").await.well();
    let left = site.objects().await;
    for gone in ["istio-revision-tag-default", "istiod-default-validator", "istiod"] {
        assert!(left.keys().all(|key| !key.ends_with(&format!("/{gone}"))), "{gone}: {:?}", left.keys());
    }
    Ok(())
}
