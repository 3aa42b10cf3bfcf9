//! Results of long measurements, committed as `bench/results/NAME.json` with what they were measured on.

use std::{fs, process::Command};

use serde_json::{Value, json};

use crate::{keeper::keep, root};

pub(crate) fn save(name: &str, measured: &Value) -> anyhow::Result<()> {
    let folder = root().join("bench/results");
    fs::create_dir_all(&folder)?;
    let document = json!({
        "measured": measured,
        "date": said("date", &["-u", "+%Y-%m-%d"]),
        "commit": said("git", &["rev-parse", "--short", "HEAD"]),
        "rust": said("rustc", &["--version"]),
        "machine": format!("{}, {} cores", said("uname", &["-sm"]), cores()),
    });
    let path = folder.join(format!("{name}.json"));
    fs::write(&path, format!("{document:#}\n"))?;
    println!("saved: bench/results/{name}.json");
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = keep(Command::new(program).current_dir(root()).args(arguments)).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
