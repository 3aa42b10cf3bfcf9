//! From Go modules: commands built in a wrapper module, and module folders.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use super::list::{Go, List, Module, Tool, Wrapper};
use crate::{failure::Failure, program, root};

/// A Go that is new enough for every wrapper.
pub(crate) struct Toolchain {
    go: PathBuf,
}

impl Toolchain {
    /// The machine's own Go, if it will do.
    pub(crate) fn of_machine(list: &List) -> Option<Self> {
        let go = program::find("go")?;
        let version = program::read(Command::new(&go).args(["env", "GOVERSION"])).ok()?;
        (parse_version(version.trim().strip_prefix("go")?)? >= needed(list)?).then_some(Self { go })
    }

    /// The one in the cache.
    pub(crate) fn in_folder(folder: &Path) -> Option<Self> {
        Some(folder.join("go/bin/go")).filter(|go| go.is_file()).map(|go| Self { go })
    }

    /// Downloads the modules that a package needs, without building anything.
    pub(crate) fn download(&self, go: &Go, log: &Path) -> Result<(), Failure> {
        program::run(
            self.command(&go.wrapper).args(["list", "-deps", "-f", "{{.ImportPath}}", &go.package]),
            log,
        )
    }

    pub(crate) fn build(&self, go: &Go, wrapper: &Wrapper, out: &Path, log: &Path) -> Result<(), Failure> {
        let stamps: Vec<String> = wrapper.stamp.iter().map(|stamp| format!("-X {stamp}")).collect();
        let mut command = self.command(&go.wrapper);
        command.args(["build", "-trimpath", "-ldflags", &stamps.join(" "), "-o"]).arg(out).arg(&go.package);
        program::run(&mut command, log)
    }

    /// Runs a program of a wrapper, which fills `folder` in a folder that is removed in the end, with whatever else the
    /// program has left there. It may call `go` itself, and finds this one.
    pub(crate) fn run(&self, go: &Go, partial: &Path, log: &Path) -> Result<PathBuf, Failure> {
        let out = partial.join("folder");
        let own = self.go.parent().map(Path::to_path_buf);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others)));
        let mut command = self.command(&go.wrapper);
        command.args(["run", "-trimpath", &go.package, "data"]).arg(&out).env("TMPDIR", partial);
        command.env("PATH", path.map_err(|error| Failure::new(error.to_string()))?);
        program::run(&mut command, log)?;
        Ok(out)
    }

    /// Copies a module's folder: the copy can be kept when Go's own cache is thrown away.
    pub(crate) fn module(&self, tool: &Tool, module: &Module, out: &Path, log: &Path) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Downloaded {
            dir: PathBuf,
            sum: String,
        }
        let name = format!("{}@{}", module.module, tool.version);
        let printed = program::read(Command::new(&self.go).args(["mod", "download", "-json", &name]))?;
        let downloaded: Downloaded = serde_json::from_str(&printed)
            .map_err(|error| Failure::new(format!("go mod download {name}: {error}")))?;
        if downloaded.sum != module.sum {
            let Downloaded { sum, .. } = downloaded;
            return Err(Failure::new(format!("{name} has checksum {sum}, tools.toml pins {}", module.sum)));
        }
        program::run(Command::new("cp").arg("-r").arg(&downloaded.dir).arg(out), log)?;
        // Go makes its module cache read-only; a cache that cannot be removed is a nuisance.
        program::run(Command::new("chmod").args(["-R", "u+w"]).arg(out), log)
    }

    fn command(&self, wrapper: &str) -> Command {
        let mut command = Command::new(&self.go);
        // No C compiler is needed, and the commands run in images that have no C library. A workspace file above
        // the checkout must not change what is built.
        command
            .current_dir(root().join("tools/go").join(wrapper))
            .env("CGO_ENABLED", "0")
            .env("GOWORK", "off");
        command
    }
}

/// What Go has kept for itself while it built.
pub(crate) fn caches_gigabytes(list: &List) -> f64 {
    let Some(toolchain) = Toolchain::of_machine(list) else { return 0.0 };
    let printed = program::read(Command::new(toolchain.go).args(["env", "GOCACHE", "GOMODCACHE"]));
    printed.unwrap_or_default().lines().map(|folder| super::gigabytes(Path::new(folder))).sum()
}

/// The newest Go that any wrapper asks for.
fn needed(list: &List) -> Option<(u32, u32, u32)> {
    let version = |name: &String| {
        let text = fs::read_to_string(root().join("tools/go").join(name).join("go.mod")).ok()?;
        parse_version(text.lines().find_map(|line| line.strip_prefix("go "))?)
    };
    list.wrapper.keys().filter_map(version).max()
}

/// `1.26.8`; in `1.26rc1` what follows the number is passed over.
fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('.');
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    Some((number(parts.next()?)?, number(parts.next()?)?, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn go_versions_compare_as_numbers() {
        assert_eq!(parse_version("1.26.8"), Some((1, 26, 8)));
        assert_eq!(parse_version("1.27rc1"), Some((1, 27, 0)));
        assert!(parse_version("1.9") < parse_version("1.26.0"));
        assert_eq!(parse_version("devel"), None);
    }
}
