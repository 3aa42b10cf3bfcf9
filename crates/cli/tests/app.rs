//! `app`: an application's files in, objects out.

mod common;

use common::{Folder, golden, run};
use serde_json::Value;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wordpress-example");

const BROKEN: &str = "\
name: shop
istio:
  destinationRules:
    reviews:
      namespace: [default]
      workloadSelector: self
      namespaces: [other]
      override: { trafficPolicy: { loadBalncer: {} } }
      trafficPolicy:
        loadBalancerSettings: { strategy: LEAST_CONN }
        ejectionSettings: { interval: 10 }
    ratings:
      host: ratings
      trafficPolicy: {}
";

#[test]
fn the_example_is_built_and_its_warning_stands_apart() {
    let ended = run(&format!("mizzen app build -C {EXAMPLE}"));
    assert!(ended.err.starts_with("warning[MZ0308]: Kubernetes refuses the name"), "{}", ended.err);
    golden("app-wordpress.yaml", &ended.done());
}

#[test]
fn json_is_the_same_spec_with_its_parts_in_order() {
    let yaml = run(&format!("mizzen app build -C {EXAMPLE}")).done();
    let json = run(&format!("mizzen app build -C {EXAMPLE} -o json")).done();
    let places = ["\"id\"", "\"type\"", "\"attributes\""].map(|part| json.find(part).unwrap());
    assert!(places.is_sorted(), "{json}");
    let value: Value = serde_json::from_str(&json).unwrap();
    let source = mizzen_text::Source::new("spec", yaml);
    let options = mizzen_text::yaml::Options::OWN;
    assert_eq!(mizzen_text::yaml::load_first::<Value>(&source, &options).unwrap(), Some(value));
}

#[test]
fn everything_that_is_wrong_is_told_at_once_in_each_form() {
    let folder = Folder::new("app-broken");
    folder.file("app.yaml", BROKEN);
    golden("app-broken.txt", &folder.run("app build").bad(1));
    for form in ["json", "sarif"] {
        let ended = folder.run(&format!("app build --check --diagnostics {form}"));
        assert_eq!((ended.code, ended.err.as_str()), (1, ""));
        golden(&format!("app-broken.{form}"), &ended.out);
    }
    let ended = folder.run("app build --check");
    assert!(ended.out.ends_with("\n6 errors and 1 warning\n"), "{}", ended.out);
    folder.file("app.yaml", "name: shop\n");
    assert_eq!(folder.run("app build --check").good(), "good\n");
    assert_eq!(folder.run("app build").good(), "resources: []\n");
}

#[test]
fn a_file_that_is_not_there_or_cannot_be_read_is_told() {
    let folder = Folder::new("app-bad-input");
    let said = folder.run("app build").bad(1);
    assert!(said.contains("there is no app.yaml here") && said.contains("app init"), "{said}");
    for (text, sentence) in [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n", "must be a map"),
        ("name: a\nname: b\n", "the key `name` is in this map already"),
        ("name:\n\ta: 1\n", "tab"),
        ("name: a\n---\nname: b\n", "a second document"),
        ("name: a b\n", "must be letters, digits"),
        ("stacks: {a: {extends: b}, b: {extends: a}}\nname: a\n", "several stacks"),
    ] {
        folder.file("app.yaml", text);
        let said = folder.run("app build").bad(1);
        assert!(said.contains(sentence) && said.contains("app.yaml"), "{text:?}: {said}");
    }
    let said = folder.run("app build --stack a").bad(1);
    assert!(said.contains("in a circle: a → b → a"), "{said}");
    let said = folder.run("app preview --spec-file .").bad(2);
    assert!(said.contains(". is a folder") && said.contains("--spec-file names one file"), "{said}");
    let said = folder.run("app build --stack a --cluster a/b").bad(1);
    assert!(said.contains("the cluster's name must be letters"), "{said}");
    let said = folder.run("app build --platform none.yaml").bad(1);
    assert!(said.contains("there is no file none.yaml"), "{said}");
}

#[test]
fn the_shop_is_built_in_each_of_its_stacks() {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop");
    golden("app-shop-prod.yaml", &run(&format!("mizzen app build -C {shop} --stack prod")).good());
    let dev = run(&format!("mizzen app build -C {shop} --stack dev")).good();
    assert!(dev.contains("- shop.dev.example.com\n") && !dev.contains("shop-cert"), "{dev}");
    let said = run(&format!("mizzen app build -C {shop}")).bad(1);
    assert!(said.contains("there are several stacks") && said.contains("--stack dev|prod"), "{said}");
}

