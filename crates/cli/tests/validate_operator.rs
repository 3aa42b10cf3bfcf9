//! `validate` on IstioOperator files, alone and among others.

mod common;

use common::{Folder, golden, run};

const GOOD: &str = "\
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {name: mesh, namespace: istio-system}
spec:
  profile: demo
  meshConfig: {accessLogFile: /dev/stdout}
  components:
    pilot: {k8s: {resources: {requests: {cpu: 100m}}}}
";

const BAD: &str = "\
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {name: mesh, namespace: istio-system}
spec:
  profle: demo
  hub: bad hub
  components:
    pilot: {enabled: 3, k8s: {replicaCount: 2}}
  values:
    pilot: {autoscaleMin: two, autoscaleEnabled: true}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public}
spec:
  servers:
  - {port: {number: 80, name: http, protocol: HTTP}, hosts: []}
---
apiVersion: v1
kind: Service
metadata: {name: other}
---
apiVersion: v1
kind: List
items:
- apiVersion: install.istio.io/v1alpha1
  kind: IstioOperator
  metadata: {name: listed}
  spec: {tag: bad/tag}
---
apiVersion: install.istio.io/v1alpha1
kind: IstioOperatr
metadata: {name: misspelt}
---
apiVersion: install.istio.io/v1
kind: IstioOperator
metadata: {name: from-the-future}
";

#[test]
fn a_good_one_is_valid() {
    let folder = Folder::new("operator-good");
    folder.file("mesh.yaml", GOOD);
    assert_eq!(folder.run("validate mesh.yaml").good(), "1 Istio object in 1 file: valid\n");
    assert_eq!(folder.run("validate -f mesh.yaml -o json").done().matches("\"refused\": 0").count(), 1);
}

#[test]
fn what_is_wrong_is_shown_at_its_place_among_other_kinds() {
    let folder = Folder::new("operator-bad");
    folder.file("mesh.yaml", BAD);
    let ended = folder.run("validate -v mesh.yaml");
    assert_eq!((ended.code, ended.err.as_str()), (1, ""));
    golden("validate-operator.txt", &ended.out);
    for form in ["json", "sarif"] {
        let ended = folder.run(&format!("validate mesh.yaml -o {form}"));
        assert_eq!(ended.code, 1, "{form}");
        assert!(ended.out.contains("`autoscaleMin` must be a whole number"), "{form}: {}", ended.out);
    }
}

#[test]
fn what_is_refused_here_is_refused_when_it_is_used() {
    let folder = Folder::new("operator-both");
    for spec in ["profle: demo", "hub: bad hub", "components: {pilot: {enabled: 3}}", "components: [1]"] {
        folder.file(
            "mesh.yaml",
            format!("apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nspec:\n  {spec}\n"),
        );
        assert_eq!(folder.run("validate mesh.yaml").code, 1, "{spec}");
        folder.run("manifest generate -f mesh.yaml").bad(1);
    }
}

#[test]
fn every_profile_of_this_repository_is_valid() {
    let profiles = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");
    let said = run(&format!("mizzen validate {profiles}")).good();
    assert_eq!(said, "10 Istio objects in 10 files: valid\n");
}
