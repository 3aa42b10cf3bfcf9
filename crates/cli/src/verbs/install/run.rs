//! The way of the verbs, from what was typed to what was done.

use super::{
    show,
    typed::{DiffTyped, Shown, Typed},
};
use crate::{
    args::{
        connection::{self, Connection, refused},
        format::TextOrJson,
        mesh,
    },
    build,
    confirm::confirm,
    diagnostics,
    exit::Exit,
    failure::Hint,
    interrupt,
    output::Output,
};
use anyhow::{Result, anyhow, bail};
use mizzen_cluster::{Adoption, NoInventory, NotPlanned};
use mizzen_install::{
    deploy::{self, Facts, Mesh, Plan, Problem, Settings},
    generate,
};
use mizzen_text::{Code, Diagnostic, Severity};
use std::future::Future;
use tokio::sync::mpsc;

/// What is wanted, what is there, and what lies between.
struct Prepared {
    connection: Connection,
    mesh: Mesh,
    problems: Vec<Problem>,
    plan: Plan,
    adoption: Adoption,
}

fn prepare(connection: connection::Typed, mesh: mesh::Typed, shown: &Shown, force: bool) -> Result<Prepared> {
    let mesh = mesh.meant()?;
    let (mut input, charts) = mesh.read(force)?;
    let connection = connection.connect()?;
    let cluster = &connection.cluster;
    let facts = connection.run(Facts::read(cluster)).map_err(refused)?;
    input.kube_version = Some(facts.kubernetes.clone()).filter(|version| !version.is_empty());
    let generated = generate(&input, charts.as_ref()).map_err(diagnostics::named)?;
    diagnostics::warn(&generated.warnings);
    let mut mesh = Mesh::new(&generated, &facts, &cluster.served(), charts.as_ref(), build::VERSION, None)?;
    // What is not for all changes hands; the plan shows it.
    connection.run(deploy::share(cluster, &mut mesh, &facts)).map_err(refused)?;
    let problems = deploy::problems(&mesh, &facts);
    let adoption = Adoption { from: shown.adopt.clone(), ..Adoption::default() };
    let plan = connection.run(deploy::plan(cluster, &mesh, &facts, &adoption)).map_err(refused)?;
    Ok(Prepared { connection, mesh, problems, plan, adoption })
}

pub(crate) fn unlisted(error: NoInventory) -> anyhow::Error {
    match error {
        NoInventory::Refused(error) => refused(error),
        error @ NoInventory::Overtaken { .. } => {
            error.hint("wait until the other one is done, then run this again")
        }
        error => error.into(),
    }
}

pub(super) fn diff(typed: DiffTyped, output: &mut Output) -> Result<Exit> {
    let prepared = prepare(typed.connection, typed.mesh, &typed.shown, typed.force)?;
    let Prepared { mesh, problems, plan, .. } = &prepared;
    match typed.shown.output {
        TextOrJson::Json => output.json(&show::plan_json(mesh, plan, problems))?,
        TextOrJson::Text => output.text(&show::plan(mesh, plan, true))?,
    }
    tell(problems, true);
    stopped(plan)?;
    Ok(if plan.changes_nothing() { Exit::Done } else { Exit::Problem })
}

