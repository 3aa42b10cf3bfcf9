//! In which order objects come and go, what stays when something fails, and what an upgrade of an application may change.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod application;
mod site;

use application::Application;
use mizzen_testkit::{
    Controllers, Result, controllers, needs,
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};

/// The places of these words, which must be there in this order.
#[track_caller]
fn in_order(told: &str, words: &[&str]) {
    let places: Vec<usize> =
        words.iter().map(|word| told.find(word).unwrap_or_else(|| panic!("no {word}: {told}"))).collect();
    assert!(places.is_sorted(), "{words:?}: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_goes_though_its_deployment_stays_and_a_route_goes_before_its_subset() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    let app = |workload: &str, istio: &str| {
        format!("name: shop\nworkload: {{ image: shop:1{workload} }}\nistio:{istio}\n")
    };
    let istio = "
  destinationRules: { a-versions: { host: shop, subsets: [{ name: v1, labels: { version: v1 } }] } }
  virtualServices: { z-routes: { hosts: [shop], httpRoutes: [{ destinations: [{ host: shop, subset: v1 }] }] } }";
    shop.file("app.yaml", app(", ports: [{ port: 80 }]", istio));
    let told = shop.app("apply -y").await.well();
    in_order(
        &told,
        &[
            "created Namespace shop",
            "created DestinationRule shop/shop-a-versions",
            "created VirtualService shop/shop-z-routes",
        ],
    );
    shop.file("app.yaml", app("", " {}"));
    let told = shop.app("apply -y").await.well();
    in_order(
        &told,
        &["deleted VirtualService shop/shop-z-routes", "deleted DestinationRule shop/shop-a-versions"],
    );
    assert!(
        told.contains("deleted Service shop/shop\n") && told.ends_with("release 2 is in force\n"),
        "{told}"
    );
    let state = shop.state().await;
    assert!(state.contains_key("Deployment shop/shop") && !state.contains_key("Service shop/shop"));
    // The namespace stays while the application lives in it, whoever it belongs to from now on.
    shop.file("app.yaml", "name: shop\ncreateNamespace: false\nworkload: { image: shop:1 }\n");
    let told = shop.app("apply -y").await.well();
    assert!(
        told.contains("= Namespace shop (stays: the application lives in it)")
            && told.ends_with("release 3 is in force\n"),
        "{told}"
    );
    assert!(shop.state().await.contains_key("Deployment shop/shop"));
    let told = shop.app("destroy -y").await.well();
    assert!(told.contains("deleted Deployment shop/shop\n") && !told.contains("Namespace"), "{told}");
    assert!(shop.state().await.contains_key("Namespace /shop"));
    Ok(())
}

