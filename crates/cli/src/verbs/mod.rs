//! The verbs that exist. Each is one file that says how it is typed, what that means, and does it; [`ALL`] is the
//! order of the help.

mod app;
mod backbone;
mod chart;
mod completion;
mod crd;
mod discovery;
mod down;
mod install;
mod logs;
mod manifest;
mod operator;
mod profile;
mod reconcile;
mod status;
mod tag;
mod traffic;
mod uninstall;
mod up;
mod up_mesh;
mod up_parts;
mod validate;
mod verify_install;
mod version;
mod x;

use crate::{exit::Exit, help, output::Output, program::Program};
use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

pub(crate) const ALL: &[Entry] = &[
    Entry::of::<up::Up>(),
    Entry::of::<status::Status>(),
    Entry::of::<traffic::Traffic>(),
    Entry::of::<logs::Logs>(),
    Entry::of::<down::Down>(),
    Entry::of::<up_parts::Sample>(),
    Entry::of::<up_parts::Child>(),
    Entry::of::<up_parts::Keeper>(),
    Entry::of::<install::Install>(),
    Entry::of::<install::Upgrade>(),
    Entry::of::<install::Diff>(),
    Entry::of::<uninstall::Uninstall>(),
    Entry::of::<operator::Operator>(),
    Entry::of::<reconcile::Reconcile>(),
    Entry::of::<manifest::Manifest>(),
    Entry::of::<profile::Profile>(),
    Entry::of::<verify_install::VerifyInstall>(),
    Entry::of::<tag::Tag>(),
    Entry::of::<x::X>(),
    Entry::of::<chart::ChartVerb>(),
    Entry::of::<discovery::Discovery>(),
    Entry::of::<app::App>(),
    Entry::of::<validate::Validate>(),
    Entry::of::<backbone::Generate>(),
    Entry::of::<crd::Print>(),
    Entry::of::<version::Version>(),
    Entry::of::<completion::Completion>(),
];

/// A verb as it is meant, ready to run.
pub(crate) trait Verb: Sized + 'static {
    const NAME: &'static str;
    /// Istio's short forms of it.
    const ALIASES: &'static [&'static str] = &[];
    /// One line for the list of verbs.
    const ABOUT: &'static str;
    const GROUP: Group;
    /// Whether the help passes it by.
    const HIDDEN: bool = false;
    /// Those that have it besides `mizzen`, which has all.
    const ALSO_IN: &'static [Program];
    /// What to type after the program's name (`{}` stands for that name), and what it does.
    const EXAMPLES: &'static [(&'static str, &'static str)];
    /// How it is typed.
    type Typed: Args;

    fn meant(typed: Self::Typed, program: Program) -> Result<Self>;
    fn run(self, output: &mut Output) -> Result<Exit>;
}

/// The parts of the help, in order. One without verbs is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Local,
    Install,
    /// Those that run on and on.
    Processes,
    Models,
    Binary,
}

impl Group {
    pub(crate) const ALL: &[Self] =
        &[Self::Local, Self::Install, Self::Processes, Self::Models, Self::Binary];

    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Local => "A mesh on this machine",
            Self::Install => "Istio on a cluster",
            Self::Processes => "Parts of a mesh",
            Self::Models => "Checks and models",
            Self::Binary => "This binary",
        }
    }
}

type Job = Box<dyn FnOnce(&mut Output) -> Result<Exit>>;

/// A [`Verb`] as a value, so that they fit in one list.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    aliases: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) group: Group,
    pub(crate) hidden: bool,
    pub(crate) examples: &'static [(&'static str, &'static str)],
    also_in: &'static [Program],
    typed: fn(Command) -> Command,
    job: fn(&ArgMatches, Program) -> Result<Job>,
}

impl Entry {
    const fn of<V: Verb>() -> Self {
        Self {
            name: V::NAME,
            aliases: V::ALIASES,
            about: V::ABOUT,
            group: V::GROUP,
            hidden: V::HIDDEN,
            examples: V::EXAMPLES,
            also_in: V::ALSO_IN,
            typed: V::Typed::augment_args,
            job: |matches, program| {
                let verb = V::meant(V::Typed::from_arg_matches(matches)?, program)?;
                Ok(Box::new(move |output| verb.run(output)))
            },
        }
    }

    pub(crate) fn command(&self, program: Program) -> Command {
        let command =
            Command::new(self.name).about(self.about).visible_aliases(self.aliases).hide(self.hidden);
        // A task shows its own examples.
        let tasks = |task: Command| {
            let start = format!("{} {} ", self.name, task.get_name());
            let own = self.examples.iter().filter(|(line, _)| format!("{line} ").starts_with(&start));
            let own: Vec<_> = own.copied().collect();
            task.after_help(help::examples(program, if own.is_empty() { self.examples } else { &own }))
        };
        (self.typed)(command).mut_subcommands(tasks).after_help(help::examples(program, self.examples))
    }

    pub(crate) fn job(&self, matches: &ArgMatches, program: Program) -> Result<Job> {
        (self.job)(matches, program)
    }
}

pub(crate) fn of(program: Program) -> impl Iterator<Item = &'static Entry> {
    ALL.iter().filter(move |verb| program == Program::Mizzen || verb.also_in.contains(&program))
}

pub(crate) fn named(program: Program, name: &str) -> Option<&'static Entry> {
    of(program).find(|verb| verb.name == name || verb.aliases.contains(&name))
}
