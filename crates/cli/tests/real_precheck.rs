//! `x precheck` beside the real istioctl, on one cluster: the same findings.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;
mod mesh;

use common::Ended;
use mesh::{Mesh, NEEDS};
use mizzen_testkit::{
    Result, needs,
    wait::{PATIENCE, Seen, until},
};
use serde_json::Value;

const CLEAN: &str = "No issues found when checking the cluster. Istio is safe to install or upgrade!";

/// Definitions as old releases of the Gateway API had them: name, kind, versions that are served.
const OLD: [(&str, &str, &[&str]); 3] = [
    ("gateways", "Gateway", &["v1alpha2"]),
    ("grpcroutes", "GRPCRoute", &["v1alpha2", "v1beta1"]),
    ("tcproutes", "TCPRoute", &["v1alpha2"]),
];

fn definition(plural: &str, kind: &str, versions: &[&str]) -> String {
    let version = |(place, name): (usize, &&str)| {
        format!(
            "  - {{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}}}\n",
            place == 0
        )
    };
    let versions: String = versions.iter().enumerate().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.gateway.networking.k8s.io\n  \
         annotations: {{api-approved.kubernetes.io: https://example.com}}\nspec:\n  group: gateway.networking.k8s.io\n  \
         names: {{kind: {kind}, plural: {plural}, listKind: {kind}List}}\n  scope: Namespaced\n  versions:\n{versions}---\n"
    )
}

/// Both end in the same way and print the same.
fn same(mesh: &Mesh, line: &str) -> Ended {
    let (ours, theirs) = (mesh.ours(line), mesh.theirs(line));
    assert_eq!(ours.code, theirs.code, "{line}: {}{}", ours.err, theirs.err);
    assert_eq!(
        ours.out.trim_end(),
        theirs.out.replace("\u{1b}[0m", "").replace("\u{1b}[33m", "").replace("\u{1b}[1;31m", "").trim_end(),
        "{line}"
    );
    assert_eq!(ours.err.replace("error: ", "Error: ").replace("    See", "See"), theirs.err, "{line}");
    ours
}

fn codes(ended: &Ended) -> Vec<String> {
    let found: Vec<Value> = serde_json::from_str(&ended.out).unwrap();
    found.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_find_the_same_in_the_same_cluster() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::none().await?;
    let clean = same(&mesh, "x precheck");
    assert!(clean.code == 0 && clean.out.is_empty() && clean.err.contains(CLEAN), "{clean:?}");

    // Somebody who may look, and nothing else.
    let seen = "--resource=customresourcedefinitions,namespaces,services,pods,deployments.apps";
    let role = ["create", "clusterrole", "looker", "--verb=list,get,watch", seen];
    mesh.server.kubectl(&role).await?;
    let binding = ["create", "clusterrolebinding", "looker", "--clusterrole=looker", "--user=looker"];
    mesh.server.kubectl(&binding).await?;
    until("the rights to be known", PATIENCE, async || {
        let asked = ["auth", "can-i", "list", "pods", "-A", "--as", "looker"];
        Seen::from_result(mesh.server.kubectl(&asked).await)
    })
    .await?;
    let denied = same(&mesh, "x precheck --as looker -o json");
    assert_eq!((denied.code, codes(&denied)), (1, vec!["IST0141".to_owned(); 11]));
    assert_eq!(same(&mesh, "x precheck --as looker --skip-controlplane").code, 0);
    // Who may not even look learns that too; the real one stops there.
    let blind = mesh.ours("x precheck --as nobody -o json");
    assert_eq!(codes(&blind).len(), 12);
    assert!(
        blind.out.contains("Missing required permission to list resource customresourcedefinitions"),
        "{}",
        blind.out
    );

    let definitions: String =
        OLD.iter().map(|(plural, kind, versions)| definition(plural, kind, versions)).collect();
    mesh.server.apply(&definitions).await?;
    let old = same(&mesh, "x precheck -o json");
    assert_eq!(
        (old.code, codes(&old)),
        (1, vec!["IST0156".to_owned(), "IST0172".to_owned(), "IST0172".to_owned()])
    );
    same(&mesh, "x precheck -o yaml");
    same(&mesh, "x precheck --output-threshold Error");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn behaviour_that_changed_and_annotations_that_may_change_are_told_alike() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::none().await?;
    let kubectl = async |line: &str| mesh.server.kubectl(&line.split(' ').collect::<Vec<_>>()).await;
    kubectl("create namespace istio-system").await?;
    kubectl("create service clusterip zipkin -n istio-system --tcp=9411").await?;
    kubectl("create namespace shop").await?;
    kubectl("annotate namespace shop sidecar.istio.io/proxyMemory=1Gi istio.io/rev=x").await?;
    kubectl("create service clusterip web -n shop --tcp=80").await?;
    kubectl("annotate service web -n shop networking.istio.io/exportTo=* sidecar.istio.io/inject=true example.com/a=b").await?;
    for (line, wanted) in [
        ("x precheck --from-version 1.21 -o json", &["IST0169"][..]),
        ("x precheck --output-threshold Info -o json", &["IST0136"; 2]),
        ("x precheck --output-threshold Info -o json -n shop", &["IST0136"; 2]),
    ] {
        assert_eq!(codes(&same(&mesh, line)), wanted, "{line}");
    }
    for line in ["x precheck --from-version 1.22", "x precheck --output-threshold Info -n default"] {
        assert!(same(&mesh, line).err.contains(CLEAN), "{line}");
    }
    assert!(
        mesh.ours("x precheck --from-version new")
            .bad(2)
            .contains("invalid version new, expected format like '1.0'")
    );
    Ok(())
}
