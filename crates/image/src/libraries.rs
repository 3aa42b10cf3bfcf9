//! The shared libraries of a program, and theirs: what must be in an image for the program to start there.
//!
//! An image has no `ld.so.cache`, so `ld.so.conf` would mean nothing in it: a library is looked for where the loader
//! looks without a cache, and lies at the same path in the image. What a program opens by name while it runs
//! (name services, plug-ins) is in no header and must be added by hand.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::{
    elf::{self, Elf},
    error::Error,
};

/// A file of this machine and the path at which it must be in the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) source: PathBuf,
    pub(crate) path: String,
}

/// Everything that `program` needs beside itself. `path` is where the program will be in the image.
pub(crate) fn of(program: &Path, path: &str, elf: &Elf) -> Result<Vec<Placed>, Error> {
    let mut found: Vec<Placed> = Vec::new();
    if let Some(loader) = &elf.interpreter {
        found.push(Placed { source: loader.into(), path: loader.clone() });
    }
    let mut known: HashSet<String> = HashSet::new();
    let mut waiting = vec![(Placed { source: program.to_owned(), path: path.to_owned() }, elf.clone())];
    while let Some((user, elf)) = waiting.pop() {
        for name in &elf.needed {
            if !known.insert(name.clone()) {
                continue;
            }
            let (library, its) = locate(name, &user, &elf)?;
            found.push(library.clone());
            waiting.push((library, its));
        }
    }
    Ok(found)
}

fn locate(name: &str, user: &Placed, elf: &Elf) -> Result<(Placed, Elf), Error> {
    let origin = |path: &Path| path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let (here, there) = (origin(&user.source), origin(Path::new(&user.path)));
    let expand = |entry: &str, origin: &str| entry.replace("${ORIGIN}", origin).replace("$ORIGIN", origin);
    let own = elf.search.iter().map(|entry| (expand(entry, &here), expand(entry, &there)));
    let standard = standard(elf.architecture).into_iter().map(|folder| (folder.clone(), folder));
    let mut searched = Vec::new();
    for (host, image) in own.chain(standard) {
        let source = Path::new(&host).join(name);
        // A folder may hold a library of the same name for another machine; the loader passes over it as well.
        if let Ok(its) = elf::read(&source)
            && its.architecture == elf.architecture
        {
            return Ok((Placed { source, path: format!("{image}/{name}") }, its));
        }
        searched.push(host);
    }
    Err(Error::Library { path: user.source.clone(), library: name.to_owned(), searched })
}

/// Where a loader looks without a cache: Debian's folders, then everybody's.
fn standard(architecture: &str) -> Vec<String> {
    let triplet = if architecture == "arm64" { "aarch64-linux-gnu" } else { "x86_64-linux-gnu" };
    let debian = ["/lib", "/usr/lib"].map(|folder| format!("{folder}/{triplet}"));
    let common = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(str::to_owned);
    debian.into_iter().chain(common).collect()
}

#[cfg(test)]
mod tests {
    use super::{Path, elf, of};

    #[test]
    fn a_program_brings_its_loader_and_the_c_library_once() {
        let program = std::env::current_exe().unwrap();
        let placed = of(&program, "/app", &elf::read(&program).unwrap()).unwrap();
        let named = |part: &str| placed.iter().filter(|file| file.path.contains(part)).count();
        assert_eq!(named("libc.so"), 1, "{placed:?}");
        assert!(named("/ld-linux") >= 1, "{placed:?}");
        assert!(placed.iter().all(|file| file.source.exists()), "{placed:?}");
    }

    #[test]
    fn a_library_that_is_nowhere_is_named_with_its_user_and_the_folders() {
        let mut program = elf::read(&std::env::current_exe().unwrap()).unwrap();
        program.needed.push("libnowhere.so.1".to_owned());
        program.search.push("$ORIGIN/lib".to_owned());
        let error = of(Path::new("/opt/app/run"), "/run", &program).unwrap_err().to_string();
        for word in ["/opt/app/run", "libnowhere.so.1", "/opt/app/lib", "/usr/lib"] {
            assert!(error.contains(word), "{error}");
        }
    }
}
