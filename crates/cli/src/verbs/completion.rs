//! `completion`: a script that completes the words of the program by whose name we were called.

use super::{Group, Verb};
use crate::{args, build, exit::Exit, output::Output, program::Program};
use anyhow::Result;
use clap::Command;
use clap_complete::Shell;

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// The shell that will read the script
    shell: Shell,
}

pub(crate) struct Completion {
    program: Program,
    shell: Shell,
}

impl Verb for Completion {
    const NAME: &'static str = "completion";
    const ABOUT: &'static str = "Print a completion script for a shell";
    const GROUP: Group = Group::Binary;
    const ALSO_IN: &'static [Program] = Program::ALL;
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        (
            "completion bash > ~/.local/share/bash-completion/completions/{}",
            "For bash, from the next shell on",
        ),
        ("completion zsh > ~/.zfunc/_{}", "For zsh, with ~/.zfunc in fpath"),
        ("completion fish > ~/.config/fish/completions/{}.fish", "For fish"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, program: Program) -> Result<Self> {
        Ok(Self { program, shell: typed.shell })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        // Into memory first: the generators panic when they cannot write.
        let mut script = Vec::new();
        let mut command = visible(&args::command(self.program)).version(build::VERSION);
        clap_complete::generate(self.shell, &mut command, self.program.name(), &mut script);
        output.bytes(&script)?;
        Ok(Exit::Done)
    }
}

/// The generators offer hidden options too, so they are given a command line without them. An option that stays
/// must not refer to one that goes, nor to a group.
fn visible(command: &Command) -> Command {
    // clap wants names that live as long as the process, which ends right after.
    let name: &'static str = command.get_name().to_string().leak();
    Command::new(name)
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(visible))
}
