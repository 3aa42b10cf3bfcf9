//! What a program says about itself in its ELF headers: its machine, its loader, the libraries it is linked against.
//!
//! A hundred lines of reading instead of a call to `ldd`, which runs the program's own loader, is absent from small
//! systems and says nothing about a program for another machine. 64-bit little-endian only: amd64 and arm64.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use crate::error::Error;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Elf {
    /// As OCI names it.
    pub(crate) architecture: &'static str,
    /// The loader; absent from libraries and static programs.
    pub(crate) interpreter: Option<String>,
    /// Names of libraries, in the order in which the loader would look for them.
    pub(crate) needed: Vec<String>,
    /// Where the program itself wants them looked for first; may contain `$ORIGIN`.
    pub(crate) search: Vec<String>,
}

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;

const END: u64 = 0;
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

/// Longer strings and tables than any real program has are taken for damage, not for a reason to allocate.
const LONGEST_STRING: usize = 4096;
const LARGEST_TABLE: u64 = 1 << 20;

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

pub(crate) fn read(path: &Path) -> Result<Elf, Error> {
    let file = File::open(path).map_err(Error::read(path))?;
    let damaged = |reason: String| Error::Program { path: path.to_owned(), reason };
    Reader { file }.elf().map_err(|error| match error {
        Trouble::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
            damaged("it ends in the middle of its ELF headers".to_owned())
        }
        Trouble::Io(source) => Error::Read { path: path.to_owned(), source },
        Trouble::Not(reason) => damaged(reason),
    })
}

enum Trouble {
    Io(io::Error),
    Not(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

struct Reader {
    file: File,
}

impl Reader {
    fn elf(&self) -> Result<Elf, Trouble> {
        let header = self.bytes::<64>(0)?;
        if header[..4] != *b"\x7fELF" {
            return Err(Trouble::Not("not a program (no ELF header)".to_owned()));
        }
        if header[4] != 2 || header[5] != 1 {
            return Err(Trouble::Not("not a 64-bit little-endian program".to_owned()));
        }
        let architecture = match u16_at(&header, 18) {
            62 => "amd64",
            183 => "arm64",
            other => return Err(Trouble::Not(format!("a program for an unknown machine (number {other})"))),
        };
        let segments = self.segments(&header)?;
        let mut elf = Elf { architecture, ..Elf::default() };
        for segment in &segments {
            match segment.kind {
                INTERPRETER => elf.interpreter = Some(self.string(segment.offset)?),
                DYNAMIC => self.dynamic(segment, &segments, &mut elf)?,
                _ => {}
            }
        }
        Ok(elf)
    }

    fn segments(&self, header: &[u8; 64]) -> Result<Vec<Segment>, Trouble> {
        let (table, size, count) = (u64_at(header, 32), u16_at(header, 54), u16_at(header, 56));
        (0..u64::from(count))
            .map(|index| {
                let entry = self.bytes::<56>(table.saturating_add(index * u64::from(size)))?;
                let kind = u32::from_le_bytes(part(&entry, 0));
                let [offset, address, size] = [8, 16, 32].map(|at| u64_at(&entry, at));
                Ok(Segment { kind, offset, address, size })
            })
            .collect()
    }

    fn dynamic(&self, table: &Segment, segments: &[Segment], elf: &mut Elf) -> Result<(), Trouble> {
        if table.size > LARGEST_TABLE {
            return Err(Trouble::Not("its dynamic section is damaged".to_owned()));
        }
        let (mut strings, mut needed, mut search) = (None, Vec::new(), Vec::new());
        for at in (0..table.size / 16).map(|index| table.offset.saturating_add(index * 16)) {
            let entry = self.bytes::<16>(at)?;
            let value = u64_at(&entry, 8);
            match u64_at(&entry, 0) {
                END => break,
                NEEDED => needed.push(value),
                STRINGS => strings = Some(value),
                RPATH | RUNPATH => search.push(value),
                _ => {}
            }
        }
        let Some(strings) = strings else { return Ok(()) };
        // The table is named by its address in memory; a segment says where in the file that is.
        let start = segments.iter().filter(|segment| segment.kind == LOAD).find_map(|segment| {
            let into = strings.checked_sub(segment.address)?;
            (into < segment.size).then(|| segment.offset.saturating_add(into))
        });
        let start = start.ok_or_else(|| Trouble::Not("its dynamic section is damaged".to_owned()))?;
        let text = |offset: u64| self.string(start.saturating_add(offset));
        elf.needed = needed.into_iter().map(text).collect::<Result<_, _>>()?;
        for offset in search {
            elf.search.extend(text(offset)?.split(':').filter(|entry| !entry.is_empty()).map(str::to_owned));
        }
        Ok(())
    }

    fn string(&self, offset: u64) -> Result<String, Trouble> {
        let mut buffer = vec![0; LONGEST_STRING];
        let count = self.file.read_at(&mut buffer, offset)?;
        let end = buffer[..count].iter().position(|byte| *byte == 0);
        let text = end.and_then(|end| std::str::from_utf8(&buffer[..end]).ok());
        text.map(str::to_owned).ok_or_else(|| Trouble::Not("a name in its headers is damaged".to_owned()))
    }

    fn bytes<const N: usize>(&self, offset: u64) -> Result<[u8; N], Trouble> {
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(part(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(part(bytes, at))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::read;

    #[test]
    fn the_test_itself_needs_the_c_library_and_a_loader() {
        let elf = read(&std::env::current_exe().unwrap()).unwrap();
        assert!(elf.needed.iter().any(|name| name.starts_with("libc.so")), "{elf:?}");
        assert!(elf.interpreter.as_deref().is_some_and(|path| path.starts_with('/')), "{elf:?}");
    }

    #[test]
    fn a_script_is_not_a_program() {
        let script = Scratch::new("script", &[b'#'; 100]);
        let error = read(&script.0).unwrap_err().to_string();
        assert!(error.contains("script") && error.contains("no ELF header"), "{error}");
    }

    #[test]
    fn a_program_cut_short_anywhere_in_its_headers_is_an_error_and_no_panic() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in (0..1024).step_by(7) {
            let cut = Scratch::new("cut", &whole[..length]);
            assert!(read(&cut.0).is_err(), "{length} bytes");
        }
    }

    /// A file that goes away with its test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, content: &[u8]) -> Self {
            let path = std::env::temp_dir().join(format!("mizzen-elf-{}-{name}", std::process::id()));
            std::fs::write(&path, content).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}
