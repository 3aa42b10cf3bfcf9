//! Every seed, and every input that ever was a finding, once.

use std::{fs, path::Path};

#[test]
fn no_seed_is_a_finding() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        mizzen_fuzz::validate(&fs::read(&path).unwrap());
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} seeds are there");
}
