//! What a person sees while tools are installed: spinners on a terminal, plain lines in a pipe; a table at the end.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

pub(crate) struct Board {
    bars: Option<MultiProgress>,
    start: Instant,
}

/// One piece of work that is under way.
pub(crate) struct Work {
    bar: Option<ProgressBar>,
    name: String,
    start: Instant,
}

pub(crate) enum State {
    /// It was there.
    Ready,
    Installed {
        seconds: f64,
    },
    /// It cannot be had on this machine, for a reason that is no fault.
    NotHere(String),
    Failed(String),
}

pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) place: PathBuf,
    pub(crate) tests: String,
    pub(crate) state: State,
}

impl Board {
    pub(crate) fn new() -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { bars, start: Instant::now() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub(crate) fn begin(&self, name: &str, what: &str) -> Work {
        let line = format!("{name}: {what}");
        let bar = self.bars.as_ref().map(|bars| {
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            let bar = ProgressBar::new_spinner().with_message(line.clone());
            let bar = bars.add(style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style)));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if bar.is_none() {
            eprintln!("{:>6.0} s  {line}", self.seconds());
        }
        Work { bar, name: name.to_owned(), start: Instant::now() }
    }

    pub(crate) fn end(&self, work: Work, outcome: &str) {
        let line = format!("{}: {outcome} ({:.1} s)", work.name, work.start.elapsed().as_secs_f64());
        match (&self.bars, work.bar) {
            (Some(bars), Some(bar)) => {
                bar.finish_and_clear();
                let _ = bars.println(line);
            }
            _ => eprintln!("{:>6.0} s  {line}", self.seconds()),
        }
    }
}

/// The table, then what is missing and what goes with it.
pub(crate) fn print(rows: &[Row]) {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let width = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0).max("version".len());
    let (names, versions) = (width(|row| row.name.len()), width(|row| row.version.len()));
    println!("{:names$}  {:versions$}  {:>8}  where", "name", "version", "seconds");
    for row in rows {
        let seconds = match &row.state {
            State::Ready => "–".to_owned(),
            State::Installed { seconds } => format!("{seconds:.1}"),
            State::NotHere(_) => "not here".to_owned(),
            State::Failed(_) => "failed".to_owned(),
        };
        let place = short(&row.place, home.as_deref());
        println!("{:names$}  {:versions$}  {seconds:>8}  {place}", row.name, row.version);
    }
    for row in rows {
        if let State::NotHere(reason) | State::Failed(reason) = &row.state {
            println!("\n{}: {reason}\n  tests that go without it: {}", row.name, row.tests);
        }
    }
}

fn short(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
