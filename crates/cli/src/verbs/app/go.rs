//! The way of `apply` and `rollback`: wait for whoever is at work, plan, show, ask, carry out.

use super::{left, person, report, show, which::Subject};
use crate::{
    args::{
        connection::{Connection, refused},
        format::TextOrJson,
    },
    confirm::confirm,
    diagnostics,
    exit::Exit,
    failure::Hint,
    interrupt,
    output::Output,
    verbs::install,
};
use anyhow::{Result, anyhow, bail};
use mizzen_app::{
    is_shared,
    release::{self, Event, NoRelease, Owner, Person, Plan, Settings, Stop, Waits, What},
};
use mizzen_cluster::{Adoption, Failed, NotPlanned, Reclaim, Refused};
use mizzen_text::{Code, Diagnostic, Severity};
use std::{collections::BTreeSet, future::Future, time::Duration};
use tokio::sync::mpsc;

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Typed {
    /// Go on without being asked
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Only show what would be done
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Set fields as the Spec says that others have set to something else, instead of leaving them
    #[arg(long)]
    force_conflicts: bool,

    /// Take over objects that were made by these field managers, such as kubectl-client-side-apply
    #[arg(long, value_name = "MANAGER", value_delimiter = ',')]
    adopt: Vec<String>,

    /// End when the objects are there, without waiting until workloads are ready
    #[arg(long)]
    no_wait: bool,

    /// How long workloads may take to become ready, and objects to be gone
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = crate::args::duration::read)]
    timeout: Duration,

    #[command(flatten)]
    pub(super) lock: LockTyped,

    /// How to print what is done
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(super) output: TextOrJson,
}

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct LockTyped {
    /// Take the lock from whoever is at work on the same application and stack
    #[arg(long)]
    pub(super) break_lock: bool,
}

impl Typed {
    pub(super) fn settings(&self) -> Settings {
        let reclaim = match self.force_conflicts {
            true => Reclaim::All,
            false => Reclaim::Nothing,
        };
        let adoption = Adoption { from: self.adopt.clone(), reclaim, ..Adoption::default() };
        Settings { patience: self.timeout, adoption, wait: !self.no_wait }
    }
}

/// What lies between what is wanted and what is there, and what is to be said about it.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) warnings: Vec<String>,
}

pub(super) async fn prepare(
    connection: &Connection,
    subject: &Subject,
    before: Option<release::Found>,
    adoption: &Adoption,
) -> Result<Prepared> {
    let (cluster, owner) = (&connection.cluster, &subject.owner);
    let current = before.as_ref().and_then(|before| before.ledger.current()).map(|release| release.number);
    let prior = match current {
        Some(number) => match release::spec_of(cluster, owner, number).await {
            Ok(spec) => Some(spec),
            // Without it nobody can say who has changed what; that is all.
            Err(NoRelease::NoSpec { .. }) => None,
            Err(error) => return Err(unreleased(error)),
        },
        None => None,
    };
    let (spec, wanted) = (&subject.spec, subject.wanted.clone());
    let plan = release::plan(cluster, owner, spec, wanted, before, prior.as_ref(), adoption).await;
    let plan = plan.map_err(refused)?;
    let warnings = release::warnings(cluster, owner, &plan).await.map_err(refused)?;
    Ok(Prepared { plan, warnings })
}

pub(super) fn warn(warnings: &[String]) {
    let told =
        warnings.iter().map(|warning| Diagnostic::new(Code::Doubtful, warning).severity(Severity::Warning));
    diagnostics::warn(&told.collect::<Vec<_>>());
}

