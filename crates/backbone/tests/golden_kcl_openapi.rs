//! kcl-openapi's own cases: the same files, and the same text in them.
//!
//! Set aside, because kcl-openapi has them neither from the definition nor from its own code but from Kubernetes: the words about `apiVersion` and `kind`,
//! and those in the three files of metadata. Theirs are Kubernetes' sentences, ours are our own; everything else is
//! compared byte for byte. Only the first document of a file counts: kcl-openapi reads no other.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the count of equal cases is what this test is for")]

mod common;

use common::{definitions, models};
use mizzen_backbone::{
    Language,
    kcl::{Names, Style},
};
use mizzen_testkit::compared_with;
use std::{collections::BTreeMap, fs, path::Path};

const CASES: usize = 12;

/// Cases that differ in more than that, and why it is right: there are none.
const DIFFERENT: [(&str, &str); 0] = [];

fn files_below(folder: &Path, top: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            files_below(&entry.path(), top, found);
        } else {
            let name = entry.path().strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// A file without Kubernetes' sentences.
fn compared(path: &str, text: &str) -> String {
    let mut out = String::new();
    let mut passing = false;
    for line in text.lines() {
        if path.starts_with("k8s/") {
            // Between `r"""` and `"""` only what attributes there are.
            let told = line.starts_with("        ")
                || (passing && !line.contains(" : ") && !line.contains("\"\"\""));
            if line.contains("r\"\"\"") || line.trim() == "\"\"\"" {
                passing = line.contains("r\"\"\"");
            }
            if told && passing {
                continue;
            }
        } else {
            let constant = |name: &str| line.starts_with(&format!("    {name} : str, default is \""));
            if passing && line.starts_with("        ") {
                continue;
            }
            passing = (constant("apiVersion") || constant("kind")) && line.ends_with("\", required");
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

#[test]
fn what_is_written_is_what_kcl_openapi_writes() {
    let folder = compared_with!("kcl-openapi");
    let mut cases: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    let mut equal = 0;
    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.file_name().unwrap().to_str().unwrap();
        let inputs: Vec<_> = fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path()).collect();
        let input = inputs.iter().find(|path| path.to_str().unwrap().ends_with(".golden.yaml")).unwrap();
        let mut read = definitions(name, fs::read(input).unwrap());
        read.truncate(1);
        let style = Style { exact: true, names: Names::Long };
        let ours: BTreeMap<String, String> = models(&read, Language::Kcl(style))
            .into_iter()
            .map(|file| (file.path.clone(), compared(&file.path, &file.text)))
            .collect();
        let meta = &ours["k8s/apimachinery/pkg/apis/meta/v1/object_meta.k"];
        for kept in
            ["    annotations : {str:str}, default is Undefined, optional", "    annotations?: {str:str}"]
        {
            assert!(meta.contains(kept), "only sentences are set aside: {meta}");
        }
        let mut theirs = BTreeMap::new();
        files_below(&case.join("models"), &case.join("models"), &mut theirs);
        let theirs: BTreeMap<String, String> =
            theirs.into_iter().map(|(path, text)| (path.clone(), compared(&path, &text))).collect();
        if ours == theirs {
            equal += 1;
        } else if let Some((_, why)) = DIFFERENT.iter().find(|(known, _)| *known == name) {
            println!("{name} differs: {why}");
        } else {
            let differs = theirs.iter().find(|(path, text)| ours.get(*path) != Some(*text));
            wrong.push(format!("{name}: {:?}", differs.map(|(path, _)| path)));
        }
    }
    println!("{equal} / {} cases are equal", cases.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(cases.len(), CASES);
    assert_eq!(equal + DIFFERENT.len(), CASES);
}
