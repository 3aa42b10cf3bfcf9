//! Which application is meant, in which stack, and what it wants to be: out of its files, or out of a Spec that somebody has built.

use super::{disk::Disk, report};
use crate::{
    failure::{Hint, Usage},
    inputs::{self, Input},
};
use anyhow::{Result, bail};
use clap::Args;
use mizzen_app::{
    Built, Choice, ONLY_STACK, Spec, Whereabouts, build, given, name_of_namespace, name_of_owner,
    release::{Owner, Wanted, field_of, wanted},
};
use mizzen_cluster::ObjectId;
use mizzen_install::Refused;
use mizzen_text::{Diagnostic, Path, Place, Severity, yaml::Options};
use serde_json::Value;
use std::{collections::BTreeSet, path::PathBuf};

#[derive(Args)]
#[group(skip)]
pub(super) struct Typed {
    /// The folder of app.yaml
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(super) workdir: PathBuf,

    /// Which of the application's stacks; needed where it has several
    #[arg(long, value_name = "NAME")]
    pub(super) stack: Option<String>,

    /// The cluster's name, instead of the one that the stack names
    #[arg(long, value_name = "NAME")]
    pub(super) cluster: Option<String>,

    /// The platform's file, from here; else platform.yaml beside app.yaml, if there is one
    #[arg(long, value_name = "FILE")]
    pub(super) platform: Option<String>,

    /// The namespace of the application and of the record of its releases [default: as app.yaml says]
    #[arg(short, long, value_name = "NAME")]
    pub(super) namespace: Option<String>,

    /// The application's name, where no app.yaml says it
    #[arg(long, value_name = "NAME")]
    pub(super) app: Option<String>,
}

#[derive(Args)]
#[group(skip)]
pub(super) struct SpecTyped {
    /// A Spec that was built before, instead of the application's files; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(super) spec_file: Option<String>,
}

/// An application as it is to be.
pub(super) struct Subject {
    pub(super) owner: Owner,
    pub(super) spec: Spec,
    pub(super) wanted: Vec<Wanted>,
    pub(super) whereabouts: Whereabouts,
}

impl Subject {
    /// Where an object was written, or the field of it that a server's sentence is about.
    pub(super) fn place(&self, id: &ObjectId, message: &str) -> Option<Place> {
        let is_it = |one: &Wanted| {
            let known = &one.desired.id;
            // The namespace of what lives in none is not the server's.
            let lives = id.namespace.is_empty() || known.namespace == id.namespace;
            lives && (&known.group, &known.kind, &known.name) == (&id.group, &id.kind, &id.name)
        };
        let number = self.wanted.iter().position(is_it)?;
        let (field, on_key) = field_of(message).unwrap_or_else(|| (Path::default(), true));
        self.whereabouts.place(number, &field, on_key)
    }
}

impl Typed {
    pub(super) fn built(&self, namespace: Option<&str>, local: bool) -> Built {
        let choice = Choice {
            stack: self.stack.clone(),
            cluster: self.cluster.clone(),
            platform: self.platform.clone(),
            namespace: self.namespace.clone().or_else(|| namespace.map(str::to_owned)),
            local,
        };
        let disk = Disk { folder: self.workdir.clone(), platform: self.platform.clone() };
        build(&disk, &choice)
    }

    /// Everything about it is checked; what is doubtful is told.
    pub(super) fn subject(&self, spec: &SpecTyped) -> Result<Subject> {
        let (owner, spec, whereabouts) = match &spec.spec_file {
            Some(_) if self.cluster.is_some() || self.platform.is_some() => {
                bail!(Usage(
                    "--cluster and --platform say how files are built; a Spec is built already".into()
                ))
            }
            Some(file) => self.given(file)?,
            None if self.app.is_some() => {
                bail!(Usage("--app is for --spec-file; app.yaml says the application's name".into()))
            }
            None => {
                let built = self.built(None, false);
                let spec = acceptable(&built)?;
                let owner = Owner { app: built.app, stack: built.stack, namespace: built.namespace };
                (owner, spec, built.whereabouts)
            }
        };
        let wanted = wanted(&spec).map_err(Refused)?;
        Ok(Subject { owner, spec, wanted, whereabouts })
    }

