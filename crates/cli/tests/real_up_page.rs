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
    let called = "shop-v1 calls reviews-v3";
    let (page, _) = seen(&mesh);
    assert!(page.contains("<svg") && !page.contains(called), "{page}");
    for _ in 0..20 {
        mesh.shop(&["x-user: ana"]);
    }
    until("the calls to be counted", || {
        let edges = mesh.view()["edges"].clone();
        let all = edges.as_array().unwrap();
        let counted = |from: &str, to: &str| {
            all.iter().any(|edge| edge["from"] == from && edge["to"] == to && edge["requests"] == 20)
        };
        let whole = counted("shop-v1", "reviews-v3") && counted("reviews-v3", "ratings-v1");
        if whole { Ok(()) } else { Err(edges.to_string()) }
    });
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
    // What was called, as the lines of the graph say it, with its count.
    assert!(page.contains("<svg") && page.contains("20 so far, 0 failed"), "{page}");
    assert!(page.contains(called) && page.contains("reviews-v3 calls ratings-v1"), "{page}");
    assert!(!page.contains("shop-v1 calls reviews-v1"), "nobody called it: {page}");
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert_eq!(complaints, Vec::<&str>::new());
    mesh.down();
}
