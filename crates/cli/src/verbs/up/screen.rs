//! What a person sees of a mesh that is up: where everything is, what to try, and a line that is kept up to date.

use crate::{
    output::Output,
    style::{ERROR, HINT, LITERAL},
};
use mizzen_local::{
    up::Told,
    view::{View, Workload},
};
use std::{
    env,
    fmt::Write,
    io::{self, IsTerminal},
    ops::Add,
    path::{Path, PathBuf},
    time::Instant,
};

pub(super) struct Screen {
    begun: Instant,
    is_sample: bool,
    /// There is somebody who sees a line change.
    live: bool,
    /// That line is on the screen.
    shown: bool,
}

impl Screen {
    pub(super) fn new(begun: Instant, is_sample: bool, detached: bool) -> Self {
        Self { begun, is_sample, live: !detached && io::stdout().is_terminal(), shown: false }
    }

    /// Nobody may be reading: that is no reason to end a mesh.
    pub(super) fn show(&mut self, told: Told, output: &mut Output) {
        let text = match told {
            Told::Line(line) => format!("{line}\n"),
            Told::Problem(problem) => {
                format!("{ERROR}problem:{ERROR:#} {problem}; the last good mesh goes on\n")
            }
            Told::Fixed(problem) => format!("{HINT}fixed:{HINT:#} {problem}\n"),
            Told::Ready(view) => {
                let seconds = self.begun.elapsed().as_secs_f32();
                let mut text = summary(&view, Some(seconds));
                text.push_str(&if self.is_sample { things_to_try(&view) } else { what_next(&view) });
                if self.live {
                    text.push_str("\nCtrl-C ends everything.\n");
                }
                text
            }
            Told::Tick(view) if self.live => {
                let text = format!("\r\u{1b}[K{}", line(&view));
                self.shown = true;
                let _ = output.text(&text);
                let _ = output.flush();
                return;
            }
            Told::Tick(_) => return,
        };
        let clear = if std::mem::take(&mut self.shown) { "\r\u{1b}[K" } else { "" };
        let _ = output.text(&format!("{clear}{text}"));
        let _ = output.flush();
    }

    pub(super) fn end(&mut self, output: &mut Output) {
        if std::mem::take(&mut self.shown) {
            let _ = output.text("\r\u{1b}[Kthe mesh has ended\n");
        }
    }
}

/// The state in one line.
fn line(view: &View) -> String {
    let ready = view.workloads.iter().filter(|workload| workload.ready).count();
    // A sum of nothing is a negative zero.
    let rate = view.edges.iter().map(|edge| edge.rate).fold(0.0, f64::add);
    let good: f64 = view.edges.iter().map(|edge| edge.rate * edge.success.unwrap_or(1.0)).sum();
    let success = if rate > 0.0 { format!(", {:.1} % succeed", 100.0 * good / rate) } else { String::new() };
    let problems = match view.problems.len() {
        0 => String::new(),
        1 => format!(", {ERROR}1 problem{ERROR:#}"),
        count => format!(", {ERROR}{count} problems{ERROR:#}"),
    };
    format!("{ready} of {} workloads ready, {rate:.1} calls/s{success}{problems}", view.workloads.len())
}

/// What runs where.
pub(super) fn summary(view: &View, seconds: Option<f32>) -> String {
    let mut text = String::new();
    let services: std::collections::BTreeSet<&str> =
        view.workloads.iter().map(|one| one.service.as_str()).collect();
    let took = seconds.map(|seconds| format!(" after {seconds:.1} s")).unwrap_or_default();
    let not_ready: Vec<&Workload> = view.workloads.iter().filter(|workload| !workload.ready).collect();
    let _ = writeln!(
        text,
        "{LITERAL}A mesh is up{LITERAL:#}{took}: {} services, {} workloads, beside each an Envoy {}.\n",
        services.len(),
        view.workloads.len(),
        view.envoy
    );
    let _ = writeln!(text, "  {LITERAL}ingress{LITERAL:#}  http://{}/", view.ingress);
    let _ = writeln!(text, "  {LITERAL}page{LITERAL:#}     http://{}/", view.page);
    let _ = writeln!(
        text,
        "  {LITERAL}objects{LITERAL:#}  {}/ (a file that changes here changes the mesh)\n",
        near(&view.objects_folder)
    );
    let mut rows =
        vec![["SERVICE".to_owned(), "VERSION".to_owned(), "PROCESS".to_owned(), "SIDECAR".to_owned()]];
    for workload in &view.workloads {
        for port in &workload.ports {
            let moved = if port.moved {
                format!("  ({} is root's, so it was moved)", port.service)
            } else {
                String::new()
            };
            rows.push([
                format!("{}:{}", workload.service, port.service),
                workload.version.clone(),
                port.app.to_string(),
                format!("{}{moved}", port.inbound),
            ]);
        }
    }
    text.push_str(&table(&rows));
    for workload in not_ready {
        let _ = write!(text, "\n{ERROR}{} is not ready{ERROR:#}: ", workload.name);
        let process = if workload.app.state == "ready" { &workload.proxy.process } else { &workload.app };
        let _ = match &process.last_end {
            Some(end) => writeln!(
                text,
                "it has ended ({end}){}",
                process.said.last().map(|said| format!(", saying: {said}")).unwrap_or_default()
            ),
            None => writeln!(
                text,
                "nobody answers at {}",
                workload.ports.first().map(|port| port.app.to_string()).unwrap_or_default()
            ),
        };
        let _ = writeln!(text, "  `{} logs {}` shows what it said", program(), workload.name);
    }
    text
}

/// Columns of words.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
    text
}

fn things_to_try(view: &View) -> String {
    let (ingress, mesh) = (view.ingress, near(&view.objects_folder));
    let sample = near(view.objects_folder.parent().unwrap_or(&view.objects_folder));
    format!(
        "\n{LITERAL}Three things to try{LITERAL:#}, in another terminal:\n\
         \n  1. Ana gets another version of the reviews than everybody else:\n\
         \x20      curl http://{ingress}/\n\
         \x20      curl -H 'x-user: ana' http://{ingress}/\n\
         \n  2. Half of the callers get version 2:\n\
         \x20      cp {sample}/try/half-v2.yaml {mesh}/reviews.yaml\n\
         \x20      for i in 1 2 3 4 5 6; do curl -s http://{ingress}/ | grep Reviews; done\n\
         \n  3. The ratings fail, and the shop stays open:\n\
         \x20      cp {sample}/try/ratings-fail.yaml {mesh}/\n\
         \x20      curl -H 'x-user: ana' http://{ingress}/\n"
    )
}

fn what_next(view: &View) -> String {
    let name = program();
    format!(
        "\n`{name} status` shows it again, `{name} traffic` sends requests, http://{} shows what happens.\n",
        view.page
    )
}

/// From where the person is, if that is shorter.
fn near(path: &Path) -> String {
    let here = env::current_dir().ok();
    let below = here
        .as_ref()
        .and_then(|here| path.strip_prefix(here).ok())
        .filter(|path| !path.as_os_str().is_empty());
    below.unwrap_or(path).display().to_string()
}

/// How to call this binary: by its name if that leads here.
pub(crate) fn program() -> String {
    let Ok(own) = env::current_exe() else { return "mizzen".to_owned() };
    let path = env::var_os("PATH").unwrap_or_default();
    let leads_here = |folder: PathBuf| {
        folder.join("mizzen").canonicalize().is_ok_and(|found| Some(found) == own.canonicalize().ok())
    };
    if env::split_paths(&path).any(leads_here) { "mizzen".to_owned() } else { near(&own) }
}
