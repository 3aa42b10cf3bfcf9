//! The long measurements still work: a small one of each.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]

use mizzen_testkit::{Controllers, Kcl, needs};
use serde_json::Value;
use std::process::Command;

fn quick(name: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["bench", name, "--quick"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap()
}

fn has_both(row: &Value, other: &str) {
    for side in ["mizzen", other] {
        assert!(row[side]["medianPeakBytes"].as_f64().unwrap() > 1e6, "{row:#}");
    }
    assert!(row["ratio"]["seconds"].as_f64().unwrap() > 0.0, "{row:#}");
}

#[test]
fn a_quick_look_at_validate_beside_istioctl_gives_both_and_their_ratio() {
    needs!(&["istioctl"]);
    has_both(&quick("validate"), "istioctl");
}

#[test]
fn a_quick_look_at_rendering_compares_what_both_print_and_gives_their_ratio() {
    needs!(&["istioctl", "helm", "modules/istio"]);
    let rows = quick("render");
    for (row, other) in [
        ("manifest generate, default", "istioctl"),
        ("manifest generate, demo", "istioctl"),
        ("chart istiod", "helm"),
    ] {
        has_both(&rows[row], other);
        assert!(rows[row]["equalBytes"].as_u64().unwrap() > 10_000, "{rows:#}");
    }
}

#[test]
fn a_quick_look_at_building_an_app_compares_what_kcl_prints_and_gives_their_ratio() {
    needs!(Kcl::NEEDS);
    let row = quick("app");
    for size in ["10", "20"] {
        has_both(&row["curve"][size], "kcl");
        assert_eq!(row["curve"][size]["equalObjects"].to_string(), size, "{row:#}");
    }
    has_both(&row["start"], "kcl");
}

#[test]
fn a_quick_look_at_up_gives_times_and_the_memory_of_every_process() {
    needs!(&["envoy"]);
    let row = quick("up");
    assert!(row["secondsToFirstAnswer"]["median"].as_f64().unwrap() > 0.0, "{row:#}");
    assert_eq!(row["secondsFromFileToTraffic"]["count"], 2, "{row:#}");
    let memory = row["memoryBytes"].as_object().unwrap();
    // up, the control plane, the ingress, and two for each of eight workloads.
    assert_eq!(memory.len(), 19, "{row:#}");
    assert!(memory.values().all(|bytes| bytes.as_u64().unwrap() > 100_000), "{row:#}");
}

#[test]
fn a_quick_look_at_installing_gives_times_and_requests_of_both() {
    needs!(Controllers::NEEDS, &["istioctl", "modules/istio"]);
    let steps = &quick("install")["steps"];
    for step in ["install", "installAgain", "uninstall"] {
        let row = &steps[step];
        for side in ["mizzen", "istioctl"] {
            assert!(row[side]["medianSeconds"].as_f64().unwrap() > 0.0, "{row:#}");
            assert!(row[side]["requests"]["all"].as_u64().unwrap() > 0, "{row:#}");
        }
        assert!(row["ratio"]["seconds"].as_f64().unwrap() > 0.0, "{row:#}");
    }
    assert_eq!(steps["installAgain"]["mizzen"]["requests"]["writes"], 0, "{steps:#}");
}

#[test]
fn a_quick_look_at_the_operator_gives_memory_times_and_requests() {
    needs!(Controllers::NEEDS);
    let row = quick("operator");
    let point = &row["curve"][0];
    assert_eq!(point["pods"], 100, "{row:#}");
    assert!(point["memory"]["resident"].as_u64().unwrap() > 1_000_000, "{row:#}");
    assert!(point["lookSeconds"].as_f64().unwrap() > 0.0, "{row:#}");
    assert!(row["lookRequests"]["reads"].as_u64().unwrap() > 10, "{row:#}");
    assert_eq!(row["lookRequests"]["writes"], 0, "{row:#}");
    // One for each that is restarted, and what the status says of it.
    assert!(row["restart"]["requests"]["writes"].as_u64().unwrap() >= 31, "{row:#}");
}
