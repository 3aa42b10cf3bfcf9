//! Puts into the binary where it came from: revision, whether the sources were changed since, tag, compiler, target.
//!
//! Sources, first that answers: `MIZZEN_BUILD_REVISION`, `_STATUS`, `_TAG` from the environment (for packagers who
//! build from a tarball), then `git`, then `unknown`. There is no build date: equal sources give equal binaries.
//! The script runs again when HEAD, the ref behind it, a tag or a source of the binary changes, and not otherwise.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let workspace = workspace();
    let git = Git::of(&workspace);
    let sources = sources(&workspace);
    for path in sources.iter().chain(&git.as_ref().map(Git::watched).unwrap_or_default()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-changed=build.rs");

    tell("REVISION", || git.as_ref()?.revision());
    tell("STATUS", || git.as_ref()?.status(&sources));
    tell("TAG", || git.as_ref()?.tag());
    emit("RUST", &rust_version().unwrap_or_else(unknown));
    emit("TARGET", &env::var("TARGET").unwrap_or_else(|_| unknown()));
    emit("PROFILE", &env::var("PROFILE").unwrap_or_else(|_| unknown()));
}

fn unknown() -> String {
    "unknown".into()
}

fn emit(name: &str, value: &str) {
    println!("cargo::rustc-env=MIZZEN_BUILT_{name}={value}");
}

/// What the packager says counts more than what is found.
fn tell(name: &str, found: impl FnOnce() -> Option<String>) {
    let variable = format!("MIZZEN_BUILD_{name}");
    println!("cargo::rerun-if-env-changed={variable}");
    let given = env::var(&variable).ok().filter(|value| !value.is_empty());
    emit(name, &given.or_else(found).unwrap_or_else(unknown));
}

fn workspace() -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    here.ancestors().nth(2).unwrap_or(&here).to_path_buf()
}

fn rust_version() -> Option<String> {
    let said = said(Command::new(env::var_os("RUSTC")?).arg("--version"))?;
    Some(said.split_whitespace().nth(1)?.to_string())
}

/// What the binary is made of. Test tools are left out: an edit there must not relink the product.
/// Only what exists: cargo takes a watched path that is missing for one that has just changed, every time.
fn sources(workspace: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = ["Cargo.toml", "Cargo.lock"].map(|name| workspace.join(name)).into();
    let crates = fs::read_dir(workspace.join("crates")).into_iter().flatten().flatten();
    for folder in crates.map(|entry| entry.path()).filter(|folder| !folder.ends_with("testkit")) {
        found.extend(["src", "Cargo.toml", "build.rs"].map(|name| folder.join(name)));
    }
    found.retain(|path| path.exists());
    found.sort();
    found
}

struct Git<'a> {
    workspace: &'a Path,
}

impl<'a> Git<'a> {
    /// None without git, without a repository, and for a tarball unpacked inside somebody else's repository.
    fn of(workspace: &'a Path) -> Option<Self> {
        let git = Self { workspace };
        let top = fs::canonicalize(git.ask(&["rev-parse", "--show-toplevel"])?).ok()?;
        (top == fs::canonicalize(workspace).ok()?).then_some(git)
    }

    fn revision(&self) -> Option<String> {
        self.ask(&["rev-parse", "HEAD"])
    }

    fn tag(&self) -> Option<String> {
        self.ask(&["describe", "--tags", "--exact-match", "HEAD"])
    }

    /// Istio's two words, about the sources of the binary only: a changed README does not change what it does.
    fn status(&self, sources: &[PathBuf]) -> Option<String> {
        let mut command = self.command(&["status", "--porcelain", "--"]);
        let changes = said(command.args(sources))?;
        Some(if changes.is_empty() { "Clean" } else { "Modified" }.into())
    }

    /// `--git-path` knows that a worktree keeps its HEAD apart and shares its refs.
    fn watched(&self) -> Vec<PathBuf> {
        let place = |name: &str| {
            let path = self.ask(&["rev-parse", "--git-path", name])?;
            let path = self.workspace.join(path);
            path.exists().then_some(path)
        };
        let branch = self.ask(&["symbolic-ref", "--quiet", "HEAD"]);
        // A branch without a file of its own is in `packed-refs`; its file appears with the next commit.
        let branch = branch.map(|name| place(&name).or_else(|| place("refs/heads")));
        [place("HEAD"), branch.flatten(), place("packed-refs"), place("refs/tags")]
            .into_iter()
            .flatten()
            .collect()
    }

    fn ask(&self, arguments: &[&str]) -> Option<String> {
        said(&mut self.command(arguments)).filter(|answer| !answer.is_empty())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        // A build started by a git hook inherits variables that point somewhere else.
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        command.arg("--no-optional-locks").arg("-C").arg(self.workspace).args(arguments);
        command
    }
}

/// Standard output of a command that worked.
fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}
