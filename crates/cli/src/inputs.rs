//! Files, folders and standard input as a person names them → sources to read, in a stable order. What cannot be read
//! is a diagnostic, not an end: the others still are.

use mizzen_text::{Code, Diagnostic, Place, Source, yaml::Options};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Standard input's name, on the command line and in what is printed.
const STDIN: &str = "-";

/// What is read in a folder; a file that is named is read whatever it is called.
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// Folders in each other. Links to folders are not followed, so only a real tree can be this deep.
const DEPTH: usize = 64;

pub(crate) enum Input {
    Source(Source),
    Unreadable(Box<Diagnostic>),
}

/// Reads one input after the other, so that only one is in memory.
pub(crate) fn read<'a>(names: &'a [String], options: &'a Options) -> impl Iterator<Item = Input> + 'a {
    names.iter().flat_map(|name| files(name)).map(|file| match file {
        Ok(name) => match bytes(&name, options.max_bytes) {
            Ok(bytes) => Input::Source(Source::new(name, bytes)),
            Err(diagnostic) => Input::Unreadable(diagnostic),
        },
        Err(diagnostic) => Input::Unreadable(diagnostic),
    })
}

type Named = Result<String, Box<Diagnostic>>;

fn files(name: &str) -> Vec<Named> {
    if name != STDIN && Path::new(name).is_dir() {
        let mut found = Vec::new();
        walk(Path::new(name), 0, &mut found);
        found
    } else {
        vec![Ok(name.to_owned())]
    }
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<Named>) {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))))
            .collect::<io::Result<Vec<_>>>()
    });
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push(Err(unreadable(&folder.display().to_string(), &error.to_string()))),
    };
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    for (path, kind) in entries {
        if kind.is_dir() {
            if depth < DEPTH {
                walk(&path, depth + 1, found);
            } else {
                let reason = format!("folders are nested deeper than {DEPTH}");
                found.push(Err(unreadable(&path.display().to_string(), &reason)));
            }
        } else if has_ending(&path) && path.is_dir() {
            // A link to a folder, which could lead back here.
        } else if has_ending(&path) && !path.is_file() {
            let reason =
                fs::metadata(&path).map_or_else(|error| error.to_string(), |_| "it is no file".to_owned());
            found.push(Err(unreadable(&path.display().to_string(), &reason)));
        } else if has_ending(&path) {
            found.push(path.into_os_string().into_string().map_err(|path| {
                unreadable(&PathBuf::from(path).display().to_string(), "its name is not UTF-8")
            }));
        }
    }
}

fn has_ending(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// No more than is read of one input and a byte, so that the reader can tell that it is too large.
fn bytes(name: &str, limit: usize) -> Result<Vec<u8>, Box<Diagnostic>> {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let read = if name == STDIN {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(name).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| unreadable(name, &error.to_string()))
}

fn unreadable(name: &str, reason: &str) -> Box<Diagnostic> {
    let place = Place::whole(&Source::new(name, Vec::new()));
    Box::new(Diagnostic::new(Code::Unreadable, format!("cannot be read: {reason}")).at(place))
}