fn resource(name: &str, value: &str, needs: &[&str]) -> Value {
    let needs: Vec<String> = needs.iter().map(|name| format!("v1:ConfigMap:shop:{name}")).collect();
    json!({
        "id": format!("v1:ConfigMap:shop:{name}"), "type": "Kubernetes", "dependsOn": needs,
        "attributes": {
            "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": value },
            "metadata": { "name": name, "namespace": "shop", "labels": { "app.kubernetes.io/name": "shop", "app.kubernetes.io/env": "dev" } },
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn edges_may_turn_round_from_one_release_to_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    shop.site.server.kubectl(&["create", "namespace", "shop"]).await?;
    let before = shop.everything().await;
    let apply = format!("apply -y --spec-file {}/spec.json", shop.folder.display());
    let specs = [
        json!({ "resources": [resource("a", "1", &["b"]), resource("b", "1", &["c"]), resource("c", "1", &[])] }),
        json!({ "resources": [resource("a", "2", &[]), resource("b", "2", &["a"]), resource("c", "2", &["b"])] }),
        json!({ "resources": [resource("b", "3", &["d"]), resource("d", "3", &[])] }),
    ];
    let orders = [["c", "b", "a"].as_slice(), &["a", "b", "c"], &["d", "b"]];
    for (spec, order) in specs.iter().zip(orders) {
        shop.file("spec.json", spec.to_string());
        let told = shop.app(&apply).await.well();
        let words: Vec<String> = order.iter().map(|name| format!("d ConfigMap shop/{name}\n")).collect();
        in_order(&told, &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    // What the last release has not was needed the other way round when it was made.
    let told = shop.app("rollback 1 -y --app shop --stack dev").await.well();
    in_order(
        &told,
        &[
            "created ConfigMap shop/c",
            "updated ConfigMap shop/b",
            "created ConfigMap shop/a",
            "deleted ConfigMap shop/d",
        ],
    );
    let told = shop.app("destroy -y --app shop --stack dev").await.well();
    in_order(&told, &["deleted ConfigMap shop/a", "deleted ConfigMap shop/b", "deleted ConfigMap shop/c"]);
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_of_a_kind_is_the_same_object_and_old_releases_are_forgotten() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    shop.site.server.kubectl(&["create", "namespace", "shop"]).await?;
    let app =
        |host: &str| format!("name: shop\nistio: {{ destinationRules: {{ one: {{ host: {host} }} }} }}\n");
    let uid = async || {
        shop.site
            .server
            .kubectl(&["-n", "shop", "get", "destinationrule", "shop-one", "-o", "jsonpath={.metadata.uid}"])
            .await
    };
    shop.file("app.yaml", app("h0"));
    shop.file("platform.yaml", "apiVersions: { DestinationRule: v1beta1 }\n");
    shop.app("apply -y").await.well();
    let first = uid().await?;
    shop.file("platform.yaml", "apiVersions: { DestinationRule: v1 }\n");
    let told = shop.app("apply -y").await.well();
    assert!(!told.contains("delete DestinationRule") && told.contains("0 to delete"), "{told}");
    assert_eq!(uid().await?, first, "it was not made anew");
    for number in 3..=13 {
        shop.file("app.yaml", app(&format!("h{number}")));
        shop.app("apply -y").await.well();
    }
    let releases = shop.releases().await;
    let numbers: Vec<u64> =
        releases["releases"].as_array().unwrap().iter().map(|one| one["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (4..=13).collect::<Vec<_>>());
    let specs =
        shop.everything().await.keys().filter(|key| key.contains("/mizzen-app.shop.default.r")).count();
    assert_eq!(specs, 10);
    let told = shop.app("rollback 2 -y").await.badly();
    assert!(
        told.contains("shop/default has no release 2 that succeeded") && told.contains("there are 4, 5, "),
        "{told}"
    );
    let told = shop.app("rollback 4 -y").await.well();
    assert!(
        told.contains("spec.host: \"h13\" → \"h4\"") && told.ends_with("release 14 is in force\n"),
        "{told}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_keeps_what_needs_it_and_nothing_goes_before_what_replaces_it_is_ready() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    // What only the namespace itself has rules against, and so nobody can know before it is there.
    let refused = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "bad": "a" } });
    let rule = "!(object.metadata.namespace in ['shop', 'kube-public']) || !has(object.data) || !('bad' in object.data)";
    shop.policy("nothing-bad", rule, &refused).await?;
    let objects = |key: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: broken }}\ndata: {{ \"{key}\": a }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: fine }}\n"
        )
    };
    shop.file("objects.yaml", objects("bad"));
    shop.file("app.yaml", "name: shop\nmanifests: [objects.yaml]\nworkload: { image: shop:1 }\n");
    let ended = shop.app("apply -y").await;
    assert!(
        ended.out.contains("✘ applying ConfigMap shop/broken is refused")
            && ended.out.contains("denied request")
            && ended.out.contains("created ConfigMap shop/fine"),
        "{}",
        ended.out
    );
    let told = ended.badly();
    // There is nothing to go back to, and so that is not what is advised.
    assert!(
        told.contains("release 1 has failed:") && told.contains("or `mizzen app destroy` to take away"),
        "{told}"
    );
    let told = shop.app("rollback -y").await.badly();
    assert!(told.contains("has no release to go back to") && told.contains("`mizzen app destroy`"), "{told}");
    let told = shop.app("releases").await.well();
    assert!(
        told.contains("failed") && told.contains("3/4") && told.contains("shop/broken is refused"),
        "{told}"
    );
    shop.file("objects.yaml", objects("key"));
    let told = shop.app("apply -y").await.well();
    assert!(
        told.contains("created ConfigMap shop/broken\n") && told.ends_with("release 2 is in force\n"),
        "{told}"
    );
    // What was only a name, of which a server notes nobody, gets more in it.
    shop.file("objects.yaml", objects("key").replace("name: fine }", "name: fine }\ndata: { a: b }"));
    let told = shop.app("apply -y").await.well();
    assert!(
        told.contains("~ ConfigMap shop/fine\n      data: + {\"a\":\"b\"}")
            && told.ends_with("release 3 is in force\n"),
        "{told}"
    );
    // A workload under another name that does not become ready: the old one stays.
    let label = controllers::POD;
    let new = format!(
        "name: shop\nmanifests: [new.yaml]\nworkload: {{ image: shop:2, labels: {{ {label}: {} }} }}\n",
        controllers::IMAGE_PULL_ERROR
    );
    shop.file("new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: fine }\n");
    shop.file("app.yaml", new);
    let told = shop.app("apply -y --timeout 30s").await.badly();
    assert!(
        told.contains("Deployment shop/shop is not ready after 30 s") && told.contains("ImagePullBackOff"),
        "{told}"
    );
    assert!(told.contains("or `mizzen app rollback` to go back"), "{told}");
    assert!(shop.state().await.contains_key("ConfigMap shop/broken"), "it would have gone");
    let told = shop.app("preview").await.well();
    assert!(
        told.starts_with("shop/default in namespace shop: release 3 is in force, release 4 failed\n"),
        "{told}"
    );
    assert!(told.contains("- ConfigMap shop/broken"), "{told}");
    let told = shop.app("rollback -y").await.well();
    assert!(told.starts_with("back to release 3 of ") && told.ends_with("release 5 is in force\n"), "{told}");
    shop.app("destroy -y").await.well();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_in_which_others_have_something_stays() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    shop.file("app.yaml", "name: shop\nworkload: { image: shop:1 }\n");
    shop.app("apply -y").await.well();
    let theirs = "apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: { name: precious, namespace: shop }\nspec: {}\n";
    shop.site.server.apply(theirs).await?;
    let told = shop.app("destroy -y").await.well();
    assert!(told.contains("it holds what others have made: PeerAuthentication shop/precious"), "{told}");
    let left = shop.site.server.kubectl(&["get", "peerauthentication", "precious", "-n", "shop"]).await?;
    assert!(left.contains("precious"));
    assert!(!shop.state().await.contains_key("Deployment shop/shop"));
    Ok(())
}

const KIND: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, singular: boat, kind: Boat, listKind: BoatList }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
";

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_stays_while_there_are_objects_of_its_kind_that_stay() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    let boat = |namespace: &str, name: &str| {
        format!(
            "---\napiVersion: example.com/v1\nkind: Boat\nmetadata: {{ name: {name}, namespace: {namespace} }}\nsize: 1\n"
        )
    };
    shop.file("app.yaml", "name: shop\ncreateNamespace: true\nmanifests: [objects.yaml]\n");
    let kind = async || shop.site.server.kubectl(&["get", "crd", "boats.example.com"]).await.is_ok();
    let both = format!("{KIND}{}", boat("shop", "ours"));
    shop.file("objects.yaml", &both);
    shop.app("apply -y").await.well();
    for name in ["a", "b", "c", "d"] {
        shop.site.server.apply(&boat("default", name)).await?;
    }
    let said = "CustomResourceDefinition boats.example.com stays: there are objects of its kind that stay: Boat default/a, Boat default/b, Boat default/c and 1 more";
    // Out of the files.
    shop.file("objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: b }\n");
    let told = shop.app("apply -y").await.well();
    assert!(told.contains(said) && told.contains("deleted Boat shop/ours"), "{told}");
    assert!(kind().await);
    // It is ours again, and everything goes but for theirs.
    shop.file("objects.yaml", &both);
    shop.app("apply -y").await.well();
    let told = shop.app("destroy -y").await.well();
    assert!(
        told.contains(said)
            && told.contains("deleted Boat shop/ours")
            && told.ends_with("shop/default is gone\n"),
        "{told}"
    );
    assert_eq!(
        shop.site.server.kubectl(&["get", "boats", "-n", "default", "-o", "name"]).await?.lines().count(),
        4
    );
    // Where nobody else has one it goes, with those that are ours.
    shop.site.server.kubectl(&["delete", "boats", "-n", "default", "--all"]).await?;
    shop.app("apply -y").await.well();
    let told = shop.app("destroy -y").await.well();
    assert!(told.contains("deleted CustomResourceDefinition boats.example.com"), "{told}");
    assert!(!kind().await);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_label_of_ours_makes_nothing_ours() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    shop.file("app.yaml", "name: shop\nworkload: { image: shop:1 }\n");
    shop.app("apply -y --no-wait").await.well();
    let theirs = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: precious, namespace: shop, labels: { mizzen.io/app: shop, mizzen.io/stack: default } }\ndata: { a: b }\n";
    shop.site.server.apply(theirs).await?;
    let told = shop.app("destroy -y").await.well();
    assert!(
        told.contains("Namespace shop stays: it holds what others have made: ConfigMap shop/precious"),
        "{told}"
    );
    assert!(shop.site.server.kubectl(&["get", "configmap", "precious", "-n", "shop"]).await.is_ok());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_may_not_go_ends_the_removal_as_failed_and_keeps_nobody_out() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    shop.file("app.yaml", "name: shop\nworkload: { image: shop:1 }\n");
    shop.app("apply -y --no-wait").await.well();
    // A policy of the cluster keeps namespaces.
    let of = |kind: &str, spec: Value| {
        json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": { "name": "keep" }, "spec": spec }).to_string()
    };
    let rules = json!([{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["namespaces"] }]);
    let policy = json!({ "matchConstraints": { "resourceRules": rules }, "validations": [{ "expression": "false", "message": "namespaces are kept" }] });
    let server = &shop.site.server;
    server.apply(&of("ValidatingAdmissionPolicy", policy)).await?;
    let binding = json!({ "policyName": "keep", "validationActions": ["Deny"] });
    server.apply(&of("ValidatingAdmissionPolicyBinding", binding)).await?;
    server.kubectl(&["create", "namespace", "other"]).await?;
    wait::until("the policy", PATIENCE, async || {
        let taken = server.kubectl(&["delete", "namespace", "other", "--dry-run=server"]).await;
        Seen::when(taken.is_err(), || "it refuses nothing yet".to_owned())
    })
    .await?;
    let told = shop.app("destroy -y").await.badly();
    assert!(told.contains("namespaces are kept"), "{told}");
    let releases = shop.releases().await;
    assert_eq!(
        (&releases["lock"], &releases["releases"][1]["phase"]),
        (&Value::Null, &json!("failed")),
        "{releases:#}"
    );
    let kept = shop.everything().await.into_keys().any(|key| key == "Secret shop/mizzen-app.shop.default.r1");
    assert!(kept, "what can be gone back to is not dropped before the end");
    server.kubectl(&["delete", "validatingadmissionpolicybinding", "keep"]).await?;
    wait::until("no policy", PATIENCE, async || {
        Seen::from_result(server.kubectl(&["delete", "namespace", "other", "--dry-run=server"]).await)
    })
    .await?;
    shop.app("destroy -y").await.well();
    assert!(!shop.everything().await.contains_key("Namespace /shop"));
    Ok(())
}
