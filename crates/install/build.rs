//! The charts and profiles at the root of the repository → a list of their files that is compiled in.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let root = variable("CARGO_MANIFEST_DIR")?.join("../..").canonicalize()?;
    let mut names = Vec::new();
    for folder in ["charts", "profiles"] {
        walk(&root, &root.join(folder), &mut names)?;
    }
    names.sort();
    let entries =
        names.iter().map(|name| format!("    ({name:?}, include_bytes!({:?})),\n", root.join(name)));
    let list: String = entries.collect();
    let text = format!("pub(super) const FILES: &[(&str, &[u8])] = &[\n{list}];\n");
    fs::write(variable("OUT_DIR")?.join("built_in.rs"), text)
}

fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(root, &path, names)?;
        } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            names.push(name.to_owned());
        }
    }
    Ok(())
}
