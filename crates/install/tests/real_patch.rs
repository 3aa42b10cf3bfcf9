//! Strategic merges and overlays beside Kubernetes' and Istio's own code: a table of rules, and thousands of random patches
//! to the objects that Istio's charts make.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

#[path = "real_patch/mutate.rs"]
mod mutate;
#[path = "real_patch/objects.rs"]
mod objects;
#[path = "real_patch/paths.rs"]
mod paths;
#[path = "real_patch/random.rs"]
mod random;

use mizzen_install::patch;
use mizzen_testkit::{Oracle, needs};
use random::Random;
use serde_json::{Value, json};

const NEEDS: &[&str] = &["istioctl", "istio-oracle", "modules/istio"];

/// How often both agree, of how many; in how many the object was changed without an error; how often the original broke down.
struct Score {
    equal: usize,
    total: usize,
    done: usize,
    broken: usize,
}

impl Score {
    fn print(&self, what: &str) {
        let Self { equal, total, done, broken } = self;
        println!(
            "{what}: {equal} / {total} equal, {done} of them without an error; {broken} more break the original"
        );
        assert_eq!(equal, total);
    }
}

fn compare_merges(questions: &[Value]) -> Score {
    let theirs = Oracle::shared().patch(questions).unwrap();
    let (mut equal, mut done, mut broken, mut shown) = (0, 0, 0, 0);
    for (question, theirs) in questions.iter().zip(&theirs) {
        let mut object = question["object"].clone();
        let ours = patch::strategic(&mut object, &question["patch"]);
        if theirs.panic.is_some() {
            // There is no answer to agree with, but there must be one of ours, and no half-merged object.
            broken += 1;
            assert!(ours.is_ok() || object == question["object"]);
            continue;
        }
        let same = match (&ours, &theirs.result) {
            (Ok(()), Some(result)) => object == *result,
            (Err(_), None) => true,
            _ => false,
        };
        equal += usize::from(same);
        done += usize::from(ours.is_ok() && object != question["object"]);
        if !same && shown < 5 {
            shown += 1;
            println!("patch  {}\nours   {ours:?}\ntheirs {:?}", question["patch"], theirs.error);
            if ours.is_ok() && theirs.error.is_none() {
                differences(&object, theirs.result.as_ref().unwrap(), "");
            }
        }
    }
    Score { equal, total: questions.len() - broken, done, broken }
}

fn differences(ours: &Value, theirs: &Value, at: &str) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                differences(&ours[key], &theirs[key], &format!("{at}.{key}"));
            }
        }
        _ if ours != theirs => println!("  {at}\n    ours   {ours}\n    theirs {theirs}"),
        _ => {}
    }
}

fn deployment(pod: &Value) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "a" },
            "spec": { "template": { "spec": pod } } })
}

/// A list of named items in a pod, and a patch to it.
fn pods(base: &Value, patch: &Value) -> Value {
    json!({ "object": deployment(base), "patch": { "spec": { "template": { "spec": patch } } } })
}

