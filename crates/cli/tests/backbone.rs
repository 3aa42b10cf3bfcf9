//! `backbone generate`: definitions in, files of models out, or what is wrong and no file.

mod common;

use common::{Folder, run};
use std::fs;

#[test]
fn every_language_is_written_below_the_package() {
    let folder = Folder::new("backbone");
    folder.file("crds.yaml", run("mizzen crd print DestinationRule Telemetry").good());
    for (words, file, has) in [
        ("", "models/networking_istio_io_v1_destination_rule.k", "schema DestinationRule:"),
        ("-m one/two", "one/two/k8s/apimachinery/pkg/apis/meta/v1/object_meta.k", "schema ObjectMeta:"),
        (
            "--names short -m short",
            "short/networking_istio_io_v1_destination_rule.k",
            "schema DestinationRuleSubsets:",
        ),
        (
            "--to json-schema -t out",
            "out/models/telemetry.istio.io/telemetry_v1.json",
            "\"const\": \"Telemetry\"",
        ),
        ("--to rust -m rust", "rust/telemetry_istio_io_v1_telemetry.rs", "pub struct Telemetry {"),
    ] {
        let said = folder.run(&format!("backbone generate --crd -f crds.yaml {words}")).good();
        assert!(said.contains(" files in "), "{said}");
        let text = fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        assert!(text.contains(has), "{file}: {text:.300}");
    }
}

#[test]
fn the_exact_text_is_without_rules_and_package() {
    let folder = Folder::new("backbone-exact");
    folder.file("crds.json", run("mizzen crd print dr -o json").good());
    folder.run("backbone generate --crd -f crds.json").good();
    folder.run("backbone generate --crd -f crds.json --exact -m exact").good();
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap_or_default();
    let file = "networking_istio_io_v1_destination_rule.k";
    assert!(read(&format!("models/{file}")).contains("at most one of simple, consistentHash may be given"));
    assert!(!read(&format!("exact/{file}")).contains("at most one of"));
    assert!(
        read("models/kcl.mod").contains("name = \"models\"") && !folder.path().join("exact/kcl.mod").exists()
    );
    // What somebody has made of the package stays.
    folder.file("models/kcl.mod", "mine\n");
    folder.run("backbone generate --crd -f crds.json").good();
    assert_eq!(read("models/kcl.mod"), "mine\n");
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_written() {
    let folder = Folder::new("backbone-bad");
    let good = run("mizzen crd print Telemetry").good();
    folder.file("crds.yaml", format!("{good}---\n{}", good.replace("type: object", "type: objekt")));
    let said = folder.run("backbone generate --crd -f crds.yaml").bad(1);
    assert!(said.contains("crds.yaml:") && said.contains("`type` must be one of object, array"), "{said}");
    assert!(!folder.path().join("models").exists());
    folder.file("other.yaml", "kind: Pod\napiVersion: v1\n");
    let said = folder.run("backbone generate --crd -f other.yaml").bad(1);
    assert!(
        said.contains("this is a Pod") && said.contains("there is no CustomResourceDefinition"),
        "{said}"
    );
    let said = folder.run("backbone generate --crd -f nowhere.yaml").bad(1);
    assert!(said.contains("cannot be read"), "{said}");
    for (words, says) in [
        ("-f crds.yaml -m ../up", "cannot be the name of a package"),
        ("-f crds.yaml --to rust --exact", "--exact and --names are about KCL"),
        ("", "--file"),
    ] {
        let said = folder.run(&format!("backbone generate --crd {words}")).bad(2);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn two_definitions_of_one_name_are_one_if_they_are_the_same() {
    let folder = Folder::new("backbone-twice");
    let good = run("mizzen crd print Telemetry").good();
    folder.file("a.yaml", &good);
    folder.file("b.yaml", good.replace("maxLength", "minLength"));
    folder.run("backbone generate --crd -f a.yaml -f a.yaml").good();
    let said = folder.run("backbone generate --crd -f a.yaml -f b.yaml").bad(1);
    assert!(said.contains("two different definitions would both be"), "{said}");
}
