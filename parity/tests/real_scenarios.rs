//! The scenarios themselves: that they say what they mean to say. Their parts come from the installed Istio.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use mizzen_parity::{Scenario, kinds::Kind};
use mizzen_testkit::{Oracle, needs};
use serde_json::Value;

#[test]
fn every_scenario_can_be_read_and_its_proxies_are_there() {
    needs!(Oracle::NEEDS);
    let scenarios = Scenario::all(&[]).unwrap();
    assert!(scenarios.len() >= 36, "{}", scenarios.len());
    for scenario in &scenarios {
        let name = &scenario.name;
        assert!(scenario.about.len() > 10, "{name} does not say what it is about");
        assert!(!scenario.proxies.is_empty(), "{name} has nobody to look at it");
        for who in &scenario.proxies {
            who.identity(scenario).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        }
    }
}

/// An object of a scenario that the webhook would refuse never reaches a control plane in earnest.
#[test]
fn istio_s_webhook_takes_every_object_of_every_scenario() {
    needs!(Oracle::NEEDS);
    let scenarios = Scenario::all(&[]).unwrap();
    let objects: Vec<(&str, &Value)> = scenarios
        .iter()
        .flat_map(|scenario| scenario.all_objects().map(|object| (scenario.name.as_str(), object)))
        .collect();
    let verdicts = Oracle::shared()
        .verdicts(&objects.iter().map(|(_, object)| (*object).clone()).collect::<Vec<_>>())
        .unwrap();
    let (mut known, mut refused) = (0, Vec::new());
    for ((scenario, object), verdict) in objects.iter().zip(&verdicts) {
        known += usize::from(verdict.known);
        if verdict.known && !verdict.accepted {
            refused.push(format!(
                "{scenario}: {} {}: {:?}",
                object["kind"], object["metadata"]["name"], verdict.errors
            ));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(known > 150, "{known} objects are Istio's");
}

#[test]
fn no_two_objects_of_a_scenario_have_the_same_name() {
    needs!(Oracle::NEEDS);
    for scenario in Scenario::all(&[]).unwrap() {
        let mut seen = BTreeSet::new();
        for object in scenario.all_objects() {
            let kind = Kind::of(object).unwrap().kind;
            let key =
                (kind, object["metadata"]["namespace"].to_string(), object["metadata"]["name"].to_string());
            assert!(seen.insert(key.clone()), "{}: {key:?}", scenario.name);
        }
    }
}
