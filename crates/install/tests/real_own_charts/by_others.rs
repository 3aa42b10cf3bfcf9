//! Our charts through the real helm and the real istioctl: what they render of them is what we do.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use mizzen_install::{COMPONENTS, Charts, Input, generate, merge, printed, source::BuiltIn};
use mizzen_template::helm::{self, Capabilities, Release, RenderOptions};
use mizzen_testkit::{needs, tools};
use serde_json::Value;

use crate::upstream::{difference, documents};

const PROFILES: [&str; 2] = ["default", "demo"];

/// The repository's charts and profiles as others need them: with the custom resource definitions in the base chart.
/// Removed at the end.
struct Copy(PathBuf);

impl Copy {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mizzen-own-charts-{}-{name}", std::process::id()));
        for part in ["charts", "profiles"] {
            copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(part), &folder.join(part));
        }
        let base = BuiltIn.chart("base").unwrap();
        let crds = base.files.iter().find(|file| file.name == "files/crds.yaml").unwrap();
        fs::write(folder.join("charts/base/files/crds.yaml"), &crds.data).unwrap();
        Self(folder)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

fn input(profile: &str) -> Input {
    let sets =
        [format!("profile={profile}"), "hub=images.example.com/mesh".to_owned(), "tag=1.0.0".to_owned()];
    Input { sets: sets.to_vec(), ..Input::default() }
}

/// What a command prints.
fn output(command: &mut Command, stdin: &str) -> String {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn by_key(text: &str) -> BTreeMap<String, Value> {
    documents(text).into_iter().map(|(key, _, value)| (key, value)).collect()
}

/// How many objects there are, if they are the same.
fn same(what: &str, ours: &str, theirs: &str) -> usize {
    let (ours, theirs) = (by_key(ours), by_key(theirs));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{what}");
    for (key, ours) in &ours {
        let difference = difference(key, ours, &theirs[key]);
        assert!(difference.is_none(), "{what}: {difference:?}");
    }
    ours.len()
}

#[test]
fn istioctl_renders_our_charts_as_we_do() {
    needs!(&["istioctl"]);
    let folder = Copy::new("istioctl");
    for profile in PROFILES {
        let ours = printed(&generate(&input(profile), &BuiltIn).unwrap());
        let mut command = Command::new(tools::command("istioctl").unwrap());
        command.args(["manifest", "generate", "-d"]).arg(&folder.0);
        for set in input(profile).sets {
            command.args(["--set", &set]);
        }
        let theirs = output(&mut command, "");
        let objects = same(profile, &ours, &theirs);
        assert!(objects > 20, "{profile}: {objects} objects");
        println!("istioctl, {profile}: {objects} objects are equal; the same bytes: {}", ours == theirs);
    }
}

#[test]
fn helm_renders_our_charts_as_we_do() {
    needs!(&["helm"]);
    let folder = Copy::new("helm");
    let mut total = 0;
    for profile in PROFILES {
        let merged = merge(&input(profile), &BuiltIn).unwrap();
        for component in &COMPONENTS {
            for entry in component.entries(&merged.tree).unwrap() {
                let values = component.values(&entry, &merged.tree);
                let release = Release {
                    name: "istio".to_owned(),
                    namespace: entry.namespace.clone(),
                    is_install: true,
                    revision: 1,
                    ..Release::default()
                };
                let chart = BuiltIn.chart(component.chart).unwrap();
                let options = RenderOptions { dependencies: true, ..RenderOptions::default() };
                let rendered =
                    helm::render(&chart, &values, &release, &Capabilities::default(), &options).unwrap();
                let texts: Vec<&str> = rendered.files.iter().map(|(_, text)| text.as_str()).collect();
                let mut command = Command::new(tools::command("helm").unwrap());
                command.args(["template", "istio", "--namespace", &entry.namespace, "--values", "-"]);
                command.arg(folder.0.join("charts").join(component.chart));
                let theirs = output(&mut command, &values.to_string());
                let what = format!("{profile}, {}", component.name);
                let objects = same(&what, &texts.join("\n---\n"), &theirs);
                assert!(objects > 0, "{what}: there are no objects");
                total += objects;
            }
        }
    }
    println!("helm: {total} objects are equal");
    assert!(total > 60);
}