    /// Only whose it is: its files need not be right for that.
    pub(super) fn owner(&self) -> Result<Owner> {
        if let Some(app) = &self.app {
            let stack = self.stack.clone().unwrap_or_else(|| ONLY_STACK.to_owned());
            return named(app.clone(), stack, self.namespace.clone().unwrap_or_else(|| app.clone()));
        }
        let built = self.built(None, false);
        if built.app.is_empty() {
            let errors = built.diagnostics.into_iter().filter(|one| one.severity == Severity::Error);
            bail!(Refused(
                errors
                    .map(|one| match one.hint {
                        None => one.hint("--app, --stack and -n name an application without its files"),
                        Some(_) => one,
                    })
                    .collect()
            ));
        }
        named(built.app, built.stack, built.namespace)
    }

    fn given(&self, file: &str) -> Result<(Owner, Spec, Whereabouts)> {
        if std::path::Path::new(file).is_dir() {
            bail!(
                Usage(format!("{file} is a folder"))
                    .hint("--spec-file names one file; -C names the folder of app.yaml")
            );
        }
        let source = match inputs::read(&[file.to_owned()], &Options::OWN).next() {
            Some(Input::Source(source)) => source,
            Some(Input::Unreadable(diagnostic)) => bail!(Refused(vec![*diagnostic])),
            None => bail!("{file} is empty"),
        };
        let (spec, whereabouts, diagnostics) = given(&source);
        let (wrong, doubts): (Vec<Diagnostic>, Vec<Diagnostic>) =
            diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
        report::tell(report::Form::Text, &doubts);
        if !wrong.is_empty() {
            bail!(Refused(wrong));
        }
        let said = |what: &str, label: &str, flag: &str| match only(&spec, label) {
            Some(said) => Ok(said),
            None => Err(Usage(format!("whose Spec is {file}? Its objects do not name one {what}"))
                .hint(format!("{flag} names it"))),
        };
        let app = self
            .app
            .clone()
            .map_or_else(|| said("application", "/metadata/labels/app.kubernetes.io~1name", "--app"), Ok)?;
        let stack = self
            .stack
            .clone()
            .map_or_else(|| said("stack", "/metadata/labels/app.kubernetes.io~1env", "--stack"), Ok)?;
        let namespace =
            self.namespace.clone().map_or_else(|| said("namespace", "/metadata/namespace", "-n"), Ok)?;
        Ok((named(app, stack, namespace)?, spec, whereabouts))
    }
}

/// A Spec without errors, of which no name would be refused. Warnings are told.
pub(super) fn acceptable(built: &Built) -> Result<Spec> {
    let refused =
        |warning: &&Diagnostic| built.not_for_apply.iter().all(|one| one.message != warning.message);
    let told = built.diagnostics.iter().filter(|one| one.severity != Severity::Error).filter(refused);
    report::tell(report::Form::Text, &told.cloned().collect::<Vec<_>>());
    let errors = built.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let errors: Vec<Diagnostic> = errors.chain(&built.not_for_apply).cloned().collect();
    if !errors.is_empty() {
        bail!(Refused(errors));
    }
    Ok(built.spec.clone())
}

/// What all objects say that say anything.
fn only(spec: &Spec, pointer: &str) -> Option<String> {
    let said =
        spec.resources.iter().filter_map(|one| one.attributes.pointer(pointer).and_then(Value::as_str));
    let said: BTreeSet<&str> = said.collect();
    if said.len() == 1 { said.first().map(|one| (*one).to_owned()) } else { None }
}

/// Names that can be those of a record.
fn named(app: String, stack: String, namespace: String) -> Result<Owner> {
    let verdicts = [
        ("application", &app, name_of_owner(&app)),
        ("stack", &stack, name_of_owner(&stack)),
        ("namespace", &namespace, name_of_namespace(&namespace)),
    ];
    for (what, name, verdict) in verdicts {
        if let Err(predicate) = verdict {
            let article = if what == "application" { "an" } else { "a" };
            bail!(Usage(format!("'{name}' cannot be the name of {article} {what}: it {predicate}")));
        }
    }
    Ok(Owner { app, stack, namespace })
}
