//! An application on a real API server: previewed, applied, changed, rolled back, destroyed.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many objects there were is part of the result")]

mod application;
mod site;

use application::{Application, full, within};
use mizzen_testkit::{Controllers, Result, needs};
use serde_json::{Value, json};
use std::{fs, path::Path, time::Instant};
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn an_application_of_everything_is_applied_changed_rolled_back_and_destroyed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    // One row is about living elsewhere.
    shop.site.server.kubectl(&["create", "namespace", "other"]).await?;
    let before = shop.everything().await;
    let mut app = full();
    shop.write(&app);
    let spec = shop.spec().await;

    let told = shop.app("preview").await;
    assert!(
        told.out.contains(&format!("{} to create, 0 to update, 0 to delete, 0 unchanged\n", spec.len())),
        "{}",
        told.out
    );
    assert!(told.err.contains("there is no control plane in this cluster"), "{}", told.err);
    assert_eq!(shop.everything().await, before, "a preview writes nothing");

    let since = Instant::now();
    let told = shop.app("apply -y").await.well();
    println!("{} objects applied in {:.1} s", spec.len(), since.elapsed().as_secs_f64());
    assert!(
        told.contains(&format!("[{}/{}] created ", spec.len(), spec.len()))
            && told.ends_with("release 1 is in force\n"),
        "{told}"
    );
    let first = shop.state().await;
    for (key, wanted) in &spec {
        assert!(within(wanted, &first[key]), "{key}: {wanted:#}\n{:#}", first[key]);
    }
    let all = shop.everything().await;
    let told = shop.app("apply -y").await.well();
    assert!(told.ends_with("everything is as it should be; nothing was written\n"), "{told}");
    assert_eq!(shop.everything().await, all);

    // One line.
    app["istio"]["virtualServices"]["b0"]["hosts"] = json!(["changed.example.com"]);
    shop.write(&app);
    let preview: Value = serde_json::from_str(&shop.app("preview -o json").await.well()).unwrap();
    let steps = preview["steps"].as_array().unwrap();
    let changed: Vec<&Value> = steps.iter().filter(|step| step["action"] != "UnChanged").collect();
    let [only] = changed.as_slice() else { panic!("{changed:#?}") };
    assert_eq!((&only["action"], &only["object"]["name"]), (&json!("Update"), &json!("shop-b0")));
    let changes = only["changes"].as_array().unwrap();
    assert_eq!(
        (changes.len(), &changes[0]["path"], &changes[0]["after"]),
        (1, &json!("spec.hosts[0]"), &json!("changed.example.com")),
        "{only:#}"
    );
    let told = shop.app("preview").await.well();
    assert!(
        told.contains("  ~ VirtualService shop/shop-b0\n      spec.hosts[0]: ")
            && told.contains("0 to create, 1 to update, 0 to delete"),
        "{told}"
    );
    // For people at a terminal the same in colours.
    let coloured = shop.coloured("preview").await;
    assert!(
        coloured.contains("\u{1b}[33m~ VirtualService shop/shop-b0\u{1b}[0m")
            && coloured.contains("\u{1b}[32m\"changed.example.com\""),
        "{coloured:?}"
    );
    let told = shop.app("apply -y").await.well();
    assert!(told.contains("updated VirtualService shop/shop-b0\n") && !told.contains("created"), "{told}");
    let second = shop.state().await;
    let differ: Vec<&String> = first.keys().filter(|key| first.get(*key) != second.get(*key)).collect();
    assert_eq!(differ, ["VirtualService shop/shop-b0"]);

    let told = shop.app("rollback -y").await.well();
    assert!(told.starts_with("back to release 1 of ") && told.ends_with("release 3 is in force\n"), "{told}");
    assert_eq!(shop.state().await, first);
    let releases = shop.releases().await;
    let listed: Vec<(&Value, &Value)> =
        releases["releases"].as_array().unwrap().iter().map(|one| (&one["what"], &one["phase"])).collect();
    let succeeded = &json!("succeeded");
    assert_eq!(
        listed,
        [
            (&json!("apply"), succeeded),
            (&json!("apply"), succeeded),
            (&json!({"rollback": {"to": 1}}), succeeded)
        ]
    );
    assert_eq!((&releases["inForce"], &releases["lock"]), (&json!(3), &Value::Null));

    let since = Instant::now();
    let told = shop.app("destroy -y").await.well();
    println!("destroyed in {:.1} s", since.elapsed().as_secs_f64());
    assert!(told.ends_with("shop/default is gone\n"), "{told}");
    assert_eq!(shop.everything().await, before, "nothing is left");
    assert!(shop.app("destroy -y").await.well().contains("nothing of shop/default is recorded"));
    Ok(())
}

/// The commands of the page's console, each with what it prints.
fn console() -> Vec<(String, String)> {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/app-model.md")).unwrap();
    let text = page.split_once("```console\n").unwrap().1.split_once("```").unwrap().0;
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command.to_owned(), String::new())),
            None => commands.last_mut().unwrap().1 += &format!("{line}\n"),
        }
    }
    commands
}

/// Without who and when.
fn anonymous(text: &str) -> String {
    let word = |word: &str| match word {
        word if word.contains('@') => "ana@laptop".to_owned(),
        word if word.len() == 20 && word.ends_with('Z') => "2026-11-17T20:04:11Z".to_owned(),
        word => word.to_owned(),
    };
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<String> = line.split_whitespace().map(word).collect();
        // Columns are as wide as what is in them.
        format!("{}{}\n", &line[..indent], words.join(" "))
    };
    text.lines().map(line).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_documentation_shows_is_what_is_printed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(format!("{}/.", example.display()))
        .arg(&shop.folder)
        .status()
        .await
        .unwrap();
    assert!(copied.success());
    shop.start("ana", &shop.site.server.kubeconfig_file(), "apply --stack dev -y").ended().await.well();
    for (command, shown) in console() {
        let printed = match command.strip_prefix("mizzen app ") {
            Some(line) => shop.start("ana", &shop.site.server.kubeconfig_file(), line).ended().await.well(),
            None => {
                let done = Command::new("sh")
                    .args(["-c", &command])
                    .current_dir(&shop.folder)
                    .status()
                    .await
                    .unwrap();
                assert!(done.success(), "{command}");
                String::new()
            }
        };
        assert_eq!(anonymous(&printed), anonymous(&shown), "{command} prints:\n{printed}");
    }
    Ok(())
}
