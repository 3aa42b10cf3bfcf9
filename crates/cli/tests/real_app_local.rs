//! An application's files on a mesh of `mizzen up`: real Envoys, no cluster.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod up;

use mizzen_testkit::{Envoy, needs};
use std::{fs, path::Path};
use up::{Mesh, folder, mizzen, said, until};

/// Of the sample's services: everybody gets version 2 of the reviews.
const APP: &str = "\
name: reviews
workload: { image: reviews:1, ports: [{ port: 9080 }] }
istio:
  peerAuthentications:
    encrypted: { workloadSelector: self, mode: STRICT }
  authorizationPolicies:
    nobody: { workloadSelector: self, denyAll: true }
  destinationRules:
    versions: { host: reviews, name: reviews, subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }] }
  virtualServices:
    routes: { hosts: [reviews], httpRoutes: [{ destinations: [{ host: reviews, subset: v2 }] }] }
";

fn version(mesh: &Mesh) -> String {
    mesh.shop(&[])["reviews"]["version"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_same_files_work_on_a_mesh_of_this_machine() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    // The sample's own rules for the reviews would be a second word on the same host.
    fs::remove_file(mesh.objects().join("reviews.yaml")).unwrap();
    fs::create_dir(mesh.folder.join("app")).unwrap();
    fs::write(mesh.folder.join("app/app.yaml"), APP).unwrap();
    let run = |line: &str| mesh.mizzen(&line.split_whitespace().collect::<Vec<_>>());
    let is = |wanted: &str| {
        let found = version(&mesh);
        if found == wanted { Ok(()) } else { Err(found) }
    };
    let preview = run("app preview --local -C app");
    let told = said(&preview);
    assert!(preview.status.success() && told.contains("+ VirtualService default/reviews-routes"), "{told}");
    assert!(
        told.contains("without effect: Deployment default/reviews: mesh.yaml says what runs as reviews"),
        "{told}"
    );
    assert!(told.contains("without effect: AuthorizationPolicy default/reviews-nobody"), "{told}");
    assert!(!mesh.objects().join("app-reviews.yaml").exists());

    let applied = run("app apply --local -y -C app");
    assert!(
        applied.status.success() && said(&applied).ends_with("the mesh on this machine has it\n"),
        "{}",
        said(&applied)
    );
    until("version 2 for everybody", || is("v2"));
    let text = fs::read_to_string(mesh.objects().join("app-reviews.yaml")).unwrap();
    // Pods are known by other labels here.
    assert!(text.contains("matchLabels:\n      app: reviews\n"), "{text}");

    fs::write(mesh.folder.join("app/app.yaml"), APP.replace("subset: v2 }] }] }", "subset: v1 }] }] }"))
        .unwrap();
    let told = said(&run("app preview --local -C app"));
    assert!(told.contains("~ VirtualService default/reviews-routes\n      spec.http[0].route[0].destination.subset: \"v2\" → \"v1\""), "{told}");
    let again = run("app apply --local -y -C app");
    assert!(again.status.success(), "{}", said(&again));
    until("version 1 again", || is("v1"));

    let gone = run("app destroy --local -y -C app");
    assert!(
        gone.status.success() && said(&gone).ends_with("reviews is gone from the mesh on this machine\n"),
        "{}",
        said(&gone)
    );
    assert!(!mesh.objects().join("app-reviews.yaml").exists());
    mesh.down();
}

#[test]
fn without_a_mesh_that_is_told() {
    let folder = folder();
    fs::write(folder.join("app.yaml"), APP).unwrap();
    for line in ["app apply --local -y", "app preview --local", "app destroy --local -y"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = mizzen(Path::new(&folder), &words).output().unwrap();
        let told = said(&output);
        assert!(
            output.status.code() == Some(1)
                && told.contains("no mesh is up here")
                && told.contains("up` starts one"),
            "{told}"
        );
    }
    let output = mizzen(&folder, &["app", "apply", "--local", "--spec-file", "spec.yaml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}
