//! The page of `mizzen up` in a real browser.

#![allow(clippy::unwrap_used, reason = "tests")]

mod up;

use mizzen_testkit::{Envoy, needs};
use std::{fs, process::Command};
use up::{Mesh, folder, said, until};

const BROWSER: &str = "/usr/bin/chromium";

/// What the page has become after a few seconds, and what the browser said about it.
fn seen(mesh: &Mesh) -> (String, String) {
    let output = Command::new(BROWSER)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .arg(format!("--user-data-dir={}", mesh.folder.join("browser").display()))
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--window-size=1280,1600",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("http://{}/", mesh.page))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn the_page_shows_the_calls_just_made_and_an_objects_problem_without_complaint() {
    needs!(&[BROWSER], Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    for _ in 0..20 {
        mesh.shop(&["x-user: ana"]);
    }
    let file = mesh.objects().join("reviews.yaml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("weight: 100", "weight: -5")).unwrap();
    until("the problem to be known", || {
        let problems = mesh.view()["problems"].clone();
        if problems.as_array().unwrap().is_empty() { Err(problems.to_string()) } else { Ok(()) }
    });
    let (page, log) = seen(&mesh);
    // Where long names may be broken.
    let page = page.replace("<wbr>", "");
    for word in [
        "ingress",
        "shop",
        "reviews",
        "ratings",
        "reviews.yaml:",
        "VirtualService",
        "spiffe://cluster.local/ns/default/sa/shop",
    ] {
        assert!(page.contains(word), "{word} is not on the page:\n{page}");
    }
    // The graph: an edge for what was called.
    assert!(page.contains("<svg") && page.contains("shop-v1") && page.contains("reviews-v3"), "{page}");
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!(complaints, Vec::<&str>::new());
    mesh.down();
}
