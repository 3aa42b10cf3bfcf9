//! Applications written in KCL: the real engine takes the schemas that are printed of the tables, and what it prints of a
//! program is an `app.yaml` of the same objects.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the count of blocks is what this test is for")]

mod common;

use common::{
    app,
    rows::{Rows, all, merged},
    told,
};
use mizzen_app::{File, kcl};
use mizzen_backbone::kcl::literal;
use mizzen_testkit::{Kcl, Result, needs};
use mizzen_text::{Source, yaml};
use serde_json::{Map, Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

const APP: &str = include_str!("../../../examples/wordpress-example/app.yaml");
const PLATFORM: &str = include_str!("../../../examples/wordpress-example/platform.yaml");
const PROGRAM: &str = include_str!("../../../examples/wordpress-example/kcl/app.k");

/// What the engine prints of a program beside the printed schemas.
fn run(name: &str, program: &str) -> Result<String> {
    let folder = folder(name);
    fs::write(folder.join("app_model.k"), kcl(File::App)).unwrap();
    fs::write(folder.join("app.k"), program).unwrap();
    let ended = Kcl::run(&folder.join("app.k"));
    fs::remove_dir_all(folder).unwrap();
    ended
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn read(text: &str) -> Value {
    yaml::load_first(&Source::new("printed", text), &yaml::Options::OWN).unwrap().unwrap()
}

#[test]
fn the_example_in_kcl_gives_the_same_spec() {
    needs!(Kcl::NEEDS);
    let printed = run("kcl-wordpress", PROGRAM).unwrap();
    assert_eq!(read(&printed), read(APP));
    let ours = app(APP).file("platform.yaml", PLATFORM).build();
    let theirs = app(&printed).file("platform.yaml", PLATFORM).build();
    assert!(theirs.accepted(), "{}", told(&theirs));
    assert_eq!(theirs.spec.to_yaml(), ours.spec.to_yaml());
}

#[test]
fn the_example_of_the_documentation_is_built() {
    needs!(Kcl::NEEDS);
    let page = include_str!("../../../docs/app-model.md");
    let program = page.split("```\n").find(|part| part.starts_with("import app_model")).unwrap();
    let built = app(&run("kcl-docs", program).unwrap()).build();
    assert!(built.accepted(), "{}", told(&built));
    assert_eq!(built.spec.resources.len(), 1);
}

#[test]
fn the_schemas_of_all_three_files_compile() {
    needs!(Kcl::NEEDS);
    let folder = folder("kcl-three");
    for (name, file) in [("app", File::App), ("overlay", File::Overlay), ("platform", File::Platform)] {
        fs::write(folder.join(format!("{name}_model.k")), kcl(file)).unwrap();
    }
    let program = "\
import app_model
import overlay_model
import platform_model

overlay_model.Overlay {istio.gateways.public = {listeners = [{port = 80, hosts = [\"a\"]}]}}
platform = platform_model.Platform {istioVersion = \"1.31\", nameTemplate = \"{app}-{key}\"}
";
    fs::write(folder.join("main.k"), program).unwrap();
    let printed = Kcl::run(&folder.join("main.k")).unwrap();
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(read(&printed)["platform"]["istioVersion"], "1.31");
}

#[test]
fn every_attribute_can_be_written_in_kcl() {
    needs!(Kcl::NEEDS);
    let mut kinds = Map::new();
    let mut count = 0;
    for Rows { word, base, rows, .. } in all() {
        count += rows.len();
        let blocks = rows.iter().enumerate();
        let blocks = blocks.map(|(number, row)| (format!("b{number}"), merged(&base, &row.good)));
        kinds.insert(word, blocks.collect());
    }
    let written = json!({"name": "shop", "istio": kinds});
    let program = format!("import app_model as mesh\n\nmesh.App {}\n", literal(&written, false));
    let printed = run("kcl-rows", &program).unwrap();
    assert_eq!(read(&printed), written);
    let built = app(&printed).build();
    assert!(built.accepted(), "{}", told(&built));
    println!("{count} blocks go through KCL");
}

#[test]
fn mistakes_are_refused_by_the_engine_already() {
    needs!(Kcl::NEEDS);
    let rule = |block: &str| {
        format!(
            "import app_model as mesh\n\nmesh.App {{name = \"a\", istio.destinationRules.one = {{{block}}}}}\n"
        )
    };
    run("kcl-good", &rule("host = \"a\"")).unwrap();
    for (number, bad) in [
        "",
        "host = 1",
        "host = \"\"",
        "host = \"a\", hots = \"b\"",
        "host = \"a\", trafficPolicy.loadBalancerSettings.strategy = \"ROUND_ROBN\"",
        "host = \"a\", trafficPolicy = {}",
        "host = \"a\", trafficPolicy.ejectionSettings.interval = \"10\"",
        "host = \"a\", trafficPolicy.connectionPoolSettings.tcpSettings.maxTcpConnections = 0",
    ]
    .iter()
    .enumerate()
    {
        let ended = run(&format!("kcl-bad-{number}"), &rule(bad));
        assert!(ended.is_err(), "{bad} is taken: {ended:?}");
    }
}