fn table() -> Vec<Value> {
    let two = json!({ "containers": [{ "name": "a", "image": "x" }, { "name": "b", "args": ["1", "2"] }] });
    let rows = [
        json!({}),
        json!({ "containers": [{ "name": "b", "image": "y" }] }),
        json!({ "containers": [{ "name": "c", "image": "y" }] }),
        json!({ "containers": [{ "name": "c" }, { "name": "a", "image": null }] }),
        json!({ "containers": [{ "image": "y" }] }),
        json!({ "containers": ["a"] }),
        json!({ "containers": [null] }),
        json!({ "containers": [] }),
        json!({ "containers": null }),
        json!({ "containers": {} }),
        json!({ "containers": "x" }),
        json!({ "containers": [{ "name": "a", "$patch": "delete" }] }),
        json!({ "containers": [{ "name": "z", "$patch": "delete" }] }),
        json!({ "containers": [{ "$patch": "delete" }] }),
        json!({ "containers": [{ "$patch": "replace" }] }),
        json!({ "containers": [{ "$patch": "replace" }, { "name": "n" }] }),
        json!({ "containers": [{ "$patch": "merge" }, { "name": "n" }] }),
        json!({ "containers": [{ "$patch": 5, "name": "n" }] }),
        json!({ "$patch": "replace", "containers": [] }),
        json!({ "$patch": "delete", "containers": [] }),
        json!({ "$patch": "merge" }),
        json!({ "$retainKeys": ["volumes"], "volumes": [{ "name": "v" }] }),
        json!({ "$retainKeys": ["volumes"], "hostNetwork": true }),
        json!({ "$retainKeys": ["volumes"], "hostNetwork": null }),
        json!({ "$retainKeys": "volumes" }),
        json!({ "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }] }),
        json!({ "$setElementOrder/containers": [{ "name": "b" }, { "name": "c" }, { "name": "a" }],
                "containers": [{ "name": "c" }] }),
        json!({ "$setElementOrder/containers": [{ "name": "b" }], "containers": [{ "name": "c" }] }),
        json!({ "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }],
                "containers": [{ "name": "a", "image": "q" }, { "name": "b" }] }),
        json!({ "$setElementOrder/containers": [{ "name": "b" }],
                "containers": [{ "name": "a", "$patch": "delete" }] }),
        json!({ "$setElementOrder/containers": [] }),
        json!({ "$setElementOrder/containers": "a" }),
        json!({ "$setElementOrder/containers": ["a"] }),
        json!({ "$setElementOrder/containers": [{}] }),
        json!({ "$setElementOrder": [] }),
        json!({ "$setElementOrder/nothing": [{ "name": "a" }] }),
        json!({ "$setElementOrder/volumes": [{ "name": "a" }] }),
        json!({ "$setElementOrder/volumes": [{ "name": "a" }], "volumes": [{ "name": "a" }] }),
        json!({ "$deleteFromPrimitiveList/containers": ["a"] }),
        json!({ "$deleteFromPrimitiveListcontainers": ["a"] }),
        json!({ "containers": [{ "name": "b", "$deleteFromPrimitiveList/args": ["1"] }] }),
        json!({ "containers": [{ "name": "b", "$setElementOrder/args": ["2", "1"] }] }),
        json!({ "containers": [{ "name": "b", "args": ["3"] }] }),
        json!({ "Containers": [{ "name": "b", "image": "y" }] }),
        json!({ "CONTAINERS": [{ "name": "b" }], "containers": [{ "name": "a", "image": "y" }] }),
        json!({ "unknown": [{ "name": "b" }] }),
        json!({ "affinity": { "nodeAffinity": null, "podAffinity": { "x": null } } }),
        json!({ "affinity": { "$patch": "delete" } }),
        json!({ "nodeSelector": { "a": "b" } }),
        json!({ "tolerations": [{ "key": "a" }, null] }),
    ];
    let mut questions: Vec<Value> = rows.iter().map(|patch| pods(&two, patch)).collect();
    let rich = json!({
        "containers": [{ "name": "a", "ports": [{ "containerPort": 1 }, { "containerPort": 2, "name": "two" }],
            "env": [{ "name": "A", "value": "1" }, { "name": "B", "valueFrom": { "fieldRef": { "fieldPath": "x" } } }],
            "volumeMounts": [{ "mountPath": "/a", "name": "v" }], "resources": { "limits": { "cpu": "1" } } }],
        "volumes": [{ "name": "v", "emptyDir": {} }, { "name": "w", "secret": { "secretName": "s" } }],
        "nodeSelector": { "a": "b" }, "tolerations": [{ "key": "a" }], "imagePullSecrets": [{ "name": "s" }],
        "unknown": { "a": { "b": 1 } }, "unknowns": [1], "hostAliases": [{ "ip": "1.1.1.1", "hostnames": ["a"] }],
        "topologySpreadConstraints": [{ "topologyKey": "k", "maxSkew": 1 }], "nothing": null,
    });
    let rows = [
        json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": 3 }, { "containerPort": 1, "name": "one" }] }] }),
        json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": 2.0 }] }] }),
        json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": "2" }] }] }),
        json!({ "containers": [{ "name": "a", "env": [{ "name": "B", "value": "2" }] }] }),
        json!({ "containers": [{ "name": "a", "env": [{ "name": "B", "value": "2", "valueFrom": null }] }] }),
        json!({ "containers": [{ "name": "a", "env": [{ "name": "C" }, { "name": "A" }] }] }),
        json!({ "containers": [{ "name": "a", "volumeMounts": [{ "mountPath": "/b", "name": "v" }] }] }),
        json!({ "containers": [{ "name": "a", "resources": { "limits": { "memory": "1Gi" }, "requests": {} } }] }),
        json!({ "volumes": [{ "name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": { "path": "/" } }] }),
        json!({ "volumes": [{ "name": "w", "secret": { "$patch": "replace", "optional": true } }] }),
        json!({ "volumes": [{ "name": "x", "secret": { "$patch": "replace", "optional": true } }] }),
        json!({ "volumes": [{ "name": "x", "emptyDir": null, "projected": { "sources": [{ "$patch": "delete" }] } }] }),
        json!({ "nodeSelector": { "a": null, "c": "d" } }),
        json!({ "nodeSelector": { "$patch": "replace", "c": "d" } }),
        json!({ "nodeSelector": ["a"] }),
        json!({ "tolerations": [{ "key": "b" }] }),
        json!({ "tolerations": [{ "key": "b", "$patch": "delete" }] }),
        json!({ "imagePullSecrets": ["s"] }),
        json!({ "imagePullSecrets": [{ "name": "t" }] }),
        json!({ "unknown": { "a": { "c": 2 } } }),
        json!({ "unknown": { "a": 5 } }),
        json!({ "unknown": 5 }),
        json!({ "unknowns": [2] }),
        json!({ "hostAliases": [{ "ip": "1.1.1.1", "hostnames": ["b"] }] }),
        json!({ "topologySpreadConstraints": [{ "topologyKey": "k", "maxSkew": 2 }, { "topologyKey": "l" }] }),
        json!({ "nothing": { "a": null, "b": [null, { "c": null }] } }),
    ];
    questions.extend(rows.iter().map(|patch| pods(&rich, patch)));
    let meta = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a", "finalizers": ["x", "y", "z"],
        "labels": { "a": "b" }, "ownerReferences": [{ "uid": "1" }] },
        "spec": { "ports": [{ "port": 80, "protocol": "TCP" }, { "port": 80, "protocol": "UDP" }, { "port": 443 }] } });
    for patch in [
        json!({ "metadata": { "finalizers": ["z", "w"] } }),
        json!({ "metadata": { "finalizers": ["w", "w"] } }),
        json!({ "metadata": { "finalizers": [1] } }),
        json!({ "metadata": { "finalizers": [["a"]] } }),
        json!({ "metadata": { "finalizers": [{ "a": 1 }] } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["y"] } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": null } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": "y" } }),
        json!({ "metadata": { "$deleteFromPrimitiveList/nothing": ["y"] } }),
        json!({ "metadata": { "$setElementOrder/finalizers": ["z", "x", "y"] } }),
        json!({ "metadata": { "$setElementOrder/finalizers": ["z", "n", "x"], "finalizers": ["n"] } }),
        json!({ "metadata": { "$setElementOrder/finalizers": ["z"] } }),
        json!({ "metadata": { "ownerReferences": [{ "uid": "2" }, { "uid": "1", "name": "n" }] } }),
        json!({ "metadata": { "labels": { "c": { "d": 1 } } } }),
        json!({ "metadata": { "labels": { "a": ["x"] } } }),
        json!({ "metadata": null }),
        json!({ "spec": { "ports": [{ "port": 80, "targetPort": 8080 }] } }),
        json!({ "spec": { "ports": [{ "port": 443, "$patch": "delete" }, { "port": 80, "$patch": "delete" }] } }),
        json!({ "spec": { "selector": { "a": "b" }, "type": "ClusterIP" } }),
        json!({ "kind": "Deployment" }),
    ] {
        questions.push(json!({ "object": meta, "patch": patch }));
    }
    for (version, kind) in
        [("v1", "Deployment"), ("apps/v2", "Deployment"), ("", ""), ("install.istio.io/v1", "X")]
    {
        questions.push(json!({ "object": { "apiVersion": version, "kind": kind }, "patch": {} }));
    }
    questions
}

