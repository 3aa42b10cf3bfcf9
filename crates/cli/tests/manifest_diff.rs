//! `manifest diff`: two sets of objects, and an exit code for scripts.
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::{Folder, fed, golden, run};
use serde_json::{Value, json};

const OLD: &str = "\
apiVersion: v1
kind: Service
metadata: {name: istio-pilot, namespace: mesh}
spec: {ports: [{port: 15010}, {port: 15012}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: mesh}
data:
  mesh: |
    accessLogFile: /dev/stdout
    rootNamespace: mesh
  empty: ''
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: istiod, namespace: mesh}
";

const NEW: &str = "\
apiVersion: v1
kind: Service
metadata: {name: istiod, namespace: mesh}
spec: {ports: [{port: 15010}, {port: 15013}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: mesh}
data:
  mesh: |
    rootNamespace: mesh
  empty: full
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: istiod, namespace: mesh}
";

fn pair(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("old.yaml", OLD);
    folder.file("new.yaml", NEW);
    folder
}

/// What was printed where something differs.
fn differ(folder: &Folder, words: &str) -> String {
    let ended = folder.run(&format!("manifest diff {words}"));
    assert_eq!((ended.code, ended.err.as_str()), (1, ""), "{words}: {}", ended.out);
    ended.out
}

#[test]
fn the_same_is_said_to_be_the_same() {
    let folder = pair("diff-same");
    // Neither order nor form matters.
    let mut documents: Vec<_> = OLD.split("---\n").collect();
    documents.reverse();
    folder.file("turned.yaml", documents.join("---\n"));
    for other in ["old.yaml", "turned.yaml"] {
        let said = folder.run(&format!("manifest diff old.yaml {other}")).good();
        assert_eq!(said, "Manifests are identical\n");
    }
    assert_eq!(folder.run("manifest diff old.yaml old.yaml -o json").good(), "[]\n");
}

#[test]
fn what_differs_is_shown_by_object_and_field() {
    let folder = pair("diff-text");
    golden("manifest-diff.txt", &differ(&folder, "old.yaml new.yaml"));
    let told: Value = serde_json::from_str(&differ(&folder, "old.yaml new.yaml -o json")).unwrap();
    let wanted = json!([
        {"object": "ConfigMap:mesh:istio", "changes": [
            {"path": "data.empty", "old": "", "new": "full"},
            {"path": "data.mesh", "old": "accessLogFile: /dev/stdout\nrootNamespace: mesh\n",
             "new": "rootNamespace: mesh\n"},
        ]},
        {"object": "Service:mesh:istio-pilot", "missingIn": "new"},
        {"object": "Service:mesh:istiod", "missingIn": "old"},
    ]);
    assert_eq!(told, wanted);
}

#[test]
fn objects_are_chosen_left_out_and_renamed() {
    let folder = pair("diff-choice");
    let said = differ(&folder, "old.yaml new.yaml --select Service:*:*");
    assert!(said.contains("Service:mesh:istiod") && !said.contains("ConfigMap"), "{said}");
    let said = differ(&folder, "old.yaml new.yaml --ignore Service:*:istio-pilot,Service::istiod");
    assert!(said.contains("ConfigMap") && !said.contains("Service"), "{said}");
    let said = folder.run("manifest diff old.yaml new.yaml --select ServiceAccount::,Secret::").good();
    assert_eq!(said, "Manifests are identical\n");
    let said = folder.run("manifest diff old.yaml new.yaml --ignore ConfigMap:*:*,Service:mesh:*").good();
    assert_eq!(said, "Manifests are identical\n");
    let renamed = "old.yaml new.yaml --ignore ConfigMap:: --rename Service:*:istio-pilot->Service:*:istiod";
    let said = differ(&folder, renamed);
    let wanted = "Differences in manifests are:\n\nObject Service:mesh:istiod has diffs:\n  \
                  metadata.name: istio-pilot -> istiod\n  spec.ports[1].port: 15012 -> 15013\n";
    assert_eq!(said, wanted);
}

#[test]
fn folders_are_compared_when_that_is_asked_for() {
    let folder = pair("diff-folders");
    for (index, document) in OLD.split("---\n").enumerate() {
        folder.file(&format!("old/{index}/object.yaml"), document);
    }
    folder.file("new/all.yml", NEW);
    folder.file("new/notes.txt", "not: [read");
    let files = differ(&folder, "old.yaml new.yaml");
    assert_eq!(differ(&folder, "-r old new"), files);
    assert_eq!(differ(&folder, "--directory old new"), files);
    for words in ["old new", "old.yaml new", "old new.yaml"] {
        let said = folder.run(&format!("manifest diff {words}")).bad(2);
        assert!(said.ends_with(" is a folder\nhint: with -r folders are compared\n"), "{said}");
    }
}

#[test]
fn a_list_is_its_items() {
    let folder = pair("diff-list");
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ServiceAccount\n  \
                metadata: {name: istiod, namespace: mesh}\n";
    folder.file("list.yaml", list);
    let said = folder.run("manifest diff list.yaml new.yaml --select ServiceAccount::").good();
    assert_eq!(said, "Manifests are identical\n");
}

#[test]
fn standard_input_is_one_of_the_two() {
    let folder = pair("diff-stdin");
    for words in [["manifest", "diff", "-", "new.yaml"], ["manifest", "diff", "new.yaml", "-"]] {
        assert_eq!(fed(&mut folder.command(words), NEW).good(), "Manifests are identical\n");
    }
    let said = run("mizzen manifest diff - -").bad(2);
    assert_eq!(said, "error: standard input can only be one of the two\n");
}

#[test]
fn what_was_generated_can_be_compared() {
    let folder = Folder::new("diff-generated");
    for profile in ["default", "minimal"] {
        folder.run(&format!("manifest generate --set profile={profile} -o {profile}.yaml")).done();
    }
    let said = differ(&folder, "default.yaml minimal.yaml");
    assert!(said.contains("Object Deployment:istio-system:istio-ingressgateway is missing in NEW"), "{said}");
    assert!(!said.contains("Deployment:istio-system:istiod "), "{said}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let folder = pair("diff-wrong");
    folder.file("broken.yaml", "a: [1\n");
    folder.file("text.yaml", "kind: A\n---\njust text\n---\nreplicas: 3\n");
    for (words, told) in [
        (
            "old.yaml nowhere.yaml",
            "cannot be read: No such file or directory (os error 2)\n  --> nowhere.yaml",
        ),
        ("broken.yaml old.yaml", "--> broken.yaml:1:4"),
        ("text.yaml old.yaml", "this is no object: it has no `kind`\n  --> text.yaml:3:1"),
    ] {
        let said = folder.run(&format!("manifest diff {words}")).bad(1);
        assert!(said.contains(told), "{words}: {said}");
    }
    for (words, told) in [
        ("old.yaml", "<NEW>"),
        ("old.yaml new.yaml other.yaml", "unexpected argument 'other.yaml'"),
        ("old.yaml new.yaml --select Service", "`Service` is not KIND:NAMESPACE:NAME, for instance"),
        ("old.yaml new.yaml --ignore a:b:c:d", "`a:b:c:d` is not KIND:NAMESPACE:NAME"),
        ("old.yaml new.yaml --rename Service::a", "`Service::a` is not"),
        ("old.yaml new.yaml -o yaml", "possible values: text, json"),
    ] {
        let said = folder.run(&format!("manifest diff {words}")).bad(2);
        assert!(said.contains(told), "{words}: {said}");
    }
}