pub(super) fn go(
    typed: &Typed,
    connection: &Connection,
    subject: &Subject,
    what: What,
    output: &mut Output,
) -> Result<Exit> {
    let (cluster, owner) = (&connection.cluster, &subject.owner);
    let (settings, me, text) = (typed.settings(), person::here(), typed.output == TextOrJson::Text);
    let mut break_lock = typed.lock.break_lock;
    if typed.yes && !typed.dry_run {
        output.go_on_unread();
    }
    loop {
        let before = match typed.dry_run {
            true => connection.run(release::read(cluster, owner)).map_err(unreleased)?,
            false => until_free(connection, owner, &me, break_lock, text, output)?,
        };
        let Prepared { plan, warnings } =
            connection.run(prepare(connection, subject, before, &settings.adoption))?;
        if text {
            output.text(&show::plan(owner, &plan))?;
            output.flush()?;
        }
        warn(&warnings);
        allowed(connection, &plan, owner)?;
        stopped(&plan, subject)?;
        if typed.dry_run {
            if !text {
                output.json(&show::plan_json(owner, &plan, &warnings))?;
            }
            return Ok(Exit::Done);
        }
        let held_by_others = left::of(plan.steps.iter().map(|step| &step.planned.step));
        if plan.changes_nothing() {
            match text {
                true if held_by_others.is_empty() => {
                    output.text("everything is as it should be; nothing was written\n")?;
                }
                true => output.text("nothing was written\n")?,
                false => output.json(&show::plan_json(owner, &plan, &warnings))?,
            }
            return left::ended(&held_by_others);
        }
        // What a release that fails can be taken back to.
        let has_any = plan.before.as_ref().is_some_and(|before| before.ledger.current().is_some());
        let question = format!("Apply this to {}? (y/N)", owner.name());
        if !plan.does_nothing() && !typed.yes && !confirm(&question, output)? {
            output.text("nothing was done\n")?;
            return Ok(Exit::Problem);
        }
        let started =
            connection.run(release::start(cluster, owner, plan, &subject.spec, what, &me, &settings));
        let Some(started) = started.map_err(unreleased)? else {
            if text {
                output.text("somebody else has worked on it meanwhile; looking again\n")?;
            }
            break_lock = false;
            continue;
        };
        let report = connection.run(watched(text, output, |progress, mut stop| async move {
            release::carry_out(started, &settings, &progress, &mut stop).await
        }))?;
        let report = report.map_err(cut_short)?;
        let (requests, writes) = cluster.requests();
        if !text {
            output.json(&show::report_json(&report, requests, writes))?;
        }
        return ended(&report, has_any, text, output);
    }
}

fn ended(report: &release::Report, has_any: bool, text: bool, output: &mut Output) -> Result<Exit> {
    let number = report.number;
    if report.is_well() {
        let held_by_others = left::of(&report.steps);
        if text && held_by_others.is_empty() {
            output.text(&format!("release {number} is in force\n"))?;
        } else if text {
            output.text(&format!(
                "release {number} is recorded, and in force but for what others have set\n"
            ))?;
        }
        return left::ended(&held_by_others);
    }
    let back = match has_any {
        true => "`mizzen app rollback` to go back",
        false => "`mizzen app destroy` to take away what was made: there is no release before this one",
    };
    let again =
        format!("what was done stays and is recorded; run the same command again to go on, or {back}");
    if report.failures.is_empty() {
        return Err(anyhow!("interrupted: release {number} is not complete").hint(again));
    }
    let all: Vec<String> = report.failures.iter().map(|(_, reason)| reason.clone()).collect();
    let given_up = match report.given_up.len() {
        0 => String::new(),
        count => format!("\n{count} objects that need these were not begun"),
    };
    Err(anyhow!("release {number} has failed:\n{}{given_up}", all.join("\n")).hint(again))
}

