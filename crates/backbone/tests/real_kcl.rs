//! The real KCL engine takes every model, and says of objects what an API server says.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the counts of what was compiled are what this test is for")]

mod common;
#[path = "common/documents.rs"]
mod documents;
#[path = "common/samples.rs"]
mod samples;

use common::{Folder, definitions, istio, models};
use mizzen_backbone::{
    Definition, Language,
    kcl::{Names, Style, literal},
};
use mizzen_testkit::{Kcl, compared_with, needs, tools};
use mizzen_text::{Source, yaml};
use serde_json::Value;
use std::{fmt::Write as _, fs};

/// Every model of the definitions, imported by one program. Versions of a kind have the same name, so each file is a module.
fn compiles(name: &str, definitions: &[Definition], style: Style) -> usize {
    let files = models(definitions, Language::Kcl(style));
    let folder = Folder::new(name);
    folder.write_all(&files);
    let mut program = String::new();
    let modules =
        files.iter().filter_map(|file| file.path.strip_suffix(".k")).filter(|path| !path.contains('/'));
    let mut count = 0;
    for module in modules {
        writeln!(program, "import {module} as m{count}").unwrap();
        count += 1;
    }
    program.push_str("done = \"yes\"\n");
    // kcl-openapi's own text has no package around it.
    folder.write("kcl.mod", "[package]\nname = \"models\"\n");
    let printed = Kcl::run(&folder.write("main.k", &program)).unwrap();
    assert_eq!(printed.trim(), "done: \"yes\"".replace('"', "'"), "{name}");
    count
}

fn versions(definitions: &[Definition]) -> usize {
    definitions.iter().map(|definition| definition.versions.len()).sum()
}

fn styles() -> [Style; 3] {
    let (long, short) = (Names::Long, Names::Short);
    [(true, long), (false, long), (false, short)].map(|(exact, names)| Style { exact, names })
}

#[test]
fn the_models_of_all_of_istio_s_kinds_compile() {
    needs!(Kcl::NEEDS);
    let definitions = istio();
    for (number, style) in styles().into_iter().enumerate() {
        let count = compiles(&format!("kcl-istio-{number}"), &definitions, style);
        println!("{count} models of {} kinds compile, {style:?}", definitions.len());
        assert_eq!(count, versions(&definitions));
    }
}

#[test]
fn so_do_those_of_istio_s_own_file_with_its_descriptions() {
    needs!(Kcl::NEEDS, &["modules/istio"]);
    let file = tools::folder("modules/istio").unwrap().join("manifests/charts/base/files/crd-all.gen.yaml");
    let definitions = definitions("crd-all.gen.yaml", fs::read(file).unwrap());
    let count = compiles("kcl-upstream", &definitions, Style::default());
    assert_eq!(count, versions(&definitions));
    assert!(count > 30, "all of Istio's kinds are in the file");
}

#[test]
fn so_do_those_of_kcl_openapi_s_cases() {
    needs!(Kcl::NEEDS);
    let folder = compared_with!("kcl-openapi");
    for case in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = case.file_name().unwrap().to_str().unwrap();
        for file in
            fs::read_dir(&case).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            let definitions = definitions(name, fs::read(file).unwrap());
            for style in styles() {
                compiles(&format!("kcl-case-{name}"), &definitions, style);
            }
        }
    }
}

#[test]
fn the_example_of_the_documentation_imports_them_as_a_package() {
    needs!(Kcl::NEEDS);
    let page = include_str!("../../../docs/backbone.md");
    let program = page.split("```\n").find(|part| part.starts_with("import models.")).unwrap();
    let (package, folder) = (Folder::new("kcl-docs-models"), Folder::new("kcl-docs"));
    package.write_all(&models(&istio(), Language::Kcl(Style::default())));
    let main = folder.write("main.k", program);
    let printed = Kcl::run_with(&main, &[("models", package.path().to_owned())]).unwrap();
    assert!(printed.contains("kind: DestinationRule"), "{printed}");
}

#[test]
fn so_does_one_with_quotes_and_words_of_the_language_in_it() {
    needs!(Kcl::NEEDS);
    let ship = definitions("ship.yaml", include_str!("golden/ship.yaml"));
    for style in &styles()[1..] {
        assert_eq!(compiles("kcl-ship", &ship, *style), 1);
    }
}

/// The file of a kind: capitals begin words, as kcl-openapi cuts them.
fn module(group: &str, version: &str, kind: &str) -> String {
    let words =
        kind.chars().flat_map(|letter| letter.is_uppercase().then_some('_').into_iter().chain([letter]));
    format!("{}_{version}{}", group.replace('.', "_"), words.collect::<String>().to_lowercase())
}

#[test]
fn the_objects_of_istio_s_samples_are_taken() {
    needs!(Kcl::NEEDS, &["modules/istio"]);
    let folder = Folder::new("kcl-samples");
    folder.write_all(&models(&istio(), Language::Kcl(Style::default())));
    let samples = samples::all();
    let mut program = String::new();
    for (number, sample) in samples.iter().enumerate() {
        let module = module(&sample.group, &sample.version, &sample.kind);
        writeln!(program, "import {module} as m{number}").unwrap();
    }
    for (number, sample) in samples.iter().enumerate() {
        writeln!(program, "o{number} = m{number}.{} {}", sample.kind, literal(&sample.object, false))
            .unwrap();
    }
    let printed = Kcl::run(&folder.write("main.k", &program)).unwrap();
    let printed: Value =
        yaml::load_first(&Source::new("printed", printed), &yaml::Options::KUBERNETES).unwrap().unwrap();
    for (number, sample) in samples.iter().enumerate() {
        assert_eq!(printed[format!("o{number}")], sample.object, "{} is changed", sample.file);
    }
    println!("{} objects go through KCL", samples.len());
    assert!(samples.len() > 50);
}

#[test]
fn objects_are_taken_and_refused_as_by_the_definition() {
    needs!(Kcl::NEEDS);
    let folder = Folder::new("kcl-objects");
    folder.write_all(&models(&istio(), Language::Kcl(Style::default())));
    for case in documents::all() {
        let object = literal(&case.object(), false);
        let program =
            format!("import {} as m\n\nm.{} {object}\n", module(case.group, "v1", case.kind), case.kind);
        let ended = Kcl::run(&folder.write("main.k", &program));
        assert_eq!(
            ended.is_ok(),
            case.good,
            "{program}\n{}",
            ended.err().map(|error| error.to_string()).unwrap_or_default()
        );
    }
}