#[test]
fn what_init_writes_can_be_built_and_is_not_written_over() {
    let folder = Folder::new("app-init");
    let said = folder.run("app init -C shop").good();
    assert!(said.starts_with("shop/app.yaml is a file to begin with"), "{said}");
    let built = folder.run("app build -C shop").good();
    assert!(
        built.contains("id: v1:Namespace:shop\n") && built.contains("VirtualService:shop:shop-routes"),
        "{built}"
    );
    let said = folder.run("app init -C shop").bad(1);
    assert!(said.contains("shop/app.yaml is there already"), "{said}");
    folder.run("app init -C other --name my-shop").good();
    assert!(folder.run("app build -C other").good().contains("name: my-shop\n"));
    let said = folder.run("app init -C third --name My_Shop").bad(2);
    assert!(said.contains("cannot be the name"), "{said}");
}

#[test]
fn every_example_in_the_starter_can_be_taken_up() {
    let folder = Folder::new("app-starter");
    folder.run("app init -C shop").good();
    let text = std::fs::read_to_string(folder.path().join("shop/app.yaml")).unwrap();
    // Examples are indented like the lines around them; sentences have a blank behind the sign.
    let taken: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(example) if example.starts_with("  ") => format!("{example}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert!(
        taken.lines().filter(|line| line.starts_with("  ")).count()
            > text.lines().filter(|line| line.starts_with("  ")).count() + 10
    );
    folder.file("shop/app.yaml", taken);
    folder.run("app build -C shop --stack prod").good();
}

#[test]
fn the_schema_stands_where_the_starter_says_and_lists_what_can_be_written() {
    let folder = Folder::new("app-schema");
    folder.run("app init -C shop").good();
    let text = std::fs::read_to_string(folder.path().join("shop/app.yaml")).unwrap();
    let name = text.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=").unwrap();
    let beside = std::fs::read_to_string(folder.path().join("shop").join(name)).unwrap();
    let printed = folder.run("app schema").good();
    assert_eq!(beside, printed);
    let schema: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(schema["properties"]["istio"]["properties"].as_object().unwrap().len(), 13);
    let overlay: Value = serde_json::from_str(&folder.run("app schema overlay").good()).unwrap();
    assert!(overlay.get("required").is_none() && schema["required"] == serde_json::json!(["name"]));
    let platform: Value = serde_json::from_str(&folder.run("app schema platform").good()).unwrap();
    assert!(platform["properties"]["nameTemplate"].is_object());
}

#[test]
fn a_file_of_ten_megabytes_is_read_like_any_other() {
    let folder = Folder::new("app-large");
    let route = |number: usize| {
        format!(
            "        - {{ name: r{number}, matches: [{{ path: {{ prefix: /a/rather/long/way/to/number/{number}/ }} }}], timeout: {}s, destinations: [{{ host: backend-{number}.shop.svc.cluster.local }}] }}\n",
            number % 60 + 1
        )
    };
    let block = |number: usize| {
        let routes: String = (0..100).map(|route_number| route(number * 100 + route_number)).collect();
        format!("    web-{number}:\n      hosts: [web-{number}.example.com]\n      httpRoutes:\n{routes}")
    };
    let mut text = "name: shop\nistio:\n  virtualServices:\n".to_owned();
    text.extend((0..580).map(block));
    assert!(text.len() > 10_000_000, "{}", text.len());
    folder.file("app.yaml", &text);
    let spec: Value = serde_json::from_str(&folder.run("app build -o json").good()).unwrap();
    let resources = spec["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 580);
    let last = resources
        .iter()
        .find(|resource| resource["attributes"]["metadata"]["name"] == "shop-web-579")
        .unwrap();
    assert_eq!(last["attributes"]["spec"]["http"][99]["name"], "r57999");
    // What is wrong at its end is told there.
    let lines = text.lines().count();
    folder.file("app.yaml", text + "    last: { host: [a] }\n");
    let said = folder.run("app build").bad(1);
    assert!(
        said.contains("did you mean `hosts`?") && said.contains(&format!("app.yaml:{}:13", lines + 1)),
        "{said}"
    );
}

#[test]
fn what_is_no_file_is_told_and_not_waited_for() {
    for name in ["app.yaml", "platform.yaml", "app.default.yaml"] {
        for make in ["mkdir", "mkfifo"] {
            let folder = Folder::new(&format!("app-no-file-{make}-{name}"));
            folder.file("app.yaml", "name: shop\n");
            let path = folder.path().join(name);
            let _ = std::fs::remove_file(&path);
            assert!(std::process::Command::new(make).arg(&path).status().unwrap().success());
            let told = folder.run("app build").bad(1);
            assert!(told.contains(&format!("{name} is no file")), "{make} {name}: {told}");
        }
    }
}
