//! The long measurements still work: a small one of each.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]

use mizzen_testkit::needs;
use std::process::Command;

#[test]
fn a_quick_look_at_validate_beside_istioctl_gives_both_and_their_ratio() {
    needs!(&["istioctl"]);
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["bench", "validate", "--quick"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let row: serde_json::Value = serde_json::from_str(&text).unwrap();
    for side in ["mizzen", "istioctl"] {
        assert!(row[side]["medianPeakBytes"].as_f64().unwrap() > 1e6, "{row:#}");
    }
    assert!(row["ratio"]["seconds"].as_f64().unwrap() > 0.0, "{row:#}");
}
