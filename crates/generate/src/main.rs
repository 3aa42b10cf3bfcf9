//! `mizzen-generate FOLDER-OF-TOOLS`: writes what is generated, and only what changed. Called by
//! `cargo xtask generate`, which knows the folder.
#![allow(clippy::print_stdout, reason = "a tool for developers says what it wrote")]

use anyhow::{Context as _, Result};
use std::{fs, path::Path};

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).context("usage: mizzen-generate FOLDER-OF-TOOLS")?;
    let generated = mizzen_generate::all(Path::new(&folder))?;
    let total = generated.len();
    let mut written = 0;
    for file in generated {
        let path = mizzen_generate::root().join(&file.path);
        if fs::read(&path).is_ok_and(|there| there == file.bytes) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, file.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", file.path.display());
        written += 1;
    }
    println!("{total} files, {written} changed");
    Ok(())
}