/// The ledger when nobody is at work; tells for whom it is waited.
pub(super) fn until_free(
    connection: &Connection,
    owner: &Owner,
    me: &Person,
    break_lock: bool,
    text: bool,
    output: &mut Output,
) -> Result<Option<release::Found>> {
    let (sender, mut lines) = mpsc::unbounded_channel();
    let mut told = move |waits: Waits<'_>| {
        let line = match waits {
            Waits::For { lock, release } => format!("waiting for {}", show::at_work(lock, release)),
            Waits::TakesOver { lock, release } => {
                format!("the process of {} is gone: going on from there", show::at_work(lock, release))
            }
            Waits::Breaks { lock, release } => {
                format!("taking the lock from {}", show::at_work(lock, release))
            }
        };
        // Nobody is there to read it only if we are on the way out.
        let _ = sender.send(line);
    };
    let found = connection.run(async {
        let work = release::until_free(&connection.cluster, owner, me, break_lock, &mut told);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                Some(line) = lines.recv() => said(&line, text, output)?,
                found = &mut work => break Ok::<_, anyhow::Error>(found),
                () = interrupt::asked() => bail!("interrupted; nothing was written"),
            }
        }
    })?;
    while let Ok(line) = lines.try_recv() {
        said(&line, text, output)?;
    }
    found.map_err(unreleased)
}

fn said(line: &str, text: bool, output: &mut Output) -> Result<()> {
    if text {
        output.text(&format!("{line}\n"))?;
        output.flush()?;
    }
    Ok(())
}

/// Runs the work and prints what it tells. Who interrupts it once is waited with until what is begun is ended.
pub(super) async fn watched<T, F>(
    text: bool,
    output: &mut Output,
    work: impl FnOnce(Box<release::Progress>, Stop) -> F,
) -> Result<T>
where
    F: Future<Output = T>,
{
    let (told, mut events) = mpsc::unbounded_channel::<Event>();
    let progress = move |event| {
        // Nobody is there to read it only if we are on the way out.
        let _ = told.send(event);
    };
    let (enough, stop) = Stop::new();
    let mut work = std::pin::pin!(work(Box::new(progress), stop));
    let result = loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => print(&event, text, output)?,
            result = &mut work => break result,
            () = interrupt::asked() => {
                if *enough.borrow() {
                    bail!(anyhow!("interrupted").hint("run the same command again to go on"));
                }
                said("ending what is begun; Ctrl-C again does not wait for it", text, output)?;
                // The receiver lives as long as the work.
                let _ = enough.send(true);
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        print(&event, text, output)?;
    }
    Ok(result)
}

fn print(event: &Event, text: bool, output: &mut Output) -> Result<()> {
    show::event(event).map_or(Ok(()), |line| said(&line, text, output))
}

pub(super) fn allowed(connection: &Connection, plan: &Plan, owner: &Owner) -> Result<()> {
    if plan.changes_nothing() {
        return Ok(());
    }
    let missing = connection.run(connection.cluster.missing_rights(&plan.rights(owner))).map_err(refused)?;
    may(&missing)
}

pub(super) fn may(missing: &[String]) -> Result<()> {
    let namespace = missing.iter().any(|right| right.ends_with(" Namespace"));
    install::may(missing).map_err(|error| match namespace {
        true => error.hint("`createNamespace: false` in app.yaml does without those on namespaces, where somebody else makes it"),
        false => error,
    })
}

/// Objects that cannot be brought to what they should be keep everything from beginning. All that is in the way is told at once: what
/// the server refuses, where it was written.
pub(super) fn stopped(plan: &Plan, subject: &Subject) -> Result<()> {
    let (mut told, mut hints) = (Vec::new(), BTreeSet::new());
    if !plan.unserved.is_empty() {
        let kinds: BTreeSet<&str> = plan.unserved.iter().map(|(id, _)| id.kind.as_str()).collect();
        told.push(format!("the cluster does not know: {}", kinds.into_iter().collect::<Vec<_>>().join(", ")));
        let istio = plan.unserved.iter().any(|(id, _)| id.group.ends_with(".istio.io"));
        hints.insert(match istio {
            true => "`mizzen install` brings Istio's kinds, or `mizzen crd print | kubectl apply --server-side -f -`".to_owned(),
            false => "what defines these kinds has to be applied first".to_owned(),
        });
    }
    let mut written = Vec::new();
    for failed in &plan.failed {
        match invalid(failed, subject) {
            Some(diagnostic) => written.push(diagnostic),
            None => told.push(failed.reason.to_string()),
        }
        hints.extend(hint(&failed.reason, &subject.owner));
    }
    report::tell(report::Form::Text, &written);
    match written.len() {
        0 => {}
        1 => told.push("the server refuses an object".to_owned()),
        count => told.push(format!("the server refuses {count} objects")),
    }
    if told.is_empty() {
        return Ok(());
    }
    let error = anyhow!("{}", told.join("\n")).hint("nothing was done");
    Err(hints.into_iter().fold(error, |error, hint| error.hint(hint)))
}

