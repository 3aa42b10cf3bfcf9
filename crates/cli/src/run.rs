//! From the words of a command line to an exit code: read them, start the logs, do the one thing asked for.

use crate::{args, build::BUILD, exit::Exit, failure, not_yet, output::Output, program::Program, verbs};
use anyhow::{Context, Result};
use clap::{ArgMatches, FromArgMatches, error::ErrorKind};
use std::{env, ffi::OsString};

pub(crate) fn run(mut argv: Vec<OsString>) -> Exit {
    if argv.is_empty() {
        argv.push(Program::Mizzen.name().into());
    }
    let program = Program::called(&argv[0]);
    let mut output = Output::stdout();
    let outcome = carry_out(program, &argv, &mut output);
    // Also after a failure: what a verb printed before it belongs above the error.
    let flushed = output.finish();
    match outcome.and_then(|exit| Ok(flushed.map(|()| exit)?)) {
        Ok(exit) => exit,
        Err(error) => failure::report(&error),
    }
}

fn carry_out(program: Program, argv: &[OsString], output: &mut Output) -> Result<Exit> {
    let matches = match args::command(program).try_get_matches_from(argv) {
        Ok(matches) => matches,
        Err(asked) if matches!(asked.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            output.text(&asked.render().ansi().to_string())?;
            return Ok(Exit::Done);
        }
        Err(error) => {
            return Err(not_yet::sentence(program, &argv[1..], &error).unwrap_or_else(|| error.into()));
        }
    };
    let (name, own) = matches.subcommand().context("no verb was read")?;
    let verb = verbs::named(program, name).with_context(|| format!("`{name}` was read but is no verb"))?;
    start_logs(&matches)?;
    tracing::debug!(program = program.name(), verb = name, version = BUILD.version, "started");
    verb.job(own, program)?(output)
}

fn start_logs(matches: &ArgMatches) -> Result<()> {
    let typed = args::logging::Typed::from_arg_matches(matches)?;
    typed.meant(|name| env::var(name).ok())?.start()
}
