//! Our definition of the `Istio` resource beside upstream's: two real API servers must say the same of every spec, word for word,
//! and ours must have every field of theirs.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "the counts of what was compared are what this test is for")]

#[path = "real_istio_crd/server.rs"]
mod server;
#[path = "real_istio_crd/specs.rs"]
mod specs;

use mizzen_api::istio;
use mizzen_testkit::{ApiServer, Result, compared_with, needs};
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};
use server::Server;
use std::fs;

const THEIRS: &str = "kyma-istio/istios-crd.yaml";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_servers_say_the_same_of_every_spec() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let file = compared_with!(THEIRS);
    let theirs = fs::read_to_string(file).unwrap();
    let ours = istio::definition().to_string();
    let (theirs, ours) = tokio::try_join!(Server::with(&theirs), Server::with(&ours))?;

    let all = specs::all();
    let only: Vec<Value> = all.iter().map(|spec| spec.spec.clone()).collect();
    let (upstream, mine) =
        tokio::try_join!(theirs.verdicts("v1alpha2", &only), ours.verdicts("v1alpha2", &only))?;
    let older = ours.verdicts("v1alpha1", &only).await?;
    let mut wrong = Vec::new();
    for (((spec, upstream), mine), older) in all.iter().zip(&upstream).zip(&mine).zip(&older) {
        if upstream != mine {
            wrong.push(format!("{}: upstream says {upstream:?}, we say {mine:?}", spec.name));
        }
        if mine != older {
            wrong.push(format!("{}: v1alpha2 says {mine:?}, v1alpha1 says {older:?}", spec.name));
        }
        if mine.is_none() != spec.good {
            wrong.push(format!("{}: good is {}, and we say {mine:?}", spec.name, spec.good));
        }
    }
    let refused = mine.iter().flatten().count();
    println!("{} specs, {refused} refused, {} disagreements", all.len(), wrong.len());
    assert!(all.len() >= 150 && refused >= 50 && all.len() - refused >= 50, "too few");
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_additions_are_checked_and_an_older_version_is_the_same_object() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let ours = Server::with(&istio::definition().to_string()).await?;
    let cases = [
        (json!({ "distribution": "mizzen" }), true),
        (json!({ "distribution": "istio" }), true),
        (json!({ "distribution": "other" }), false),
        (
            json!({ "restart": { "enabled": false, "batchSize": 5, "windows": ["Sat-Sun 00:00-04:00"] } }),
            true,
        ),
        (json!({ "restart": { "windows": ["22:00-23:30", "Mon,Wed 01:00-02:00"] } }), true),
        (json!({ "restart": { "batchSize": 0 } }), false),
        (json!({ "restart": { "windows": ["at night"] } }), false),
        (json!({ "restart": { "windows": "Sat" } }), false),
        (json!({ "unknown": true }), false),
    ];
    let specs: Vec<Value> = cases.iter().map(|(mizzen, _)| json!({ "mizzen": mizzen })).collect();
    for version in istio::VERSIONS {
        let verdicts = ours.verdicts(version, &specs).await?;
        for ((mizzen, good), verdict) in cases.iter().zip(verdicts) {
            assert_eq!(verdict.is_none(), *good, "{version} {mizzen}: {verdict:?}");
        }
    }
    // The sample of the design document, read back in the other version.
    let sample = json!({
        "apiVersion": "operator.kyma-project.io/v1alpha1", "kind": "Istio",
        "metadata": { "name": "istio-sample", "namespace": "default" }, "spec": { "config": { "numTrustedProxies": 1 } },
    });
    ours.server.apply(&sample.to_string()).await?;
    let newer = ours
        .server
        .kubectl(&[
            "get",
            "istios.v1alpha2.operator.kyma-project.io",
            "istio-sample",
            "-n",
            "default",
            "-o",
            "json",
        ])
        .await?;
    let newer: Value = serde_json::from_str(&newer).unwrap();
    assert_eq!(newer["apiVersion"], "operator.kyma-project.io/v1alpha2");
    assert_eq!(newer["spec"], sample["spec"]);
    Ok(())
}

#[test]
fn every_field_of_theirs_is_one_of_ours_with_the_same_rules() {
    let file = compared_with!(THEIRS);
    let source = Source::new("theirs", fs::read(file).unwrap());
    let theirs = yaml::load_all(&source, &yaml::Options::KUBERNETES).next().unwrap().unwrap().value;
    let ours = istio::definition();
    for field in ["group", "scope", "names"] {
        assert_eq!(theirs["spec"][field], ours["spec"][field], "{field}");
    }
    let (theirs, ours) = (&theirs["spec"]["versions"][0], &ours["spec"]["versions"][0]);
    for field in ["name", "served", "storage", "subresources"] {
        assert_eq!(theirs[field], ours[field], "{field}");
    }
    let columns = "additionalPrinterColumns";
    assert_eq!(theirs[columns].as_array().unwrap(), &ours[columns].as_array().unwrap()[..1], "theirs first");
    let mut walk = Walk::default();
    let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
    walk.compare("", &schema(theirs), &schema(ours));
    println!("{} fields compared, {} of ours besides: {:?}", walk.fields, walk.further.len(), walk.further);
    assert!(walk.wrong.is_empty(), "{:#?}", walk.wrong);
    let expected = [
        ".spec.mizzen",
        ".status.applied",
        ".status.components",
        ".status.installedProgram",
        ".status.installedVersion",
        ".status.nextVersion",
        ".status.observedGeneration",
        ".status.outdatedProxies",
        ".status.readAtStart",
    ];
    assert_eq!(walk.further, expected, "what only we have is in the places that are ours");
    assert!(walk.fields > 200, "{}", walk.fields);
}

#[derive(Default)]
struct Walk {
    fields: usize,
    further: Vec<String>,
    wrong: Vec<String>,
}

impl Walk {
    fn compare(&mut self, path: &str, theirs: &Value, ours: &Value) {
        let words = |schema: &Value| -> Value {
            let mut words = schema.as_object().cloned().unwrap_or_default();
            words.retain(|word, _| {
                !["description", "properties", "items", "additionalProperties"].contains(&word.as_str())
            });
            // A list of names has no order.
            if let Some(Value::Array(names)) = words.get_mut("required") {
                names.sort_by_key(ToString::to_string);
            }
            words.into()
        };
        if words(theirs) != words(ours) {
            self.wrong.push(format!("{path}: theirs {}, ours {}", words(theirs), words(ours)));
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(theirs) = theirs.get(inner) {
                self.compare(&format!("{path}[]"), theirs, &ours[inner]);
            }
        }
        let none = serde_json::Map::new();
        let (theirs, ours) = (theirs["properties"].as_object(), ours["properties"].as_object());
        let (theirs, ours) = (theirs.unwrap_or(&none), ours.unwrap_or(&none));
        for (name, schema) in theirs {
            self.fields += 1;
            let path = format!("{path}.{name}");
            match ours.get(name) {
                Some(our) => self.compare(&path, schema, our),
                None => self.wrong.push(format!("{path}: not in ours")),
            }
        }
        let further = ours.keys().filter(|name| !theirs.contains_key(*name));
        self.further.extend(further.map(|name| format!("{path}.{name}")));
        self.further.sort();
    }
}
