//! Every profile with many sets of flags beside the real istioctl, on the module's charts: the same text.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod flag_sets;
mod upstream;

use std::{
    fs,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use flag_sets::{BROKEN, FLAG_SETS, FlagSet};
use mizzen_install::{Charts, Input, Refused, generate, printed};
use mizzen_testkit::{needs, tools};
use mizzen_text::Source;
use upstream::{difference, documents, live, module};

const NEEDS: &[&str] = &["istioctl", "modules/istio"];

/// Both are told the same images, for istioctl has some built in.
const IMAGES: [&str; 2] = ["hub=images.example.com/istio", "tag=1.31.0"];

/// With nothing switched on there is nothing to compare.
const NOT_EMPTY: [&str; 2] = ["components.base.enabled=true", "components.pilot.enabled=true"];

fn sets<'a>(profile: &'a str, flags: &FlagSet<'a>) -> Vec<String> {
    let own = format!("profile={profile}");
    let more: &[&str] = if profile == "empty" { &NOT_EMPTY } else { &[] };
    let all = [own.as_str()]
        .into_iter()
        .chain(IMAGES)
        .chain(more.iter().copied())
        .chain(flags.sets.iter().copied());
    all.map(str::to_owned).collect()
}

fn ours(profile: &str, flags: &FlagSet<'_>, charts: &dyn Charts) -> Result<String, Refused> {
    let files = flags.file.iter().map(|text| Source::new("file.yaml", text.as_bytes())).collect();
    let revision = flags.revision.map(str::to_owned);
    let input = Input { files, sets: sets(profile, flags), revision, ..Input::default() };
    generate(&input, charts).map(|generated| printed(&generated))
}

fn theirs(profile: &str, flags: &FlagSet<'_>) -> Result<String, String> {
    let file =
        std::env::temp_dir().join(format!("mizzen-{}-{profile}-{}.yaml", std::process::id(), flags.name));
    let mut command = Command::new(tools::command("istioctl").unwrap());
    command.args(["manifest", "generate", "-d"]).arg(module("manifests"));
    for set in sets(profile, flags) {
        command.args(["--set", &set]);
    }
    if let Some(revision) = flags.revision {
        command.args(["--revision", revision]);
    }
    if let Some(text) = flags.file {
        fs::write(&file, text).unwrap();
        command.arg("-f").arg(&file);
    }
    let output = command.output().unwrap();
    let _ = fs::remove_file(&file);
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The first difference of two manifests.
fn first_difference(ours: &str, theirs: &str) -> Option<String> {
    let (ours, theirs) = (documents(ours), documents(theirs));
    let keys = |all: &[(String, String, _)]| all.iter().map(|(key, ..)| key.clone()).collect::<Vec<_>>();
    if keys(&ours) != keys(&theirs) {
        return Some(format!("ours {:?}\ntheirs {:?}", keys(&ours), keys(&theirs)));
    }
    ours.iter().zip(&theirs).find_map(|((key, _, ours), (.., theirs))| difference(key, ours, theirs))
}

/// What came out of the comparisons.
#[derive(Default)]
struct Tally {
    total: usize,
    equal: usize,
    bytes: usize,
    changing: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn profile(&mut self, profile: &str, charts: &dyn Charts) {
        let plain = FlagSet { name: "plain", ..FlagSet::NONE };
        let bare = ours(profile, &plain, charts).unwrap_or_else(|refused| panic!("{profile}: {refused}"));
        for flags in std::iter::once(&plain).chain(&FLAG_SETS) {
            let name = format!("{profile} {}", flags.name);
            self.total += 1;
            match (ours(profile, flags, charts), theirs(profile, flags)) {
                (Ok(ours), Ok(theirs)) => {
                    self.changing += usize::from(ours != bare);
                    if flags.name != "plain" && ours == bare {
                        self.wrong.push(format!("{name}: changes nothing"));
                    }
                    self.bytes += usize::from(ours == theirs);
                    match first_difference(&ours, &theirs) {
                        None => self.equal += 1,
                        Some(difference) => self.wrong.push(format!("{name}: {difference}")),
                    }
                }
                (ours, theirs) => {
                    let (ours, theirs) = (ours.err().map(|refused| refused.to_string()), theirs.err());
                    self.wrong.push(format!("{name}: ours {ours:?}, theirs {theirs:?}"));
                }
            }
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.total += other.total;
        self.equal += other.equal;
        self.bytes += other.bytes;
        self.changing += other.changing;
        self.wrong.extend(other.wrong);
        self
    }
}

#[test]
fn every_profile_with_every_set_of_flags_is_as_istioctl_has_it() {
    needs!(NEEDS);
    let charts = live();
    let profiles = charts.profiles();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut tally = Tally::default();
        while let Some(profile) = profiles.get(next.fetch_add(1, Ordering::Relaxed)) {
            tally.profile(profile, &charts);
        }
        tally
    };
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).fold(Tally::default(), Tally::add)
    });
    let Tally { total, equal, bytes, changing, wrong } = tally;
    println!("beside istioctl: {equal} of {total} equal, {bytes} byte for byte, {changing} change something");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((equal, bytes, total), (total, total, profiles.len() * (FLAG_SETS.len() + 1)));
}

#[test]
fn what_istioctl_refuses_is_refused_with_the_field_named() {
    needs!(NEEDS);
    let charts = live();
    let (mut named, mut wrong) = (0, Vec::new());
    for (flags, field) in &BROKEN {
        match (ours("default", flags, &charts), theirs("default", flags)) {
            (Err(refused), Err(message)) if message.starts_with("Error: ") => {
                let refused = refused.to_string();
                // Of a wrong type istioctl often tells no more than that there is one.
                named += usize::from(message.contains(field.rsplit('.').next().unwrap()));
                if !refused.contains(&format!(" {field}: ")) {
                    wrong.push(format!(
                        "{}: `{field}` is not in {refused:?}; istioctl: {message:?}",
                        flags.name
                    ));
                }
            }
            (ours, theirs) => {
                wrong.push(format!("{}: ours {:?}, theirs {:?}", flags.name, ours.err(), theirs.err()));
            }
        }
    }
    let good = BROKEN.len() - wrong.len();
    println!(
        "refused: {good} of {} by both, ours with the field; istioctl names it in {named}",
        BROKEN.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
