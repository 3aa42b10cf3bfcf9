//! Every seed, and every input that ever was a finding, once.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use std::{fs, path::Path};

fn every_seed(name: &str, least: usize, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        run(&fs::read(&path).unwrap());
        seen += 1;
    }
    assert!(seen >= least, "only {seen} seeds are there");
}

#[test]
fn no_document_is_a_finding() {
    every_seed("validate", 20, mizzen_fuzz::validate);
}

#[test]
fn no_template_is_a_finding() {
    every_seed("render", 12, mizzen_fuzz::render);
}
