//! Two people on one application: one waits and is told for whom; a lock that nobody cares for is explained, and can be broken.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod application;
mod site;

use application::{Application, Running};
use mizzen_testkit::{
    Controllers, Result,
    faults::{Fault, Verb},
    needs,
    wait::{PATIENCE, Seen, until},
};
use serde_json::json;
use std::time::Duration;

fn map(value: &str) -> String {
    let object = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ a: \"{value}\" }}\n"
        )
    };
    ["one", "two", "three", "four"].map(object).concat()
}

/// An application of four plain objects.
async fn four() -> Result<Application> {
    let shop = Application::without_kinds().await?;
    shop.site.server.kubectl(&["create", "namespace", "shop"]).await?;
    shop.file("app.yaml", "name: shop\ncreateNamespace: false\nmanifests: [objects.yaml]\n");
    shop.file("objects.yaml", map("1"));
    Ok(shop)
}

/// One that is at work, and stays so because the server is slow to it.
async fn slow(shop: &Application) -> Result<(Running, mizzen_testkit::Faults)> {
    delayed(shop, Fault::delay(Duration::from_millis(700)).on(Verb::Write), 3).await
}

/// The same, and longer than others need to come and look: one of its objects is on its way for so long.
async fn held(shop: &Application) -> Result<(Running, mizzen_testkit::Faults)> {
    delayed(shop, Fault::delay(Duration::from_secs(20)).on(Verb::Write).nth(3), 1).await
}

