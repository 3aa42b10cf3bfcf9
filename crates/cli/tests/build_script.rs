//! The build script, run by hand over small repositories: what it finds out, and which files it asks to be watched.
//! (Whether cargo then builds again is cargo's business.)

mod common;

use common::Folder;
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The script as a program in the workspace, which is removed with the test.
fn compiled(workspace: &Path) -> PathBuf {
    let script = workspace.join("script");
    if !script.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-o"]).arg(&script).arg(source);
        assert!(rustc.status().expect("rustc").success());
    }
    script
}

/// A workspace with one crate and no repository.
fn unpacked(name: &str) -> Folder {
    let folder = Folder::new(name);
    for file in ["Cargo.toml", "Cargo.lock", "README.md", "crates/cli/src/main.rs"] {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, "1").expect("written");
    }
    folder
}

fn git(at: &Path, line: &str) {
    let mut git = Command::new("git");
    git.arg("-C").arg(at).args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
    ]);
    let output = git.args(line.split_whitespace()).output().expect("git");
    assert!(output.status.success(), "git {line}: {output:?}");
}

fn repository(name: &str) -> Folder {
    let folder = unpacked(name);
    for line in ["init -q", "add -A", "commit -qm first"] {
        git(folder.path(), line);
    }
    folder
}

struct Found {
    values: BTreeMap<String, String>,
    watched: Vec<PathBuf>,
}

fn script(workspace: &Path, variables: &[(&str, &str)]) -> Found {
    let mut command = Command::new(compiled(workspace));
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
    command.env("CARGO_MANIFEST_DIR", workspace.join("crates/cli")).current_dir(workspace.join("crates/cli"));
    let output = command.envs(variables.iter().copied()).output().expect("runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let lines =
        |start: &str| -> Vec<_> { text.lines().filter_map(|line| line.strip_prefix(start)).collect() };
    let values = lines("cargo::rustc-env=MIZZEN_BUILT_").into_iter().filter_map(|line| line.split_once('='));
    Found {
        values: values.map(|(name, value)| (name.into(), value.into())).collect(),
        watched: lines("cargo::rerun-if-changed=").into_iter().map(PathBuf::from).collect(),
    }
}

impl Found {
    fn state(&self) -> (&str, &str) {
        (&self.values["STATUS"], &self.values["TAG"])
    }

    /// Cargo runs the script every time when one of these is missing.
    fn watches_what_exists(&self, workspace: &Path) {
        for path in &self.watched {
            let path = workspace.join("crates/cli").join(path);
            assert!(path.exists() || path.ends_with("build.rs"), "{} is watched but missing", path.display());
        }
    }

    fn watches(&self, end: &str) -> bool {
        self.watched.iter().any(|path| path.ends_with(end))
    }
}

#[test]
fn a_tarball_is_unknown_even_inside_somebody_elses_repository_and_without_git() {
    let outer = repository("outer");
    let inner = outer.path().join("inner");
    fs::create_dir_all(inner.join("crates/cli/src")).unwrap();
    let alone = unpacked("tarball");
    for (workspace, variables) in [
        (inner.as_path(), vec![]),
        (alone.path(), vec![("GIT_CEILING_DIRECTORIES", "/")]),
        (outer.path(), vec![("PATH", "/nowhere")]),
    ] {
        let found = script(workspace, &variables);
        assert_eq!((found.values["REVISION"].as_str(), found.state()), ("unknown", ("unknown", "unknown")));
        found.watches_what_exists(workspace);
    }
}

#[test]
fn a_packager_may_say_what_cannot_be_found() {
    let alone = unpacked("packager");
    let given =
        [("MIZZEN_BUILD_REVISION", "abc"), ("MIZZEN_BUILD_STATUS", "Clean"), ("MIZZEN_BUILD_TAG", "")];
    let found = script(alone.path(), &given);
    assert_eq!((found.values["REVISION"].as_str(), found.state()), ("abc", ("Clean", "unknown")));
}

#[test]
fn only_a_changed_source_makes_it_modified() {
    let folder = repository("modified");
    fs::write(folder.path().join("README.md"), "2").unwrap();
    assert_eq!(script(folder.path(), &[]).state(), ("Clean", "unknown"));
    git(folder.path(), "tag v1");
    fs::write(folder.path().join("crates/cli/src/main.rs"), "2").unwrap();
    assert_eq!(script(folder.path(), &[]).state(), ("Modified", "v1"));
    git(folder.path(), "checkout -q crates");
    fs::write(folder.path().join("crates/cli/src/new.rs"), "2").unwrap();
    assert_eq!(script(folder.path(), &[]).state(), ("Modified", "v1"));
}

#[test]
fn a_worktree_watches_its_own_head_and_the_shared_branch() {
    let folder = repository("shared");
    git(folder.path(), "worktree add -q tree -b side");
    let tree = folder.path().join("tree");
    let found = script(&tree, &[]);
    assert_eq!((found.values["REVISION"].len(), found.state()), (40, ("Clean", "unknown")));
    assert!(found.watches(".git/worktrees/tree/HEAD") && found.watches(".git/refs/heads/side"));
    found.watches_what_exists(&tree);
}

#[test]
fn a_packed_branch_and_no_branch_are_watched_too() {
    let folder = repository("packed");
    git(folder.path(), "pack-refs --all");
    let found = script(folder.path(), &[]);
    assert!(found.watches(".git/packed-refs") && found.watches(".git/refs/heads"));
    found.watches_what_exists(folder.path());
    git(folder.path(), "checkout -q --detach");
    let found = script(folder.path(), &[]);
    assert!(found.watches(".git/HEAD") && !found.watches(".git/refs/heads"));
    assert_eq!(found.values["REVISION"].len(), 40);
    found.watches_what_exists(folder.path());
}