#[test]
fn the_rules_of_strategic_merges_are_those_of_kubernetes() {
    needs!(NEEDS);
    let score = compare_merges(&table());
    score.print("rules of strategic merges");
    assert!(score.total > 85 && score.done > 40);
}

#[test]
fn random_patches_to_real_objects_merge_as_in_kubernetes() {
    needs!(NEEDS);
    let objects = objects::rendered();
    let mut random = Random::new(1);
    let questions: Vec<Value> = (0..6_000)
        .map(|_| {
            let object = random.choose(&objects).clone();
            json!({ "patch": mutate::patch(&object, &mut random), "object": object })
        })
        .collect();
    let score = compare_merges(&questions);
    score.print("random merges");
    assert!(score.total > 5_000 && score.done > 1_500);
}

/// A whole number is the same number however it is written: istioctl makes floats of all numbers in overlays, and prints
/// 1000000 as 1e+06, which no API server takes for a whole number. We keep it whole.
fn by_value(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => json!(float as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(by_value).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), by_value(value))).collect())
        }
        other => other.clone(),
    }
}

fn compare_overlays(questions: &[(Value, paths::Patches)]) -> Score {
    let asked: Vec<Value> = questions
        .iter()
        .map(|(object, patches)| {
            let patches: Vec<Value> =
                patches.iter().map(|(path, value)| json!({ "path": path, "value": value })).collect();
            json!({ "object": object, "patches": patches })
        })
        .collect();
    let theirs = Oracle::shared().overlay(&asked).unwrap();
    let (mut equal, mut done, mut broken, mut shown) = (0, 0, 0, 0);
    for ((object, patches), theirs) in questions.iter().zip(&theirs) {
        let mut result = object.clone();
        let ours = patch::overlay(&mut result, patches).err().unwrap_or_default();
        if theirs.panic.is_some() || theirs.error.is_some() {
            broken += 1;
            continue;
        }
        let same = theirs.dropped.len() == ours.len()
            && theirs.result.as_ref().map(by_value) == Some(by_value(&result));
        equal += usize::from(same);
        done += usize::from(ours.is_empty() && result != *object);
        if !same && shown < 5 {
            shown += 1;
            println!("overlay {patches:?}\nours    {ours:?}\ntheirs  {:?}", theirs.dropped);
            differences(&by_value(&result), &by_value(theirs.result.as_ref().unwrap()), "");
        }
    }
    Score { equal, total: questions.len() - broken, done, broken }
}

#[test]
fn the_path_language_of_overlays_is_that_of_istioctl() {
    needs!(NEEDS);
    let questions = paths::table();
    let score = compare_overlays(&questions);
    score.print("paths of overlays");
    assert!(score.total > 500 && score.done > 250);
}

#[test]
fn random_overlays_of_real_objects_are_those_of_istioctl() {
    needs!(NEEDS);
    let objects = objects::rendered();
    let mut random = Random::new(2);
    let questions: Vec<_> = (0..5_000)
        .map(|_| {
            let object = random.choose(&objects).clone();
            let patches = paths::random(&object, &mut random);
            (object, patches)
        })
        .collect();
    let score = compare_overlays(&questions);
    score.print("random overlays");
    assert!(score.total > 4_000 && score.done > 2_000);
}
