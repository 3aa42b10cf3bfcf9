//! `cargo xtask tools`: the pinned list in, a filled cache out.
//!
//! Two lanes: one downloads, the other builds, one build at a time, because one Go build already keeps every core
//! busy. What one tool lacks is its own row in the table; the others go on.

mod board;
mod cache;
mod debian;
mod go;
mod lanes;
mod list;
mod pip;

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use board::{Board, Row, State};
use cache::Cache;
use lanes::Lanes;
use list::{From, List, Tool};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The tools to install; all that are not on demand when none is named
    names: Vec<String>,
    /// Only say what is there and what is not
    #[arg(long)]
    check: bool,
    /// Another list than the repository's
    #[arg(long, hide = true)]
    list: Option<PathBuf>,
}

pub(crate) fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let list = List::read(arguments.list.as_deref())?;
    let board = Board::new();
    let wanted = match list.select(&arguments.names) {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("error: {error}");
            return Ok(ExitCode::from(2));
        }
    };
    let rows = if arguments.check { check(&list, &wanted)? } else { install(&list, &wanted, &board)? };
    board::print(&rows);
    let failed = rows.iter().filter(|row| matches!(row.state, State::Failed(_))).count();
    let missing = rows.iter().filter(|row| matches!(row.state, State::NotHere(_))).count();
    let gigabytes = disk_gigabytes()?;
    println!(
        "\n{} of {} tools ready, {missing} not here, {failed} failed; {:.1} s; {gigabytes:.1} GB in the cache",
        rows.len() - failed - missing,
        rows.len(),
        board.seconds()
    );
    if rows.iter().any(|row| matches!(row.state, State::Installed { .. })) {
        println!("{:.1} GB in Go's own caches, which may be thrown away", go::caches_gigabytes(&list));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Before tests: installs what is missing, Debian's packages only where `debian` allows it. Says what it lacks.
pub(crate) fn ensure(wanted: impl Fn(&str) -> bool, debian: bool) -> anyhow::Result<Vec<String>> {
    let list = List::read(None)?;
    let tools = list.select(&[])?.into_iter().filter(|tool| wanted(&tool.name)).collect::<Vec<_>>();
    if tools.is_empty() {
        return Ok(Vec::new());
    }
    let tools = tools.into_iter();
    let (install_now, only_check): (Vec<_>, Vec<_>) = tools.partition(|tool| debian || !tool.is_debian());
    let mut rows = install(&list, &install_now, &Board::new())?;
    rows.extend(check(&list, &only_check)?);
    let lacks = rows.into_iter().filter_map(|row| match row.state {
        State::Ready | State::Installed { .. } => None,
        State::NotHere(reason) | State::Failed(reason) => {
            Some(format!("{}: {reason}; tests that go without it: {}", row.name, row.tests))
        }
    });
    Ok(lacks.collect())
}

pub(crate) fn cache_folder() -> anyhow::Result<PathBuf> {
    Ok(Cache::open()?.folder)
}

pub(crate) fn disk_gigabytes() -> anyhow::Result<f64> {
    Ok(gigabytes(&Cache::open()?.folder))
}

fn gigabytes(folder: &Path) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let gigabytes = cache::disk_use(folder) as f64 / 1e9;
    gigabytes
}

fn row(cache: &Cache, tool: &Tool, state: State) -> Row {
    let version = match &tool.from {
        From::Apt(apt) => debian::version(apt).unwrap_or_else(|| tool.version.clone()),
        _ => tool.version.clone(),
    };
    Row { name: tool.name.clone(), version, place: cache.place(tool), tests: tool.tests.clone(), state }
}

fn is_ready(list: &List, cache: &Cache, tool: &Tool) -> bool {
    match &tool.from {
        From::Apt(apt) => debian::is_installed(apt),
        _ => cache.is_current(tool, &cache::recipe(list, tool)),
    }
}

fn check(list: &List, tools: &[Tool]) -> anyhow::Result<Vec<Row>> {
    let cache =
        Cache::open().context("the tools cache cannot be made; MIZZEN_TOOLS names another place for it")?;
    let state = |tool: &Tool| match &tool.from {
        _ if is_ready(list, &cache, tool) => State::Ready,
        From::Apt(apt) => State::NotHere(debian::by_hand(apt)),
        _ => State::NotHere(format!("run `cargo xtask tools {}`", tool.name)),
    };
    Ok(tools.iter().map(|tool| row(&cache, tool, state(tool))).collect())
}

fn install(list: &List, tools: &[Tool], board: &Board) -> anyhow::Result<Vec<Row>> {
    let cache =
        Cache::open().context("the tools cache cannot be made; MIZZEN_TOOLS names another place for it")?;
    let (ready, missing): (Vec<Tool>, Vec<Tool>) =
        tools.iter().cloned().partition(|tool| is_ready(list, &cache, tool));
    let mut rows: Vec<Row> = ready.iter().map(|tool| row(&cache, tool, State::Ready)).collect();
    if !missing.is_empty() {
        let _lock = lock(&cache)?;
        rows.extend(Lanes::new(list, &cache, board, &missing).run(missing));
    }
    rows.sort_by_key(|row| tools.iter().position(|tool| tool.name == row.name));
    Ok(rows)
}

/// Two runs at once would build the same things twice, into each other's files.
fn lock(cache: &Cache) -> anyhow::Result<File> {
    let file = File::create(cache.folder.join("lock"))?;
    if file.try_lock().is_err() {
        eprintln!("another `cargo xtask tools` is at work on this cache: waiting for it");
        file.lock()?;
    }
    Ok(file)
}
