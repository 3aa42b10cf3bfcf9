//! What speaks against a release, what others have done to its objects, and who may not: said in a sentence that says what to do.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod application;
mod site;

use application::Application;
use mizzen_testkit::{
    Controllers, Result,
    faults::{Fault, Verb},
    needs,
};
use serde_json::{Value, json};
use std::{fs, path::Path};

const RULE: &str = "\
name: shop
createNamespace: false
istio:
  destinationRules:
    versions: { host: shop, subsets: [{ name: v1, labels: { version: v1 } }] }
";

async fn kubectl(shop: &Application, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    shop.site.server.kubectl(&words).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_before_everything_is_checked() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    let kubeconfig = fs::read_to_string(shop.site.server.kubeconfig_file()).unwrap();
    let port = shop.site.server.url().rsplit_once(':').unwrap().1.to_owned();
    shop.file("nobody", kubeconfig.replace(&format!(":{port}"), ":1"));
    let nobody = shop.folder.join("nobody");
    // Whoever asked would be told that nobody answers.
    shop.file("app.yaml", "name: shop\nistio: { destinationRules: { one: { hos: a } } }\n");
    for line in ["preview", "apply -y"] {
        let told = shop.through(&nobody, line).await.badly();
        assert!(told.contains("did you mean `host`?") && !told.contains("no answer"), "{told}");
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wordpress-example");
    for file in ["app.yaml", "platform.yaml"] {
        shop.file(file, fs::read(Path::new(example).join(file)).unwrap());
    }
    for line in ["preview", "apply -y", "apply -y --dry-run"] {
        let told = shop.through(&nobody, line).await.badly();
        assert!(told.contains("Kubernetes refuses the name `wordpress-example_destination_rule`"), "{told}");
        assert!(told.contains("platform.yaml:") && told.contains("nameTemplate"), "{told}");
        assert!(!told.contains("no answer") && !told.contains("warning"), "{told}");
    }
    fs::remove_file(shop.folder.join("platform.yaml")).unwrap();
    let spec = |needs: &str| {
        format!(
            "resources:\n- id: v1:ConfigMap:shop:a\n  type: Kubernetes\n  attributes:\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {{ name: a, namespace: shop }}\n  dependsOn: [\"{needs}\"]\n"
        )
    };
    for (needs, sentence) in
        [("v1:ConfigMap:shop:b", "which is not in the Spec"), ("v1:ConfigMap:shop:a", "depends on itself")]
    {
        shop.file("spec.yaml", spec(needs));
        let line = format!("apply -y --spec-file {}/spec.yaml --app shop --stack dev", shop.folder.display());
        let told = shop.through(&nobody, &line).await.badly();
        assert!(told.contains(sentence) && !told.contains("no answer"), "{told}");
    }
    shop.file("app.yaml", RULE);
    let told = shop.through(&nobody, "apply -y").await.badly();
    assert!(told.contains("no answer") && told.contains("is the cluster running"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_lacks_something_is_told_so_and_nothing_is_done() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    let before = shop.everything().await;
    shop.file("app.yaml", RULE);
    let told = shop.app("apply -y").await.badly();
    assert!(
        told.contains("there is no namespace shop") && told.contains("`createNamespace: true`"),
        "{told}"
    );
    kubectl(&shop, "create namespace shop").await;
    // Without its kinds: a preview warns, an apply does not begin.
    let told = shop.app("preview").await;
    assert!(
        told.code == Some(0) && told.out.contains("+ DestinationRule shop/shop-versions"),
        "{}",
        told.out
    );
    assert!(
        told.err.contains("does not know the kind DestinationRule of networking.istio.io/v1"),
        "{}",
        told.err
    );
    let told = shop.app("apply -y").await.badly();
    assert!(
        told.contains("the cluster does not know: DestinationRule") && told.contains("mizzen install"),
        "{told}"
    );
    // With pods in a namespace that is not injected.
    shop.file("app.yaml", "name: shop\ncreateNamespace: false\nworkload: { image: shop:1 }\n");
    let told = shop.app("preview").await;
    assert!(told.err.contains("pods in namespace shop get no sidecar"), "{}", told.err);
    kubectl(&shop, "label namespace shop istio-injection=enabled").await;
    let told = shop.app("preview").await;
    assert!(!told.err.contains("sidecar"), "{}", told.err);
    kubectl(&shop, "delete namespace shop").await;
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_rights_are_named_and_those_of_a_namespace_are_enough() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    shop.file("app.yaml", RULE);
    kubectl(&shop, "create namespace shop").await;
    let rule = |verbs: Value| json!([{ "apiGroups": ["", "networking.istio.io"], "resources": ["*"], "verbs": verbs }]);
    for (user, verbs) in [("reader", json!(["get", "list"])), ("team", json!(["*"]))] {
        let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": user, "namespace": "shop" }, "rules": rule(verbs) });
        shop.site.server.apply(&role.to_string()).await?;
        kubectl(&shop, &format!("-n shop create rolebinding {user} --role={user} --user={user}")).await;
    }
    let before = shop.everything().await;
    let told = shop.app("apply -y --as nobody").await.badly();
    assert!(told.contains("is not allowed") && told.contains("ask for that right"), "{told}");
    let told = shop.app("apply -y --as reader").await.badly();
    let needed =
        ["this user may not: create Secret in namespace shop, ", "create DestinationRule in namespace shop"];
    assert!(needed.iter().all(|part| told.contains(part)), "{told}");
    assert!(told.contains("nothing was done"), "{told}");
    assert_eq!(shop.everything().await, before);
    // A team that has nothing but its namespace.
    for line in
        ["apply -y --as team", "rollback 1 -y --as team", "releases --as team", "destroy -y --as team"]
    {
        shop.app(line).await.well();
    }
    assert_eq!(shop.everything().await, before);
    // It may not make the namespace, and is told how to do without.
    shop.file("app.yaml", RULE.replace("createNamespace: false", "createNamespace: true"));
    let told = shop.app("apply -y --as team").await.badly();
    assert!(
        told.contains("this user may not: create Namespace") && told.contains("`createNamespace: false`"),
        "{told}"
    );
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_done_to_an_object_is_told_and_theirs_is_left_to_them() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    kubectl(&shop, "create namespace shop").await;
    shop.file("app.yaml", RULE);
    shop.app("apply -y").await.well();
    let host =
        async || kubectl(&shop, "-n shop get destinationrule shop-versions -o jsonpath={.spec.host}").await;
    let edit = r#"-n shop patch destinationrule shop-versions --type=merge -p {"spec":{"host":"other"}}"#;
    kubectl(&shop, edit).await;
    let told = shop.app("preview").await.well();
    let sentence = "spec.host stays \"other\" as kubectl-patch has it, not \"shop\"";
    assert!(told.contains(sentence) && told.contains("0 to update"), "{told}");
    assert!(told.contains("--force-conflicts"), "{told}");
    // Not all that is wanted is in force, and so it has not gone well.
    let told = shop.app("apply -y").await.badly();
    assert!(told.contains("these fields are not as the Spec says:\n"), "{told}");
    assert!(told.contains(&format!("DestinationRule shop/shop-versions: {sentence}")), "{told}");
    assert!(told.contains("--force-conflicts sets them as the Spec says"), "{told}");
    assert_eq!(host().await, "other");
    let told = shop.app("apply -y --force-conflicts").await.well();
    assert!(told.contains("~ DestinationRule shop/shop-versions (somebody else has changed it)\n      spec.host: \"other\" → \"shop\""), "{told}");
    assert_eq!(host().await, "shop");
    kubectl(&shop, "-n shop delete destinationrule shop-versions").await;
    let told = shop.app("apply -y").await.well();
    assert!(told.contains("+ DestinationRule shop/shop-versions (somebody has deleted it)"), "{told}");
    // An object that somebody else has made.
    kubectl(&shop, "-n shop create configmap settings --from-literal=a=theirs").await;
    shop.file(
        "objects.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { a: ours }\n",
    );
    shop.file("app.yaml", format!("{RULE}manifests: [objects.yaml]\n"));
    let told = shop.app("apply -y").await.badly();
    assert!(
        told.contains("ConfigMap shop/settings is there already and belongs to kubectl-create"),
        "{told}"
    );
    assert!(told.contains("--adopt=MANAGER"), "{told}");
    let told = shop.app("apply -y --adopt kubectl-create").await.well();
    assert!(
        told.contains(
            "~ ConfigMap shop/settings (taken over from kubectl-create)\n      data.a: \"theirs\" → \"ours\""
        ),
        "{told}"
    );
    // One that is not ours any more is not deleted.
    kubectl(&shop, "-n shop delete configmap settings").await;
    kubectl(&shop, "-n shop create configmap settings --from-literal=a=theirs").await;
    let told = shop.app("destroy -y").await.well();
    assert!(told.contains("ConfigMap shop/settings stays: it belongs to kubectl-create"), "{told}");
    assert_eq!(kubectl(&shop, "-n shop get configmap settings -o jsonpath={.data.a}").await, "theirs");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stacks_and_applications_do_not_take_each_others_objects() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    let stacks =
        RULE.replace("createNamespace: false", "stacks: { dev: {}, prod: {} }\ncreateNamespace: true");
    shop.file("app.yaml", &stacks);
    shop.app("apply -y --stack dev").await.well();
    let told = shop.app("apply -y --stack prod").await.badly();
    assert!(
        told.contains(
            "DestinationRule shop/shop-versions is there already and belongs to mizzen-app:shop/dev"
        ),
        "{told}"
    );
    // Another application in the same namespace keeps it from being deleted.
    shop.file(
        "app.yaml",
        "name: guest\nnamespace: shop\nistio: { peerAuthentications: { all: { mode: STRICT } } }\n",
    );
    shop.app("apply -y").await.well();
    let told = shop.app("releases --all").await.well();
    let listed: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().take(5).collect()).collect();
    assert_eq!(
        listed[1..],
        [["shop", "guest", "default", "1", "succeeded"], ["shop", "shop", "dev", "1", "succeeded"]]
    );
    shop.file("app.yaml", &stacks);
    let told = shop.app("destroy -y --stack dev").await.well();
    assert!(told.contains("Namespace shop stays: guest/default lives in it, too"), "{told}");
    let state = shop.state().await;
    assert!(
        state.contains_key("PeerAuthentication shop/guest-all")
            && !state.contains_key("DestinationRule shop/shop-versions")
    );
    let told = shop.app("destroy -y --app guest -n shop").await.well();
    assert!(told.ends_with("guest/default is gone\n"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_every_fifth_call_does_not_keep_an_application_out() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    let app = |host: &str| {
        let rules: String = (0..20).map(|number| format!("    r{number}: {{ host: {host}, subsets: [{{ name: v1, labels: {{ version: v1 }} }}] }}\n")).collect();
        format!("name: shop\ncreateNamespace: true\nistio:\n  destinationRules:\n{rules}")
    };
    let before = shop.everything().await;
    shop.file("app.yaml", app("second"));
    shop.app("apply -y").await.well();
    let undisturbed = shop.state().await;
    shop.app("destroy -y").await.well();
    let faults = shop.site.server.faults().await?;
    let injected = [
        faults.inject(Fault::too_many_requests(0).rate(1, 15)),
        faults.inject(Fault::internal_error().rate(1, 15)),
        faults.inject(Fault::conflict().on(Verb::Write).rate(1, 8)),
        faults.inject(Fault::lose_answer().rate(1, 20)),
    ];
    let through = faults.kubeconfig_file();
    shop.file("app.yaml", app("first"));
    shop.through(&through, "apply -y").await.well();
    shop.file("app.yaml", app("second"));
    shop.through(&through, "apply -y").await.well();
    assert_eq!(shop.state().await, undisturbed);
    let releases = shop.releases().await;
    assert_eq!((&releases["inForce"], &releases["lock"]), (&json!(2), &Value::Null), "{releases:#}");
    shop.through(&through, "destroy -y").await.well();
    assert!(injected.iter().all(|fault| fault.hits() > 0));
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_not_shown_nobody_is_asked_in_a_pipe_and_a_broken_record_is_told() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    kubectl(&shop, "create namespace shop").await;
    let secret = |word: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: key }}\ndata: {{ password: {word} }}\n")
    };
    shop.file("app.yaml", "name: shop\nmanifests: [objects.yaml]\n");
    shop.file("objects.yaml", secret("aHVzaA=="));
    let told = shop.app("apply").await.badly();
    assert!(told.contains("standard input is no terminal") && told.contains("give -y"), "{told}");
    assert!(!shop.state().await.contains_key("Secret shop/key"));
    shop.app("apply -y").await.well();
    shop.file("objects.yaml", secret("cXVpZXQ="));
    for line in ["preview", "preview -o json"] {
        let told = shop.app(line).await.well();
        assert!(
            told.contains("data.password") && !told.contains("aHVzaA==") && !told.contains("cXVpZXQ="),
            "{told}"
        );
    }
    // Nor can anybody read it in the record without the right to read Secrets.
    kubectl(&shop, r#"-n shop patch secret mizzen-app.shop.default -p {"data":{"ledger":"bm8="}}"#).await;
    for line in ["preview", "apply -y", "releases", "rollback -y", "destroy -y"] {
        let told = shop.app(line).await.badly();
        assert!(
            told.contains("the record of shop/default, Secret shop/mizzen-app.shop.default, cannot be read"),
            "{line}: {told}"
        );
        assert!(told.contains("mend it, or delete it"), "{told}");
    }
    // The others can be seen all the same.
    shop.file("app.yaml", "name: guest\nnamespace: shop\nmanifests: [guest.yaml]\n");
    shop.file("guest.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: guest }\n");
    shop.app("apply -y").await.well();
    let all = shop.app("releases --all").await;
    assert!(
        all.err.contains("the record of shop/default") && all.err.contains("cannot be read"),
        "{}",
        all.err
    );
    let told = all.well();
    let rows: Vec<Vec<&str>> =
        told.lines().skip(1).map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(rows, [["shop", "guest", "default", "1"]], "{told}");
    shop.file("app.yaml", "name: shop\nmanifests: [objects.yaml]\n");
    kubectl(&shop, "-n shop delete secret mizzen-app.shop.default").await;
    let told = shop.app("apply -y").await.well();
    assert!(
        told.contains("~ Secret shop/key\n      data.password: changes\n")
            && told.ends_with("release 2 is in force\n"),
        "{told}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_one_item_of_a_list_has_all_of_it_and_that_is_told_whole() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    let routes = |first: &str, second: &str| {
        let matched =
            (0..12).map(|number| format!("{{ path: {{ prefix: /a-rather-long-way-to-number-{number}/ }} }}"));
        let matched = matched.collect::<Vec<_>>().join(", ");
        format!(
            "name: shop\ncreateNamespace: true\nistio:\n  virtualServices:\n    web:\n      hosts: [shop.example.com]\n      httpRoutes:\n      - {{ name: first, timeout: {first}, matches: [{matched}], destinations: [{{ host: shop }}] }}\n      - {{ name: second, timeout: {second}, destinations: [{{ host: shop }}] }}\n"
        )
    };
    shop.file("app.yaml", routes("5s", "5s"));
    shop.app("apply -y").await.well();
    let edit = r#"-n shop patch virtualservice shop-web --type=json -p [{"op":"replace","path":"/spec/http/0/timeout","value":"9s"}]"#;
    kubectl(&shop, edit).await;
    // What is changed is another item of the same list, and is not set either.
    shop.file("app.yaml", routes("5s", "2s"));
    let ended = shop.app("apply -y").await;
    let printed = ended.out.clone();
    let told = ended.badly();
    for line in [
        "VirtualService shop/shop-web: spec.http[name=first].timeout stays \"9s\" as kubectl-patch has it, not \"5s\"\n",
        "VirtualService shop/shop-web: spec.http[name=second].timeout stays \"5s\" as kubectl-patch has it, not \"2s\"\n",
        "VirtualService shop/shop-web: spec.http is kubectl-patch's as a whole: nothing of it is set\n",
    ] {
        assert!(told.contains(line), "no {line} in {told}");
        assert!(printed.contains(line.strip_prefix("VirtualService shop/shop-web: ").unwrap()), "{printed}");
    }
    assert!(!told.contains('…') && !printed.contains("release 2 is in force"), "{printed}{told}");
    let json = shop.app("apply -y -o json").await;
    assert_eq!(json.code, Some(1), "it is still so: {}", json.out);
    let timeouts = async || {
        kubectl(&shop, "-n shop get virtualservice shop-web -o jsonpath={.spec.http[*].timeout}").await
    };
    assert_eq!(timeouts().await, "9s 5s");
    shop.app("apply -y --force-conflicts").await.well();
    assert_eq!(timeouts().await, "5s 2s");
    shop.app("apply -y").await.well();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_somebody_has_deleted_is_found_again_in_the_specs() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    kubectl(&shop, "create namespace shop").await;
    let before = shop.everything().await;
    let map = |name: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ a: b }}\n")
    };
    shop.file("app.yaml", "name: shop\ncreateNamespace: false\nmanifests: [objects.yaml]\n");
    for objects in [map("old") + &map("both"), map("both") + &map("new")] {
        shop.file("objects.yaml", objects);
        shop.app("apply -y").await.well();
    }
    let forget = async || kubectl(&shop, "-n shop delete secret mizzen-app.shop.default").await;
    forget().await;
    let told = shop.app("releases").await;
    assert!(told.err.contains("the record of shop/default is gone"), "{}", told.err);
    let all = shop.app("releases --all").await;
    assert!(all.err.contains("`mizzen app releases --app shop --stack default -n shop`"), "{}", all.err);
    let told = told.well();
    let numbers: Vec<&str> = told.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(numbers, ["2*", "1"], "{told}");
    // What only the record named is deleted when nobody wants it any more.
    shop.file("objects.yaml", map("both"));
    let ended = shop.app("apply -y").await;
    assert!(ended.err.contains("is read from the Specs that are still there"), "{}", ended.err);
    let told = ended.well();
    assert!(
        told.contains("deleted ConfigMap shop/new\n") && told.ends_with("release 3 is in force\n"),
        "{told}"
    );
    let told = shop.app("rollback 2 -y").await.well();
    assert!(
        told.contains("created ConfigMap shop/new\n") && told.ends_with("release 4 is in force\n"),
        "{told}"
    );
    forget().await;
    let told = shop.app("destroy -y").await.well();
    assert!(
        told.contains("deleted ConfigMap shop/new\n") && told.contains("deleted ConfigMap shop/both\n"),
        "{told}"
    );
    assert_eq!(shop.everything().await, before, "nothing is left, and no record");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spec_of_several_megabytes_is_kept_in_several_secrets() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    let before = shop.everything().await;
    // Nothing that can be compressed.
    let mut state: u64 = 1;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap())
    };
    let mut objects = String::new();
    for number in 0..3 {
        let text: String = (0..800_000).map(|_| noise()).collect();
        objects += &json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("m{number}") }, "data": { "a": text } }).to_string();
        objects += "\n---\n";
    }
    shop.file("objects.yaml", &objects);
    shop.file("app.yaml", "name: shop\ncreateNamespace: true\nmanifests: [objects.yaml]\n");
    shop.app("apply -y").await.well();
    let first = shop.state().await;
    let kept = async || {
        let all = shop.everything().await;
        all.into_keys().filter(|key| key.contains("/mizzen-app.shop.default.r")).collect::<Vec<_>>()
    };
    assert_eq!(
        kept().await,
        ["r1", "r1.2", "r1.3"].map(|part| format!("Secret shop/mizzen-app.shop.default.{part}"))
    );
    shop.file("objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: m0 }\ndata: { a: b }\n");
    shop.app("apply -y").await.well();
    shop.app("rollback -y").await.well();
    assert_eq!(shop.state().await, first);
    kubectl(&shop, "-n shop delete secret mizzen-app.shop.default.r1.2").await;
    let told = shop.app("rollback 1 -y").await.badly();
    assert!(told.contains("there is no Secret shop/mizzen-app.shop.default.r1.2"), "{told}");
    shop.app("destroy -y").await.well();
    assert_eq!(shop.everything().await, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_cannot_go_on_ends_as_failed_and_keeps_nobody_out() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    kubectl(&shop, "create namespace shop").await;
    shop.file("app.yaml", "name: shop\ncreateNamespace: false\nmanifests: [objects.yaml]\n");
    shop.file("objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: b }\n");
    // Somebody has a Secret of another type where the Spec is to be kept.
    kubectl(&shop, "-n shop create secret generic mizzen-app.shop.default.r1").await;
    let told = shop.app("apply -y").await.badly();
    assert!(told.contains("mizzen-app.shop.default.r1") && told.contains("immutable"), "{told}");
    let releases = shop.releases().await;
    let only = &releases["releases"][0];
    assert_eq!((&releases["lock"], &only["phase"]), (&Value::Null, &json!("failed")), "{releases:#}");
    assert!(only["message"].as_str().unwrap().contains("immutable"), "{only:#}");
    assert!(!shop.state().await.contains_key("ConfigMap shop/a"), "nothing was begun");
    kubectl(&shop, "-n shop delete secret mizzen-app.shop.default.r1").await;
    assert!(shop.app("apply -y").await.well().ends_with("release 2 is in force\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_with_the_one_whose_object_is_taken_over_is_told_before() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    kubectl(&shop, "create namespace shop").await;
    shop.file("app.yaml", "name: shop\nmanifests: [objects.yaml]\n");
    shop.file(
        "objects.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { a: ours }\n",
    );
    // What the other one has beside it goes, and is told before.
    kubectl(&shop, "-n shop create configmap settings --from-literal=a=theirs --from-literal=old=x").await;
    kubectl(&shop, "-n shop label configmap settings team=them --field-manager=kubectl-create").await;
    let goes = "~ ConfigMap shop/settings (taken over from kubectl-create)\n      data.a: \"theirs\" → \"ours\"\n      data.old: - \"x\"\n      metadata.labels: - {\"team\":\"them\"}\n";
    let told = shop.app("preview --adopt kubectl-create").await.well();
    assert!(told.contains(goes), "{told}");
    let told = shop.app("apply -y --adopt kubectl-create").await.well();
    assert!(told.contains(goes), "{told}");
    assert_eq!(
        kubectl(&shop, "-n shop get configmap settings -o jsonpath={.data}{.metadata.labels}").await,
        r#"{"a":"ours"}"#
    );
    // What a server puts there by itself does not go.
    shop.file("objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { a: ours }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: theirs }\nspec: { selector: { app: theirs }, ports: [{ name: a, port: 80 }] }\n");
    kubectl(&shop, "-n shop create service clusterip theirs --tcp=80:8080").await;
    let told = shop.app("apply -y --adopt kubectl-create").await.well();
    assert!(
        !told.contains("sessionAffinity")
            && !told.contains("internalTrafficPolicy")
            && told.contains("metadata.labels: - "),
        "{told}"
    );
    let told = shop.app("preview").await.well();
    assert!(told.contains("0 to create, 0 to update, 0 to delete"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_a_secret_are_its_data_so_that_keys_go_and_edits_are_seen() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    kubectl(&shop, "create namespace shop").await;
    let secret = |texts: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: key }}\nstringData: {{ {texts} }}\n")
    };
    let data = async || kubectl(&shop, "-n shop get secret key -o jsonpath={.data}").await;
    shop.file("app.yaml", "name: shop\nmanifests: [objects.yaml]\n");
    shop.file("objects.yaml", secret("a: one, b: two, c: six"));
    shop.app("apply -y").await.well();
    assert_eq!(data().await, r#"{"a":"b25l","b":"dHdv","c":"c2l4"}"#);
    assert!(shop.app("apply -y").await.well().contains("nothing was written"));
    shop.file("objects.yaml", secret("a: one, c: six"));
    let told = shop.app("apply -y").await.well();
    assert!(told.contains("~ Secret shop/key\n      data.b: goes\n"), "{told}");
    assert_eq!(data().await, r#"{"a":"b25l","c":"c2l4"}"#);
    kubectl(&shop, r#"-n shop patch secret key -p {"data":{"a":"dGhyZWU="}}"#).await;
    let told = shop.app("apply -y").await.badly();
    assert!(told.contains("Secret shop/key: data.a stays as kubectl-patch has it"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_left_to_an_autoscaler_and_to_nobody_else_without_a_word() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::without_kinds().await?;
    shop.file("app.yaml", "name: shop\nworkload: { image: shop:1, replicas: 2 }\n");
    shop.app("apply -y --no-wait").await.well();
    let replicas = async || kubectl(&shop, "-n shop get deployment shop -o jsonpath={.spec.replicas}").await;
    kubectl(&shop, "-n shop scale deployment shop --replicas=3").await;
    let told = shop.app("apply -y --no-wait").await.badly();
    assert!(
        told.contains("Deployment shop/shop: spec.replicas stays 3 as kubectl (scale) has it, not 2"),
        "{told}"
    );
    assert_eq!(replicas().await, "3");
    shop.app("apply -y --no-wait --force-conflicts").await.well();
    assert_eq!(replicas().await, "2");
    // Where an autoscaler has it, it is left to it, whatever is asked for.
    kubectl(&shop, "-n shop scale deployment shop --replicas=3").await;
    kubectl(&shop, "-n shop autoscale deployment shop --min=3 --max=5").await;
    shop.app("apply -y --no-wait").await.well();
    shop.app("apply -y --no-wait --force-conflicts").await.well();
    assert_eq!(replicas().await, "3");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_not_there_is_told_of_the_object_that_wants_it() -> Result<()> {
    needs!(Controllers::NEEDS);
    let shop = Application::prepare().await?;
    shop.file("app.yaml", "name: shop\ncreateNamespace: true\nistio: { peerAuthentications: { all: { namespace: ghost, mode: STRICT } } }\n");
    let told = shop.app("apply -y").await.badly();
    assert!(
        told.contains("PeerAuthentication ghost/shop-all cannot be made: there is no namespace ghost"),
        "{told}"
    );
    assert!(
        told.contains("says `namespace: ghost`: name another, or `kubectl create namespace ghost`"),
        "{told}"
    );
    assert!(!told.contains("createNamespace"), "{told}");
    shop.file("app.yaml", "name: istio-system\ncreateNamespace: true\nistio: { peerAuthentications: { all: { mode: STRICT } } }\n");
    let told = shop.app("apply -y").await.badly();
    assert!(told.contains("PeerAuthentication istio-system/istio-system-all cannot be made"), "{told}");
    assert!(
        told.contains("`mizzen install` makes istio-system") && !told.contains("createNamespace"),
        "{told}"
    );
    Ok(())
}
