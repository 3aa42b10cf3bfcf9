//! What `docs/up.md` and the README tell people to type is typed, in the order in which it stands there.

#![allow(clippy::unwrap_used, reason = "tests")]

mod up;

use mizzen_testkit::{Envoy, needs};
use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};
use up::{folder, mizzen, said};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The lines of a document's `sh` blocks, without comments.
fn commands(paper: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(paper)).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    let lines = blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>());
    lines
        .map(|line| line.split("  #").next().unwrap().trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// As a person in that folder would, with `mizzen` in the path; the ports of the ingress and the page are those that `up` found.
fn typed(folder: &Path, line: &str, ingress: u16) -> String {
    let programs = folder.join(".programs");
    fs::create_dir_all(&programs).unwrap();
    if !programs.join("mizzen").exists() {
        std::os::unix::fs::symlink(up::BINARY, programs.join("mizzen")).unwrap();
    }
    let line = line.replace("127.0.0.1:8080", &format!("127.0.0.1:{ingress}"));
    let mut shell = Command::new("bash");
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    shell.args(["-ec", &line]).current_dir(folder).env("PATH", path);
    // The same environment as for the binary itself.
    for (name, value) in mizzen(folder, &[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.output().unwrap();
    assert!(output.status.success(), "`{line}` ended with {}: {}", output.status, said(&output));
    said(&output)
}

fn ingress(folder: &Path) -> u16 {
    let Ok(text) = fs::read(folder.join(".mizzen/run.json")) else { return 8080 };
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap();
    record["ingress"].as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap()
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    let lines = commands("docs/up.md");
    assert!(lines.len() >= 12, "{lines:?}");
    let mut told = Vec::new();
    for line in &lines {
        let said = typed(&folder, line, ingress(&folder));
        told.push((line.as_str(), said));
        // A person needs longer than that to type the next line.
        if line.starts_with("cp ") || line.starts_with("rm ") {
            std::thread::sleep(std::time::Duration::from_secs(2));
        }
    }
    let after = |start: &str| -> Vec<&str> {
        told.iter().filter(|(line, _)| line.starts_with(start)).map(|(_, said)| said.as_str()).collect()
    };
    assert!(after("mizzen up --detach")[0].contains("A mesh is up"), "{told:#?}");
    let curls = after("curl");
    assert!(curls[0].contains("Reviews v1") && curls[1].contains("Reviews v3"), "{curls:#?}");
    assert!(curls.last().unwrap().contains("no ratings: status 555"), "{curls:#?}");
    assert!(after("mizzen traffic")[0].contains("reviews"), "{:#?}", after("mizzen traffic"));
    assert!(after("mizzen down")[0].contains("has ended"));
    assert!(folder.join("mesh.yaml").exists(), "`--init` was among them");
}

#[test]
fn the_readme_starts_a_mesh_with_its_first_command() {
    needs!(Envoy::NEEDS);
    let lines = commands("README.md");
    assert_eq!(lines.first().map(String::as_str), Some("cargo run --release -- up"));
    // Built already, and where another process may have the usual port.
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let mesh = up::Mesh::up(folder());
    assert!(mesh.get("/", &[]).unwrap().body.contains("The chandlery"));
    mesh.down();
}