/// An object that the server refuses for what is in it, at the line of the field.
fn invalid(failed: &Failed, subject: &Subject) -> Option<Diagnostic> {
    let NotPlanned::Refused(Refused::Invalid { message, .. }) = &failed.reason else { return None };
    let place = subject.place(&failed.id, message)?;
    Some(Diagnostic::new(Code::Invalid, failed.reason.to_string()).at(place))
}

fn hint(reason: &NotPlanned, owner: &Owner) -> Option<String> {
    let said = match reason {
        NotPlanned::Foreign { id, .. } if id.kind == "Namespace" => {
            "`createNamespace: false` in app.yaml leaves the namespace to its owner, --adopt=MANAGER takes it over"
        }
        NotPlanned::Foreign { .. } => {
            "--adopt=MANAGER takes over what that manager has; or give the object another name"
        }
        NotPlanned::Refused(Refused::NoNamespace { id }) => {
            let name = &id.namespace;
            let make = format!("`kubectl create namespace {name}`");
            return Some(match name.as_str() {
                "istio-system" => format!(
                    "`mizzen install` makes istio-system, or {make}; an application makes none that it shares"
                ),
                _ if is_shared(name) => format!("{make}; an application makes none that it shares"),
                _ if *name == owner.namespace => {
                    format!("`createNamespace: true` in app.yaml makes the namespace, or {make}")
                }
                _ => format!(
                    "{id} says `namespace: {name}`: name another, or {make}; the application makes only its own namespace, {}",
                    owner.namespace
                ),
            });
        }
        NotPlanned::Refused(Refused::Conflict { .. }) => {
            "--force-conflicts sets these fields as the Spec says"
        }
        NotPlanned::Going { .. } => "wait until it is gone, or let whoever holds it go",
        NotPlanned::Refused(_) => return None,
    };
    Some(said.to_owned())
}

/// In the middle of the work.
pub(super) fn cut_short(error: NoRelease) -> anyhow::Error {
    match error {
        error @ NoRelease::Overtaken { .. } => unreleased(error),
        error => unreleased(error).hint("what was done stays; run the same command again to go on"),
    }
}

/// With what a person can do about it.
pub(super) fn unreleased(error: NoRelease) -> anyhow::Error {
    match error {
        NoRelease::Refused(error) => refused(error),
        NoRelease::NotPlanned(reason) => match *reason {
            NotPlanned::Refused(error) => refused(error),
            reason => reason.into(),
        },
        error @ NoRelease::Stale { .. } => error.hint(
            "its process was killed, or it has lost the cluster; if you know that it has ended, --break-lock goes on from where it was",
        ),
        error @ NoRelease::Overtaken { .. } => {
            error.hint("the lock was broken while this was at work; what was done is recorded; run this again if it is the one meant")
        }
        error @ NoRelease::Unreadable { .. } => error.hint(
            "somebody has edited that Secret: mend it, or delete it; then it is made again of the Specs of the releases",
        ),
        error @ NoRelease::NoSpec { .. } => error.hint("`mizzen app releases` lists those that can be had"),
        error => error.into(),
    }
}
