//! Our charts beside Istio's, both through our renderer: the same objects, and in them the same facts that others rely on.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

#[path = "real_own_charts/by_others.rs"]
mod by_others;
#[path = "real_own_charts/differences.rs"]
mod differences;
#[path = "real_own_charts/facts.rs"]
mod facts;
#[path = "real_own_charts/flags.rs"]
mod flags;
mod upstream;

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
};

use differences::Differences;
use facts::{Facts, facts, key};
use flags::{BASE_SWITCHES, FLAGS, PROFILES, SWITCHES};
use mizzen_install::{Charts, Generated, Input, Refused, generate, get_path, source::BuiltIn};
use mizzen_testkit::needs;
use mizzen_text::Source;
use serde_json::{Value, json};

fn run(profile: &str, flags: &[&str], charts: &dyn Charts) -> Result<Generated, Refused> {
    let own = format!("profile={profile}");
    // With nothing switched on there is nothing to compare.
    let on: &[&str] = match profile {
        "empty" => &["components.base.enabled=true", "components.pilot.enabled=true"],
        _ => &[],
    };
    let sets = ["hub=images.example.com/mesh", "tag=1.0", &own].into_iter().chain(on.iter().copied());
    let sets = sets.chain(flags.iter().copied()).map(str::to_owned).collect();
    generate(&Input { sets, ..Input::default() }, charts)
}

type Objects = BTreeMap<String, Facts>;

fn objects(profile: &str, flags: &[&str], charts: &dyn Charts) -> Objects {
    let generated =
        run(profile, flags, charts).unwrap_or_else(|refused| panic!("{profile} {flags:?}: {refused}"));
    let mut objects = Objects::new();
    for manifest in generated.components.iter().flat_map(|set| &set.objects) {
        assert!(objects.insert(key(manifest), facts(manifest)).is_none(), "{} twice", key(manifest));
    }
    objects
}

/// What came out of comparisons.
#[derive(Default)]
struct Tally {
    renderings: usize,
    objects: usize,
    facts: usize,
    equal: usize,
    different: Vec<String>,
}

impl Tally {
    fn compare(&mut self, here: &str, ours: &Objects, theirs: &Objects) {
        self.renderings += 1;
        for key in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
            self.objects += 1;
            match (ours.get(key), theirs.get(key)) {
                (Some(ours), Some(theirs)) => self.object(&format!("{here} {key}"), ours, theirs),
                (Some(_), None) => self.different.push(format!("{here} {key}: only in ours")),
                _ => self.different.push(format!("{here} {key}: only in theirs")),
            }
        }
    }

    fn object(&mut self, here: &str, ours: &Facts, theirs: &Facts) {
        for fact in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
            self.facts += 1;
            let told = |facts: &Facts| facts.get(fact).map_or("nothing".to_owned(), Clone::clone);
            let (ours, theirs) = (told(ours), told(theirs));
            if ours == theirs {
                self.equal += 1;
            } else {
                self.different.push(format!("{here}: {fact}: {ours} ≠ {theirs}"));
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.renderings += other.renderings;
        self.objects += other.objects;
        self.facts += other.facts;
        self.equal += other.equal;
        self.different.extend(other.different);
    }
}

fn compare(profile: &str) -> Tally {
    let istios = upstream::live();
    let mut tally = Tally::default();
    let mut all: Vec<(&str, Vec<&str>)> = FLAGS.iter().map(|(name, flags)| (*name, flags.to_vec())).collect();
    if profile == "demo" {
        let without_base = ["components.base.enabled=false"];
        all.extend(BASE_SWITCHES.iter().map(|(name, flags)| (*name, flags.to_vec())));
        all.extend(SWITCHES.iter().map(|(name, flags)| (*name, [&without_base, *flags].concat())));
    }
    for (name, flags) in &all {
        let ours = objects(profile, flags, &BuiltIn);
        tally.compare(&format!("{profile}+{name}"), &ours, &objects(profile, flags, &istios));
    }
    tally
}

