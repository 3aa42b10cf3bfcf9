//! What is generated and committed is what the generator makes today.

use mizzen_testkit::{needs, tools};
use std::{collections::BTreeSet, fs};

#[test]
fn generated_files_are_those_that_the_definitions_give() {
    needs!(mizzen_generate::NEEDS);
    let api = tools::folder("modules/istio-api").unwrap();
    let generated = mizzen_generate::all(api.ancestors().nth(2).unwrap()).unwrap();
    let mut expected = BTreeSet::new();
    for file in &generated {
        let there = fs::read(mizzen_generate::root().join(&file.path)).unwrap_or_default();
        let path = file.path.display();
        assert!(there == file.bytes, "{path} is not what its definitions give: run `cargo xtask generate`");
        expected.insert(file.path.clone());
    }
    for folder in generated.iter().filter_map(|file| file.path.parent()).collect::<BTreeSet<_>>() {
        for entry in fs::read_dir(mizzen_generate::root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            let is_source = entry.file_type().unwrap().is_dir() || path.ends_with("Cargo.toml");
            assert!(
                is_source || expected.contains(&path),
                "{} is not generated any more: remove it",
                path.display()
            );
        }
    }
}