pub(super) fn install(typed: Typed, verb: &str, output: &mut Output) -> Result<Exit> {
    let Typed { dry_run, yes, force, readiness_timeout, shown, connection, mesh, .. } = typed;
    let prepared = prepare(connection, mesh, &shown, force)?;
    let Prepared { connection, mesh, problems, plan, adoption } = prepared;
    let text = shown.output == TextOrJson::Text;
    if yes && !dry_run {
        output.go_on_unread();
    }
    if text {
        output.text(&show::plan(&mesh, &plan, dry_run))?;
        output.flush()?;
    }
    let cluster = &connection.cluster;
    let missing = connection.run(deploy::missing_rights(cluster, &plan, &mesh.namespace)).map_err(refused)?;
    let is_refused = (!force && problems.iter().any(|problem| !problem.warning))
        || !missing.is_empty()
        || !plan.failed.is_empty();
    if !text && (dry_run || is_refused) {
        output.json(&show::plan_json(&mesh, &plan, &problems))?;
    }
    tell(&problems, force);
    if !force && let Some(problem) = problems.iter().find(|problem| !problem.warning) {
        return Err(anyhow!("{}", problem.message).hint("nothing was done; --force goes on nevertheless"));
    }
    may(&missing)?;
    stopped(&plan)?;
    if dry_run {
        return Ok(Exit::Done);
    }
    let version = mesh.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let question = format!(
        "This will {verb} Istio{version} with profile {:?} in namespace {}. Proceed? (y/N)",
        mesh.profile, mesh.namespace
    );
    if !plan.changes_nothing() && !yes && !confirm(&question, output)? {
        output.text("nothing was done\n")?;
        return Ok(Exit::Problem);
    }
    let settings = Settings { patience: readiness_timeout, adoption };
    let report = connection.run(async {
        let (told, mut events) = mpsc::channel(4_096);
        let progress = move |event| {
            // Whoever cannot follow misses a line.
            let _ = told.try_send(event);
        };
        let work = deploy::carry_out(cluster, &mesh, plan, &settings, &progress);
        let mut print = |event: deploy::Event| -> Result<()> {
            if text && let Some(line) = show::line(&event) {
                output.text(&format!("{line}\n"))?;
                output.flush()?;
            }
            Ok(())
        };
        attended(work, &mut events, &mut print, || written(&connection)).await
    })?;
    let report = report.map_err(unlisted)?;
    let (requests, writes) = cluster.requests();
    if !text {
        output.json(&show::report_json(&report, requests, writes))?;
    }
    if report.failures.is_empty() {
        if text {
            output.text(&done(writes))?;
        }
        return Ok(Exit::Done);
    }
    let failed: Vec<&str> = report.failures.iter().map(|failure| failure.component).collect();
    Err(anyhow!("{} could not be brought to what it should be", failed.join(", "))
        .hint("what was done stays; run the same command again to go on"))
}

/// Rights that are missing keep everything from beginning.
pub(crate) fn may(missing: &[String]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let error = anyhow!("this user may not: {}", missing.join(", "));
    Err(error.hint("nothing was done; ask for these rights, or choose another user with --context"))
}

fn done(writes: u64) -> String {
    match writes {
        0 => "everything is as it should be; nothing was written\n".to_owned(),
        _ => "the installation is complete\n".to_owned(),
    }
}

fn written(connection: &Connection) -> String {
    let (_, writes) = connection.cluster.requests();
    match writes {
        0 => "interrupted; nothing was written".to_owned(),
        writes => format!("interrupted after {writes} writes"),
    }
}

/// Runs the work and prints what it tells, until it is done or somebody has had enough.
pub(crate) async fn attended<T, E>(
    work: impl Future<Output = T>,
    events: &mut mpsc::Receiver<E>,
    print: &mut dyn FnMut(E) -> Result<()>,
    interrupted: impl Fn() -> String,
) -> Result<T> {
    let mut work = std::pin::pin!(work);
    let result = loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => print(event)?,
            result = &mut work => break result,
            () = interrupt::asked() => bail!(anyhow!(interrupted()).hint("run the same command again to go on")),
        }
    };
    while let Ok(event) = events.try_recv() {
        print(event)?;
    }
    Ok(result)
}

/// On standard error; `all` where nothing else tells of the grave ones.
fn tell(problems: &[Problem], all: bool) {
    let told = problems.iter().filter(|problem| problem.warning || all);
    let told =
        told.map(|problem| Diagnostic::new(Code::Doubtful, &problem.message).severity(Severity::Warning));
    diagnostics::warn(&told.collect::<Vec<_>>());
}

/// Objects that cannot be brought to what they should be keep everything from beginning.
fn stopped(plan: &Plan) -> Result<()> {
    let Some(first) = plan.failed.first() else { return Ok(()) };
    let all: Vec<String> = plan.failed.iter().map(|failed| failed.reason.to_string()).collect();
    let error = anyhow!("{}", all.join("\n"));
    Err(match &first.reason {
        NotPlanned::Foreign { .. } => error.hint(
            "nothing was done; --adopt takes over what istioctl or Helm installed, --adopt=NAME what that manager has",
        ),
        NotPlanned::Refused(mizzen_cluster::Refused::Conflict { .. }) => error.hint(
            "nothing was done; --adopt takes back what istioctl or Helm has set, --adopt=NAME what that manager has",
        ),
        NotPlanned::Refused(_) | NotPlanned::Going { .. } => error.hint("nothing was done"),
    })
}
