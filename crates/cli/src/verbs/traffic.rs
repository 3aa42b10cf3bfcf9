//! `traffic`: requests for the mesh on this machine, and how it takes them.

use super::{Group, Verb, up_mesh};
use crate::{
    args::duration,
    exit::Exit,
    failure::{Hint, Usage},
    output::{Format, Output},
    program::Program,
    style::LITERAL,
};
use anyhow::{Context, Result};
use http::{HeaderName, HeaderValue};
use mizzen_local::{
    client,
    traffic::{self, Load, Report},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt,
    io::{self, IsTerminal},
    time::Duration,
};
use tokio::{runtime, signal};

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// The path to ask for
    #[arg(value_name = "PATH", default_value = "/")]
    path: String,

    /// Requests a second
    #[arg(long, value_name = "NUMBER", default_value_t = 20.0)]
    rate: f64,

    /// How long, for instance 30s [default: until Ctrl-C]
    #[arg(long, value_name = "DURATION", value_parser = duration::read)]
    duration: Option<Duration>,

    /// A header of each request, for instance `x-user: ana`
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    #[command(flatten)]
    mesh: up_mesh::Typed,

    #[command(flatten)]
    format: crate::args::format::Typed,
}

pub(crate) struct Traffic {
    typed: Typed,
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("not of the form `name: value`")?;
    let name = name.trim().parse().map_err(|_| format!("{name:?} is no name of a header"))?;
    let value = value.trim().parse().map_err(|_| format!("{value:?} cannot be the value of a header"))?;
    Ok((name, value))
}

impl Verb for Traffic {
    const NAME: &'static str = "traffic";
    const ABOUT: &'static str = "Send requests to the mesh on this machine and show how it takes them";
    const GROUP: Group = Group::Local;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("traffic", "Twenty requests a second, until Ctrl-C"),
        ("traffic --rate 100 --duration 30s -o json", "Figures for a script"),
        ("traffic -H x-user:ana", "As somebody whom routes treat differently"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        if !(typed.rate > 0.0 && typed.rate <= 10_000.0) {
            return Err(Usage("--rate must be more than 0 and at most 10000".to_owned()).into());
        }
        if !typed.path.starts_with('/') {
            return Err(Usage(format!("'{}' is no path", typed.path)).hint("it begins with /"));
        }
        Ok(Self { typed })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let Typed { path, rate, duration, headers, mesh, format } = self.typed;
        let format = Format::from(format);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        let outcome = runtime.block_on(async {
            let record = mesh.running()?;
            let before = client::view(&record).await.map_err(up_mesh::told)?;
            let load = Load { to: record.ingress, path, headers, rate, duration };
            let live = format == Format::Text && io::stdout().is_terminal();
            let end = async {
                let _ = signal::ctrl_c().await;
            };
            let report = traffic::send(load, end, |report| {
                if live {
                    let _ = output.text(&format!("\r\u{1b}[K{}", line(report)));
                    let _ = output.flush();
                }
            })
            .await;
            if live {
                output.text("\r\u{1b}[K")?;
            }
            // Statistics are looked at once a second.
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            // It may have ended meanwhile; what was sent was sent.
            let after = client::view(&record).await;
            let shares = after.map(|after| traffic::shares(&before, &after)).unwrap_or_default();
            anyhow::Ok(Outcome { report, shares })
        })?;
        output.show(format, &outcome)?;
        let fine = outcome.report.requests > 0 && outcome.report.succeeded == outcome.report.requests;
        Ok(if fine { Exit::Done } else { Exit::Problem })
    }
}

fn line(report: &Report) -> String {
    let time = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
    format!(
        "{} requests in {:.0} s, {:.2} % succeed, p50 {} p90 {} p99 {} ms",
        report.requests,
        report.seconds,
        percent(report.succeeded, report.requests),
        time(report.p50),
        time(report.p90),
        time(report.p99)
    )
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: Report,
    /// Calls by version, of services that have several; as the sidecars counted them, those of others included.
    shares: BTreeMap<String, BTreeMap<String, u64>>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", line(&self.report))?;
        for (answer, count) in &self.report.answers {
            write!(out, "\n  {answer}: {count}")?;
        }
        for (service, versions) in &self.shares {
            let all: u64 = versions.values().sum();
            write!(out, "\n{LITERAL}{service}{LITERAL:#}")?;
            for (version, count) in versions {
                write!(out, "  {version} {:.0} % ({count})", percent(*count, all))?;
            }
        }
        Ok(())
    }
}
