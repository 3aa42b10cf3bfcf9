//! Beside the real istioctl: the same flags, files and charts, the same objects; and what it refuses is refused.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the counts are part of the result")]

mod common;
#[path = "istioctl/errors.rs"]
mod errors;
#[path = "istioctl/sets.rs"]
mod sets;

use common::{Folder, command};
use errors::ERRORS;
use mizzen_testkit::{needs, tools};
use mizzen_text::{
    Source,
    yaml::{Options, load_all},
};
use serde_json::Value;
use sets::SETS;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
    thread,
};

const NEEDS: &[&str] = &["istioctl", "modules/istio"];

/// On both sides: each has a default of its own.
const IMAGES: [&str; 4] = ["--set", "hub=mesh.example/images", "--set", "tag=1.31.0"];

struct Pair {
    manifests: PathBuf,
    folder: Folder,
}

impl Pair {
    fn new(name: &str) -> Self {
        Self {
            manifests: tools::folder("modules/istio").unwrap().join("manifests"),
            folder: Folder::new(name),
        }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name.replace(' ', "-"));
        fs::write(&path, text).unwrap();
        path
    }

    fn generate<'a>(
        &self,
        mut program: Command,
        words: impl IntoIterator<Item = &'a str>,
        file: &Path,
    ) -> Output {
        program.args(["manifest", "generate", "--manifests"]).arg(&self.manifests).args(words);
        program.arg("-f").arg(file);
        program.output().unwrap()
    }

    fn theirs<'a>(&self, words: impl IntoIterator<Item = &'a str>, file: &Path) -> Output {
        self.generate(Command::new(tools::command("istioctl").unwrap()), words, file)
    }

    fn ours<'a>(&self, words: impl IntoIterator<Item = &'a str>, file: &Path) -> Output {
        self.generate(command("istioctl"), words, file)
    }

    fn profiles(&self) -> Vec<String> {
        let files = fs::read_dir(self.manifests.join("profiles")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.map(|name| name.trim_end_matches(".yaml").to_owned()).collect();
        names.sort();
        names
    }
}

fn objects(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let source = Source::new("out", output.stdout.clone());
    load_all(&source, &Options::KUBERNETES).map(|document| document.unwrap().value).collect()
}

fn title(object: &Value) -> String {
    format!("{} {}", object["kind"], object["metadata"]["name"])
}

/// How many objects of one list are not in the other, both ways.
fn different(one: &[Value], other: &[Value]) -> usize {
    let missing = |from: &[Value], of: &[Value]| of.iter().filter(|object| !from.contains(object)).count();
    missing(one, other).max(missing(other, one))
}

/// Runs every job; two at a time, as istioctl alone takes most of a second.
fn all<J: Sync>(jobs: &[J], run: impl Fn(&J) + Sync) {
    let next = Mutex::new(0..jobs.len());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(job) = next.lock().unwrap().next() else { return };
                    run(&jobs[job]);
                }
            });
        }
    });
}

#[test]
fn every_profile_with_every_set_gives_the_same_objects() {
    needs!(NEEDS);
    let pair = Pair::new("istioctl-sets");
    let operator = |name: &str, spec: &str| {
        let head = "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\n";
        pair.file(&format!("{name}.yaml"), &format!("{head}{spec}"))
    };
    let none = operator("none", "");
    let files: Vec<_> = SETS.iter().map(|set| operator(set.name, set.file)).collect();
    let profiles = pair.profiles();
    let jobs: Vec<_> =
        profiles.iter().flat_map(|profile| (0..=SETS.len()).map(move |set| (profile, set))).collect();
    let bare: Mutex<Vec<(String, Vec<Value>)>> = Mutex::default();
    let sets: Mutex<Vec<(String, &str, Vec<Value>)>> = Mutex::default();
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let counts = Mutex::new((0, 0, 0));
    all(&jobs, |(profile, number)| {
        let choice = format!("profile={profile}");
        let (name, flags, file) = match number.checked_sub(1) {
            None => ("bare", &[][..], &none),
            Some(set) => (SETS[set].name, SETS[set].flags, &files[set]),
        };
        let words = || ["--set", &choice].into_iter().chain(IMAGES).chain(flags.iter().copied());
        let (theirs, ours) = (pair.theirs(words(), file), pair.ours(words(), file));
        let their_objects = objects(&theirs);
        if ours.status.success() {
            let our_objects = objects(&ours);
            let mut counts = counts.lock().unwrap();
            counts.0 += 1;
            counts.1 += usize::from(our_objects == their_objects);
            counts.2 += usize::from(ours.stdout == theirs.stdout);
            if our_objects != their_objects {
                let first = their_objects.iter().find(|object| !our_objects.contains(object));
                let first = first.map_or("only more objects".into(), title);
                wrong.lock().unwrap().push(format!("{profile}, {name}: {first}"));
            }
        } else {
            let reason = String::from_utf8_lossy(&ours.stderr).into_owned();
            wrong.lock().unwrap().push(format!("{profile}, {name}: {reason}"));
        }
        match number {
            0 => bare.lock().unwrap().push((profile.to_string(), their_objects)),
            _ => sets.lock().unwrap().push((profile.to_string(), name, their_objects)),
        }
    });
    let (bare, sets) = (bare.into_inner().unwrap(), sets.into_inner().unwrap());
    let mut least = usize::MAX;
    for (profile, name, objects) in &sets {
        let (_, plain) = bare.iter().find(|(bare, _)| bare == profile).unwrap();
        let changed = different(plain, objects);
        assert!(changed > 0, "{name} changes nothing in the profile {profile}: it proves nothing");
        least = least.min(changed);
    }
    let (total, equal, bytes) = counts.into_inner().unwrap();
    println!(
        "{} profiles x {} sets and bare: equal objects {equal} / {total}, equal bytes {bytes} / {total}; each set changes {least} objects or more",
        profiles.len(),
        SETS.len()
    );
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((total, equal), (jobs.len(), jobs.len()));
}

#[test]
fn what_istioctl_refuses_is_refused_at_the_same_field() {
    needs!(NEEDS);
    let pair = Pair::new("istioctl-errors");
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let numbered: Vec<_> = ERRORS.iter().enumerate().collect();
    all(&numbered, |(number, error)| {
        let file = pair.file(&format!("{number}.yaml"), error.file);
        let words = || error.flags.iter().copied();
        let (theirs, ours) = (pair.theirs(words(), &file), pair.ours(words(), &file));
        let (they_say, we_say) =
            (String::from_utf8_lossy(&theirs.stderr), String::from_utf8_lossy(&ours.stderr));
        let named = |text: &str| text.contains(error.names);
        let as_said = named(&they_say) == error.istioctl_names_it;
        if theirs.status.success() || ours.status.success() || !as_said || !named(&we_say) {
            let row = format!("{:?} {}", error.flags, error.file.trim());
            wrong.lock().unwrap().push(format!(
                "{row}\n  names {}\n  istioctl {:?}: {they_say}\n  ours {:?}: {we_say}",
                error.names,
                theirs.status.code(),
                ours.status.code()
            ));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    println!("refused by both at the same field: {} / {}", ERRORS.len() - wrong.len(), ERRORS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
