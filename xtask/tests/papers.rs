//! What the papers say must be so: links lead somewhere, crates and commands that are named exist.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn papers() -> Vec<(PathBuf, String)> {
    let files = [root(), root().join("docs")].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let papers = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let papers: Vec<_> = papers.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    assert!(papers.len() >= 5, "README, ARCHITECTURE, CONTRIBUTING, CHANGELOG, docs/differences");
    papers
}

fn folders(of: &Path) -> Vec<String> {
    let entries = fs::read_dir(of).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn links_lead_somewhere() {
    for (path, text) in papers() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !link.contains("://") && !file.is_empty() {
                assert!(path.parent().unwrap().join(file).exists(), "{}: {link}", path.display());
            }
        }
    }
}

#[test]
fn every_crate_has_its_paragraph_and_every_paragraph_its_crate() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in folders(&root().join("crates")) {
        assert!(text.contains(&format!("## `crates/{name}`")), "ARCHITECTURE.md has no paragraph on {name}");
    }
    for name in text.split("## `crates/").skip(1).filter_map(|rest| rest.split('`').next()) {
        assert!(root().join("crates").join(name).exists(), "ARCHITECTURE.md has a paragraph on {name}");
    }
}

#[test]
fn repository_commands_that_are_named_exist() {
    for (path, text) in papers() {
        for verb in text.split("cargo xtask ").skip(1) {
            let verb: String = verb.chars().take_while(char::is_ascii_lowercase).collect();
            let help = Command::new(env!("CARGO_BIN_EXE_xtask")).args([&verb, "--help"]).output().unwrap();
            assert!(help.status.success(), "{}: cargo xtask {verb}", path.display());
        }
    }
}
