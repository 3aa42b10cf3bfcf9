//! What was typed: the command line of each program, put together from the options all verbs share and the verbs
//! that the program has. Nothing here acts; a verb turns its own part into what is meant.

pub(crate) mod cluster;
pub(crate) mod connection;
pub(crate) mod control_plane;
pub(crate) mod duration;
pub(crate) mod format;
pub(crate) mod logging;
pub(crate) mod mesh;

use crate::{build, help, program::Program, style, verbs};
use clap::{Args, Command};

pub(crate) fn command(program: Program) -> Command {
    let root = Command::new(program.name())
        .bin_name(program.name())
        .version(build::VERSION)
        .about(program.about())
        .styles(style::CLAP)
        .help_template(help::template(program))
        .after_help(help::footer(program))
        .subcommand_value_name("VERB")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(verbs::of(program).map(|verb| verb.command(program)));
    logging::Typed::augment_args(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_every_program_is_consistent() {
        for program in Program::ALL {
            command(*program).debug_assert();
        }
    }

    #[test]
    fn every_example_in_the_help_can_be_typed() {
        for program in Program::ALL {
            for verb in verbs::of(*program) {
                assert!(!verb.examples.is_empty(), "{} has no example", verb.name);
                for (example, _) in verb.examples {
                    let typed = example
                        .split(" > ")
                        .next()
                        .and_then(|own| own.split(" | ").next())
                        .unwrap_or_default();
                    let words = [program.name()].into_iter().chain(typed.split_whitespace());
                    let read = command(*program).try_get_matches_from(words);
                    assert!(read.is_ok(), "{} {typed}: {read:?}", program.name());
                }
            }
        }
    }
}
