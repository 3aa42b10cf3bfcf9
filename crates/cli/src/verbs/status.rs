//! `status`: the mesh on this machine, as it is now.

use super::{
    Group, Verb, up,
    up_mesh::{self},
};
use crate::{
    args::format,
    exit::Exit,
    output::{Format, Output},
    program::Program,
    style::{ERROR, LITERAL},
};
use anyhow::{Context, Result};
use mizzen_local::view::{Process, View};
use std::fmt::Write;
use tokio::runtime;

#[derive(clap::Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    mesh: up_mesh::Typed,

    #[command(flatten)]
    format: format::Typed,
}

pub(crate) struct Status {
    mesh: up_mesh::Typed,
    format: Format,
}

impl Verb for Status {
    const NAME: &'static str = "status";
    const ABOUT: &'static str = "Show the mesh on this machine: workloads, proxies, calls, problems";
    const GROUP: Group = Group::Local;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("status", "For people; exit code 1 if something is wrong"),
        ("status -o json", "Everything that is known, for a script"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self { mesh: typed.mesh, format: typed.format.into() })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        let view = runtime.block_on(self.mesh.view())?;
        match self.format {
            Format::Text => output.text(&text(&view))?,
            format @ (Format::Json | Format::Yaml) => {
                let value = serde_json::to_value(&view)?;
                output.show(format, &value)?;
            }
        }
        let fine = view.problems.is_empty()
            && view.objects.iter().all(|object| object.problems.is_empty())
            && view.workloads.iter().all(|workload| workload.ready);
        Ok(if fine { Exit::Done } else { Exit::Problem })
    }
}

fn text(view: &View) -> String {
    let mut text = String::new();
    let ready = view.workloads.iter().filter(|workload| workload.ready).count();
    let _ = writeln!(
        text,
        "{LITERAL}{ready} of {} workloads are ready{LITERAL:#}; up for {} (process {})",
        view.workloads.len(),
        span(view.now.saturating_sub(view.started)),
        view.pid
    );
    let _ = writeln!(
        text,
        "ingress http://{}/, page http://{}/, objects {}\n",
        view.ingress,
        view.page,
        view.objects_folder.display()
    );
    let mut rows = vec![
        ["WORKLOAD", "STATE", "ADDRESS", "SYNC", "MTLS", "CERTIFICATE", "MEMORY", "RESTARTS"]
            .map(str::to_owned),
    ];
    let memory = |processes: &[&Process]| {
        let all: u64 = processes.iter().filter_map(|process| process.memory).sum();
        format!("{} MB", all / 1_000_000)
    };
    let left = |until: u64| span(until.saturating_sub(view.now));
    let mtls = |handshakes: u64| if handshakes > 0 { format!("yes ({handshakes})") } else { "-".to_owned() };
    let control = &view.control_plane;
    rows.push([
        control.name.clone(),
        control.state.clone(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        memory(&[control]),
        control.restarts.to_string(),
    ]);
    let gateway = &view.gateway;
    rows.push([
        gateway.process.name.clone(),
        gateway.process.state.clone(),
        view.ingress.to_string(),
        gateway.sync.word().to_owned(),
        mtls(gateway.handshakes),
        left(gateway.certificate_until),
        memory(&[&gateway.process]),
        gateway.process.restarts.to_string(),
    ]);
    for workload in &view.workloads {
        rows.push([
            workload.name.clone(),
            workload.state().to_owned(),
            workload.address.clone(),
            workload.proxy.sync.word().to_owned(),
            mtls(workload.proxy.handshakes),
            left(workload.proxy.certificate_until),
            memory(&[&workload.app, &workload.proxy.process]),
            (workload.app.restarts + workload.proxy.process.restarts).to_string(),
        ]);
    }
    text.push_str(&up::table(&rows));
    if !view.edges.is_empty() {
        text.push('\n');
        let mut rows =
            vec![["FROM", "TO", "CALLS", "CALLS/S", "SUCCEED", "P50", "P99", "MTLS"].map(str::to_owned)];
        for edge in &view.edges {
            let time =
                |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1} ms"));
            rows.push([
                edge.from.clone(),
                edge.to.clone(),
                edge.requests.to_string(),
                format!("{:.1}", edge.rate),
                edge.success.map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", 100.0 * part)),
                time(edge.p50),
                time(edge.p99),
                if edge.mtls { "yes" } else { "no" }.to_owned(),
            ]);
        }
        text.push_str(&up::table(&rows));
    }
    for workload in view.workloads.iter().filter(|workload| !workload.ready) {
        for process in [&workload.app, &workload.proxy.process] {
            if let Some(end) = &process.last_end {
                let said = process.said.last().map(|said| format!(", saying: {said}")).unwrap_or_default();
                let _ = writeln!(text, "\n{ERROR}{} has ended{ERROR:#} ({end}){said}", process.name);
            }
        }
    }
    for refusal in view
        .workloads
        .iter()
        .flat_map(|workload| &workload.proxy.sync.types)
        .filter_map(|one| one.error.as_ref())
    {
        let _ = writeln!(text, "\n{ERROR}an Envoy refused{ERROR:#} a part of its configuration: {refusal}");
    }
    for workload in view.workloads.iter().filter(|workload| workload.proxy.faults > 0) {
        let faults = workload.proxy.faults;
        let _ = writeln!(
            text,
            "\n{}: {faults} of its calls were answered by faults in routes, not by who was called",
            workload.name
        );
    }
    for problem in &view.problems {
        let _ = writeln!(text, "\n{ERROR}problem:{ERROR:#} {problem}");
    }
    // What is wrong in a file has been said, at its place.
    for object in &view.objects {
        let name = format!("{} {}/{}", object.kind, object.namespace, object.name);
        if !view.problems.iter().any(|problem| problem.contains(&format!(": {name}: "))) {
            for problem in &object.problems {
                let _ = writeln!(text, "\n{ERROR}{name}:{ERROR:#} {problem}");
            }
        }
    }
    text
}

/// A time that people can read.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