async fn delayed(shop: &Application, fault: Fault, hits: u64) -> Result<(Running, mizzen_testkit::Faults)> {
    let faults = shop.site.server.faults().await?;
    let delayed = faults.inject(fault);
    let first = shop.start("ana", &faults.kubeconfig_file(), "apply -y");
    let begun = async || Seen::when(delayed.hits() >= hits, || format!("{} writes", delayed.hits()));
    until("ana to be at work", PATIENCE, begun).await?;
    Ok((first, faults))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_waits_for_the_first_and_is_told_for_whom() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = four().await?;
    let (first, faults) = held(&shop).await?;
    // Who only looks does not wait.
    let told = shop.app("preview").await.well();
    assert!(told.starts_with("at work: ana@") && told.contains("(apply as release 1, "), "{told}");
    shop.file("objects.yaml", map("2"));
    let second = shop.start("ben", &shop.site.server.kubeconfig_file(), "apply -y");
    let (first, second) = (first.ended().await, second.ended().await);
    assert!(first.well().ends_with("release 1 is in force\n"));
    let told = second.well();
    assert!(told.starts_with("waiting for ana@") && told.contains("(apply as release 1, "), "{told}");
    assert!(told.contains("0 to create, 4 to update") && told.ends_with("release 2 is in force\n"), "{told}");
    let releases = shop.releases().await;
    let by: Vec<bool> = ["ana@", "ben@"]
        .iter()
        .zip(releases["releases"].as_array().unwrap())
        .map(|(who, release)| release["by"].as_str().unwrap().starts_with(who))
        .collect();
    assert_eq!((by.as_slice(), &releases["lock"]), ([true, true].as_slice(), &json!(null)), "{releases:#}");
    let held = shop
        .site
        .server
        .kubectl(&["-n", "shop", "get", "configmap", "four", "-o", "jsonpath={.data.a}"])
        .await?;
    assert_eq!(held, "2");
    drop(faults);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_begin_at_the_same_moment_come_one_after_the_other() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = four().await?;
    let kubeconfig = shop.site.server.kubeconfig_file();
    let crowd: Vec<Running> =
        ["ana", "ben", "eve"].map(|who| shop.start(who, &kubeconfig, "apply -y")).into();
    let mut in_force = 0;
    for one in crowd {
        let told = one.ended().await.well();
        in_force += usize::from(told.ends_with("release 1 is in force\n"));
        assert!(told.contains("release 1 is in force") || told.contains("nothing was written"), "{told}");
    }
    assert_eq!(in_force, 1, "the others had nothing to do");
    let releases = shop.releases().await;
    assert_eq!((releases["releases"].as_array().unwrap().len(), &releases["lock"]), (1, &json!(null)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_was_killed_is_known_to_be_gone_on_the_same_machine() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = four().await?;
    let (first, faults) = slow(&shop).await?;
    first.kill().await;
    drop(faults);
    let told = shop.app("releases").await.well();
    assert!(told.contains("cut off") && !told.contains("running"), "{told}");
    assert!(told.contains("nobody is at work: the process of ana@") && !told.contains("\nat work"), "{told}");
    let shown = shop.releases().await;
    assert_eq!(
        (&shown["presence"], &shown["releases"][0]["phase"]),
        (&json!("gone"), &json!("cutOff")),
        "{shown:#}"
    );
    assert!(shop.app("releases --all").await.well().contains("cut off"));
    let told = shop.app("apply -y").await.well();
    assert!(
        told.starts_with("the process of ana@") && told.contains("is gone: going on from there"),
        "{told}"
    );
    assert!(told.ends_with("release 2 is in force\n"), "{told}");
    let told = shop.app("releases").await.well();
    let states: Vec<&str> = told.lines().skip(1).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(states, ["2*", "1"], "{told}");
    assert!(told.contains("cut off"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_of_somebody_who_is_not_heard_of_is_explained_and_can_be_broken() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = four().await?;
    let (first, faults) = slow(&shop).await?;
    // Alive, and without a word.
    first.signal("STOP").await;
    let shown = shop.releases().await;
    assert_eq!(shown["presence"], "atWork", "it was heard a moment ago: {shown:#}");
    let told = shop.app("apply -y").await;
    assert!(told.out.starts_with("waiting for ana@"), "{}", told.out);
    let told = told.badly();
    assert!(
        told.contains("shop/default is locked by ana@") && told.contains("nothing was heard for 30 s"),
        "{told}"
    );
    assert!(told.contains("--break-lock goes on from where it was"), "{told}");
    let shown = shop.releases().await;
    assert_eq!((&shown["presence"], &shown["releases"][0]["phase"]), (&json!("silent"), &json!("cutOff")));
    let told = shop.app("releases").await.well();
    assert!(told.contains("nothing is heard of ana@") && told.contains("--break-lock"), "{told}");
    let told = shop.app("apply -y --break-lock").await.well();
    assert!(
        told.starts_with("taking the lock from ana@") && told.ends_with("release 2 is in force\n"),
        "{told}"
    );
    // Who comes back finds that somebody else has taken over, and stops.
    faults.clear();
    first.signal("CONT").await;
    let told = first.ended().await.badly();
    assert!(
        told.contains("has taken over the work on shop/default") && told.contains("run this again"),
        "{told}"
    );
    let releases = shop.releases().await;
    assert_eq!((&releases["inForce"], &releases["lock"]), (&json!(2), &json!(null)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_ends_what_is_begun_and_leaves_no_lock() -> Result<()> {
    needs!(Controllers::NEEDS);
    interrupted("INT").await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_told_to_end_does_as_well() -> Result<()> {
    needs!(Controllers::NEEDS);
    interrupted("TERM").await
}

async fn interrupted(signal: &str) -> Result<()> {
    let shop = four().await?;
    // More than are begun at once.
    let many = (0..14).map(|number| map("1").replace("name: ", &format!("name: n{number}-")));
    shop.file("objects.yaml", many.collect::<String>());
    let (first, faults) = slow(&shop).await?;
    first.signal(signal).await;
    let ended = first.ended().await;
    let (out, told) = (ended.out.clone(), ended.badly());
    assert!(out.contains("ending what is begun; Ctrl-C again"), "{out}");
    assert!(
        told.contains("interrupted: release 1 is not complete")
            && told.contains("run the same command again"),
        "{told}"
    );
    let releases = shop.releases().await;
    assert_eq!(
        (&releases["lock"], &releases["releases"][0]["phase"]),
        (&json!(null), &json!("interrupted")),
        "{releases:#}"
    );
    drop(faults);
    assert!(shop.app("apply -y").await.well().ends_with("release 2 is in force\n"));
    Ok(())
}
