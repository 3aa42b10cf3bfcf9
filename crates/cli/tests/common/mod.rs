//! The real binary, run by any of its names in an environment that is the same everywhere.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod charts;

use std::{
    env, fs,
    io::Write,
    os::unix::{fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mizzen");
pub(crate) const NAMES: [&str; 4] = ["mizzen", "istioctl", "pilot-discovery", "pilot-agent"];

/// Not started yet: the binary under `name`, with nothing in its environment that could change what it prints.
pub(crate) fn command(name: &str) -> Command {
    let mut command = Command::new(BINARY);
    command.arg0(name).env_clear();
    command
}

pub(crate) fn run(line: &str) -> Ended {
    let mut words = line.split_whitespace();
    ended(command(words.next().unwrap()).args(words))
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    Ended::from(command.output().unwrap())
}

/// Ends what has `text` on its standard input.
pub(crate) fn fed(command: &mut Command, text: &str) -> Ended {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, text) = (child.stdin.take().unwrap(), text.to_owned());
    // Beside the reader: what is not read fills the pipe. Nobody has to read it all.
    let writer = thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let ended = Ended::from(child.wait_with_output().unwrap());
    writer.join().unwrap();
    ended
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: status.code().expect("ended by a signal"), out: text(stdout), err: text(stderr) }
    }
}

impl Ended {
    /// Standard output of what went well, whatever was said beside it.
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// Standard output of what went well, and said nothing else.
    pub(crate) fn good(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Standard error of what ended with `code`, and printed nothing else.
    pub(crate) fn bad(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        self.err
    }
}

/// A folder that is gone with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, in whatever folders.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The binary, started here with these words: so paths are the same everywhere.
    pub(crate) fn command<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Command {
        let mut command = command("mizzen");
        command.current_dir(&self.0).args(words);
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        ended(&mut self.command(line.split_whitespace()))
    }

    pub(crate) fn link(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        symlink(BINARY, &path).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compares with a file under `tests/golden`; `MIZZEN_BLESS=1` writes it instead, to be reviewed like code.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("MIZZEN_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "{name} differs; `MIZZEN_BLESS=1 cargo test -p mizzen-cli` rewrites it");
}