#[test]
fn our_objects_are_istios_but_where_it_is_meant() {
    needs!(upstream::NEEDS);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let running: Vec<_> = PROFILES.iter().map(|profile| scope.spawn(|| compare(profile))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut tally = Tally::default();
    tallies.into_iter().for_each(|other| tally.add(other));
    let mut meant = Differences::new();
    let wrong: Vec<&String> = tally.different.iter().filter(|line| !meant.excuse(line)).collect();
    println!(
        "{} renderings, {} objects: {} of {} facts are equal, {} differences are meant:",
        tally.renderings,
        tally.objects,
        tally.equal,
        tally.facts,
        tally.different.len() - wrong.len()
    );
    meant.rows().for_each(|(_, why, times)| println!("{times:6} {why}"));
    assert_eq!(tally.renderings, PROFILES.len() * FLAGS.len() + SWITCHES.len() + BASE_SWITCHES.len());
    assert!(
        wrong.is_empty(),
        "{} differences are not meant: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(40)]
    );
    let idle: Vec<_> = meant.rows().filter(|(.., times)| *times == 0).collect();
    assert!(idle.is_empty(), "these rows excuse nothing: {idle:#?}");
}

/// Nobody serves them: with `Fail` no pod could start, and no Istio object be applied.
#[test]
fn a_webhook_that_does_not_answer_hinders_nobody() {
    let mut webhooks = 0;
    let asked = ["values.defaultRevision=default", "unvalidatedValues.base.validationFailurePolicy=Fail"];
    for flags in [&asked, &["revision=canary", "values.revisionTags[0]=prod"]] {
        for profile in PROFILES {
            let generated = run(profile, flags, &BuiltIn).unwrap();
            for object in generated.components.iter().flat_map(|set| &set.objects) {
                for webhook in object.object()["webhooks"].as_array().into_iter().flatten() {
                    webhooks += 1;
                    assert_eq!(webhook["failurePolicy"], "Ignore", "{profile}: {}", object.key());
                }
            }
        }
    }
    println!("{webhooks} webhooks");
    assert!(webhooks > 50);
}

#[test]
fn node_agents_are_refused_with_the_way_to_have_them() {
    for field in ["cni", "ztunnel"] {
        let set = format!("components.{field}.enabled=true");
        let refused = run("default", &[&set], &BuiltIn).unwrap_err();
        let [diagnostic] = &refused.0[..] else { panic!("{refused}") };
        assert_eq!(diagnostic.path.to_string(), format!("spec.components.{field}"));
        assert!(diagnostic.message.contains("in the charts that are built in"), "{refused}");
        assert!(diagnostic.hint.as_ref().unwrap().contains("Istio's own charts"), "{refused}");
    }
    for profile in ["ambient", "openshift", "openshift-ambient"] {
        let refused = run(profile, &[], &BuiltIn).unwrap_err().to_string();
        assert!(refused.contains("there is no chart"), "{profile}: {refused}");
    }
}

/// Whether something is there in a pod.
type Sight<'a> = &'a dyn Fn(&Value) -> bool;

/// What a person takes away is away, whether a file or a flag says so.
#[test]
fn null_removes_a_default_of_our_charts() {
    let variable = |pod: &Value, name: &str| {
        let all = pod["containers"][0]["env"].as_array().unwrap();
        all.iter().any(|variable| variable["name"] == name)
    };
    let cases: [(&str, &str, Sight<'_>); 4] = [
        ("values.pilot.traceSampling", "istiod", &|pod| variable(pod, "PILOT_TRACE_SAMPLING")),
        ("values.pilot.resources", "istiod", &|pod| {
            pod["containers"][0]["resources"]["requests"]["cpu"] == json!("500m")
        }),
        ("values.gateways.istio-ingressgateway.secretVolumes", "istio-ingressgateway", &|pod| {
            let volumes = pod["volumes"].as_array().unwrap();
            volumes.iter().any(|volume| volume["name"] == "ingressgateway-certs")
        }),
        ("values.gateways.istio-ingressgateway.resources.limits", "istio-ingressgateway", &|pod| {
            !pod["containers"][0]["resources"]["limits"]["cpu"].is_null()
        }),
    ];
    for (path, name, is_there) in cases {
        let flag = Input { sets: vec![format!("{path}=null")], ..Input::default() };
        let nested =
            path.split('.').rev().fold("null".to_owned(), |inner, key| format!("{{{key}: {inner}}}"));
        let text = format!("kind: IstioOperator\nspec: {nested}\n");
        let file = Input { files: vec![Source::new("file.yaml", text)], ..Input::default() };
        for (input, expected) in [(Input::default(), true), (flag, false), (file, false)] {
            let generated = generate(&input, &BuiltIn).unwrap();
            let mut all = generated.components.iter().flat_map(|set| &set.objects);
            let workload = all.find(|object| object.kind() == "Deployment" && object.name() == name).unwrap();
            let pod = get_path(workload.object(), "spec.template.spec").unwrap();
            assert_eq!(is_there(pod), expected, "{path} {:?}", input.sets);
        }
    }
}

/// Otherwise the comparison would be of the same thing again and again.
#[test]
fn every_switch_changes_a_fact() {
    let without_base = ["components.base.enabled=false"];
    let bare = objects("demo", &without_base, &BuiltIn);
    for (name, flags) in SWITCHES {
        assert!(
            objects("demo", &[&without_base, flags].concat(), &BuiltIn) != bare,
            "{name} changes nothing"
        );
    }
    let bare = objects("demo", &[], &BuiltIn);
    for (name, flags) in BASE_SWITCHES.iter().chain(&FLAGS[1..]) {
        assert!(objects("demo", flags, &BuiltIn) != bare, "{name} changes nothing");
    }
}
