//! The same input gives the same bytes: rendered twice, with the keys of the file in another order, with flags that do not
//! touch each other in another order.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

#[allow(dead_code, reason = "only the files are wanted here")]
mod flag_sets;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "real_patch/random.rs"]
mod random;
mod upstream;

use std::thread;

use flag_sets::FLAG_SETS;
use mizzen_install::{Charts, Input, generate, printed, source::BuiltIn};
use mizzen_testkit::needs;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use random::Random;
use serde_json::{Value, json};

const PROFILES: [&str; 4] = ["default", "demo", "minimal", "remote"];

/// None says something about what another does.
const SETS: [&str; 14] = [
    "hub=images.example.com/mesh",
    "tag=1.0.0",
    "values.pilot.env.FIRST=one",
    "values.pilot.env.SECOND=two",
    "values.pilot.traceSampling=12.5",
    "values.pilot.podLabels.team=mesh",
    "values.global.proxy.logLevel=debug",
    "values.global.logging.level=default:debug",
    "values.global.networkPolicy.enabled=true",
    "values.gateways.istio-ingressgateway.serviceAnnotations.owner=mesh",
    "meshConfig.accessLogFormat=short",
    "meshConfig.defaultConfig.proxyMetadata.THIRD=three",
    "components.pilot.k8s.nodeSelector.disk=fast",
    "components.pilot.k8s.podAnnotations.owner=mesh",
];

/// So many times each input is shuffled.
const ORDERS: u64 = 3;

/// A file, and flags in an order.
struct Case {
    profile: &'static str,
    file: Value,
    sets: Vec<String>,
}

impl Case {
    fn new(profile: &'static str, text: &str, more: &[&str]) -> Self {
        let source = Source::new("file.yaml", text);
        let file = yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap();
        // The base is most of the work, and nothing here concerns it.
        let base = format!("components.base.enabled={}", profile == "default");
        let sets = SETS.iter().chain(more).copied().chain([base.as_str()]);
        let sets = sets.map(str::to_owned).collect();
        Self { profile, file, sets }
    }

    /// As JSON, which is YAML, with the keys in an order that the number says.
    fn rendered(&self, order: Option<u64>, charts: &dyn Charts) -> (String, String) {
        let mut random = order.map(Random::new);
        let mut text = String::new();
        write(&self.file, &mut random, &mut text);
        let mut sets = self.sets.clone();
        if let Some(random) = &mut random {
            random.shuffle(&mut sets);
        }
        sets.insert(
            random.map_or(0, |mut random| random.below(sets.len())),
            format!("profile={}", self.profile),
        );
        let given = format!("{text} {sets:?}");
        let input = Input { files: vec![Source::new("file.yaml", text)], sets, ..Input::default() };
        let generated = generate(&input, charts).unwrap_or_else(|refused| panic!("{given}: {refused}"));
        (given, printed(&generated))
    }
}

fn write(value: &Value, random: &mut Option<Random>, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if let Some(random) = random {
                random.shuffle(&mut entries);
            }
            text.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                text.push_str(&format!("{}: ", json!(key)));
                write(value, random, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write(item, random, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Every profile with every file.
fn shuffle(name: &str, more: &[&str], charts: impl Fn() -> Box<dyn Charts> + Sync) {
    let texts: Vec<&str> = FLAG_SETS.iter().filter_map(|flags| flags.file).collect();
    let counts: Vec<(u64, usize)> = thread::scope(|scope| {
        let one = |profile: &'static str| {
            let (charts, mut shuffled, mut bytes) = (charts(), 0, 0);
            for (at, text) in texts.iter().enumerate() {
                let case = Case::new(profile, text, more);
                let (plain, expected) = case.rendered(None, &*charts);
                for order in 0..ORDERS {
                    let (given, printed) = case.rendered(Some(order * 100 + at as u64 + 1), &*charts);
                    assert_ne!(plain, given, "nothing is shuffled");
                    // Not `assert_eq`: it would print both.
                    assert!(printed == expected, "{profile}: another text from {given}");
                    shuffled += 1;
                    bytes += printed.len();
                }
            }
            (shuffled, bytes)
        };
        let running: Vec<_> = PROFILES.into_iter().map(|profile| scope.spawn(move || one(profile))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (shuffled, bytes) = counts.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    println!(
        "{name}: {shuffled} shuffles of {} inputs, {bytes} bytes, all equal",
        PROFILES.len() * texts.len()
    );
    assert!(shuffled >= 50, "{shuffled}");
}

#[test]
fn order_does_not_matter_with_the_charts_that_are_built_in() {
    // One of the files sets what only Istio's charts have.
    shuffle("built in", &["components.ztunnel.enabled=false"], || Box::new(BuiltIn));
}

#[test]
fn order_does_not_matter_with_istios_charts() {
    needs!(upstream::NEEDS);
    shuffle("Istio's", &[], || Box::new(upstream::live()));
}

fn twice(charts: &dyn Charts) {
    for profile in PROFILES {
        let input = Input { sets: vec![format!("profile={profile}")], ..Input::default() };
        let [first, second] = [(); 2].map(|()| printed(&generate(&input, charts).unwrap()));
        assert!(!first.is_empty() && first == second, "{profile}: another text the second time");
    }
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    twice(&BuiltIn);
}

#[test]
fn rendering_istios_charts_twice_gives_the_same_bytes() {
    needs!(upstream::NEEDS);
    twice(&upstream::live());
}

/// So that the tests above can fail.
#[test]
fn order_matters_where_flags_contradict_each_other() {
    let text = |sets: [&str; 2]| {
        let off = "components.base.enabled=false";
        let sets = [off].into_iter().chain(sets).map(str::to_owned).collect();
        printed(&generate(&Input { sets, ..Input::default() }, &BuiltIn).unwrap())
    };
    assert!(text(["tag=one", "tag=two"]) != text(["tag=two", "tag=one"]));
}
