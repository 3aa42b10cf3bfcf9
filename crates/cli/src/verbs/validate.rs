//! `validate`: would Istio take these objects? Nothing outside the files is asked: the CRDs' rules and the webhook's
//! are in the binary.

use super::{Group, Verb};
use crate::{
    args::cluster,
    diagnostics::sentence,
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::{Closed, Output},
    program::Program,
};
use anyhow::{Result, bail};
use clap::ValueEnum;
use mizzen_check::{Checked, Finding, Outcome};
use mizzen_install::validation;
use mizzen_text::{
    Code, Diagnostic, Object, Path, Place, Severity, Source, Step, nearest, to_sarif,
    yaml::{self, Document, Options},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

/// The one kind of the installer's group, and its one version.
const KIND: &str = "IstioOperator";
const VERSION: &str = "v1alpha1";

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// A file, a folder with .yaml, .yml and .json files, or - for standard input; may be given several times
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,

    /// The same as -f
    #[arg(value_name = "FILE")]
    files: Vec<String>,

    /// The namespace of objects that name none
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    namespace: String,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Form,

    /// Also say which objects are not Istio's and were passed by
    #[arg(short, long)]
    verbose: bool,

    /// istioctl's: where Istio is installed; nothing depends on it here
    #[arg(short = 'i', long = "istioNamespace", hide = true, value_name = "NAME")]
    istio_namespace: Option<String>,

    #[command(flatten)]
    cluster: cluster::Typed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
    Sarif,
}

pub(crate) struct Validate {
    files: Vec<String>,
    namespace: String,
    form: Form,
    verbose: bool,
}

impl Verb for Validate {
    const NAME: &'static str = "validate";
    const ALIASES: &'static [&'static str] = &["v"];
    const ABOUT: &'static str = "Check Istio objects and IstioOperator files, without a cluster";
    const GROUP: Group = Group::Models;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("validate -f bookinfo-gateway.yaml", "One file"),
        ("validate -f mesh/ -o sarif > mesh.sarif", "All files of a folder, for a code scanning page"),
        ("validate -f -", "What another program prints, such as `kubectl get virtualservices -A -o yaml`"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Typed { mut filename, files, namespace, output, verbose, istio_namespace: _, cluster: _ } = typed;
        filename.extend(files);
        if filename.is_empty() {
            bail!(Usage("nothing to validate".into()).hint("name a file, a folder, or - for standard input"));
        }
        Ok(Self { files: filename, namespace, form: output, verbose })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let mut report = Report { form: self.form, diagnostics: Vec::new(), summary: Summary::default() };
        for input in inputs::read(&self.files, &Options::KUBERNETES) {
            match input {
                Input::Source(source) => self.check(&source, &mut report, output)?,
                Input::Unreadable(diagnostic) => report.add(*diagnostic, output)?,
            }
        }
        report.print(output)?;
        Ok(if report.summary.errors == 0 { Exit::Done } else { Exit::Problem })
    }
}

impl Validate {
    fn check(&self, source: &Source, report: &mut Report, output: &mut Output) -> Result<(), Closed> {
        report.summary.files += 1;
        for document in yaml::load_all(source, &Options::KUBERNETES) {
            match document {
                Err(diagnostic) => report.add(*diagnostic, output)?,
                Ok(mut document) => {
                    for warning in std::mem::take(&mut document.warnings) {
                        report.add(warning, output)?;
                    }
                    for checked in mizzen_check::document(&document.value, &self.namespace) {
                        self.tell(&document, &checked, report, output)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn tell(
        &self,
        document: &Document,
        checked: &Checked<'_>,
        report: &mut Report,
        output: &mut Output,
    ) -> Result<(), Closed> {
        let object = Object {
            kind: checked.kind.to_owned(),
            namespace: checked.namespace.map(str::to_owned),
            name: checked.name.to_owned(),
        };
        let findings = match &checked.outcome {
            Outcome::PassedBy(_) if let Some(version) = installers(at(&document.value, &checked.at)) => {
                return tell_operator(document, checked, version, &object, report, output);
            }
            Outcome::PassedBy(reason) => {
                report.summary.passed_by += 1;
                if self.verbose {
                    let diagnostic = Diagnostic::new(Code::PassedBy, format!("passed by: {reason}"));
                    let place = document.place(&checked.at);
                    report.add(diagnostic.at(place).path(checked.at.clone()).object(object), output)?;
                }
                return Ok(());
            }
            Outcome::Findings(findings) => findings,
        };
        report.summary.objects += 1;
        report.summary.refused += usize::from(!findings.accepted());
        for finding in findings.iter() {
            let mut diagnostic = Diagnostic::new(finding.code, sentence(&finding.message, &finding.path))
                .severity(finding.severity)
                .at(place(document, finding))
                .path(finding.path.clone())
                .object(object.clone());
            diagnostic.hint.clone_from(&finding.hint);
            report.add(diagnostic, output)?;
        }
        Ok(())
    }
}

/// The version, where an object is of the installer's own group: no cluster has it, but `install` and `manifest` read it.
fn installers(object: &Value) -> Option<&str> {
    object["apiVersion"].as_str()?.strip_prefix("install.istio.io/")
}

fn at<'v>(document: &'v Value, path: &Path) -> &'v Value {
    path.0.iter().fold(document, |here, step| match step {
        Step::Field(name) => &here[name],
        Step::Index(index) => &here[*index],
    })
}

fn tell_operator(
    document: &Document,
    checked: &Checked<'_>,
    version: &str,
    object: &Object,
    report: &mut Report,
    output: &mut Output,
) -> Result<(), Closed> {
    let below = |path: &Path| Path(checked.at.0.iter().chain(&path.0).cloned().collect());
    let field = |name: &str| Path(vec![Step::Field(name.to_owned())]);
    let mut told = Vec::new();
    if checked.kind == KIND {
        let found = validation::check(at(&document.value, &checked.at));
        told.extend(found.errors.into_iter().map(|finding| (Code::Invalid, finding)));
        told.extend(found.warnings.into_iter().map(|finding| (Code::Doubtful, finding)));
        if version != VERSION {
            let message = format!("there is no version `{version}` of IstioOperator");
            let hint = Some(format!("write `install.istio.io/{VERSION}`"));
            told.push((Code::Doubtful, validation::Finding { path: field("apiVersion"), message, hint }));
        }
    } else {
        let message = format!("`install.istio.io` has no kind `{}`", checked.kind);
        let hint = match nearest(checked.kind, [KIND]) {
            Some(_) => format!("did you mean `{KIND}`?"),
            None => format!("it has only `{KIND}`"),
        };
        told.push((Code::Invalid, validation::Finding { path: field("kind"), message, hint: Some(hint) }));
    }
    report.summary.objects += 1;
    report.summary.refused += usize::from(told.iter().any(|(code, _)| *code == Code::Invalid));
    for (code, finding) in told {
        let path = below(&finding.path);
        let place = document.key_place(&path);
        let message = sentence(&finding.message, &finding.path);
        let mut diagnostic = Diagnostic::new(code, message).at(place).path(path).object(object.clone());
        diagnostic.hint = finding.hint;
        report.add(diagnostic, output)?;
    }
    Ok(())
}

/// A field that should not be there is shown by its name, any other by its value.
fn place(document: &Document, finding: &Finding) -> Place {
    match finding.code {
        Code::UnknownField => document.key_place(&finding.path),
        _ => document.place(&finding.path),
    }
}

/// As JSON and SARIF everything is kept until the end, and memory is not endless.
const MOST: usize = 10_000;

/// What is printed: as text at once, in the other forms when everything is known.
struct Report {
    form: Form,
    diagnostics: Vec<Diagnostic>,
    summary: Summary,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    files: usize,
    /// Istio's.
    objects: usize,
    refused: usize,
    errors: usize,
    warnings: usize,
    passed_by: usize,
    /// Problems that are counted, but too many to be kept.
    not_shown: usize,
}

impl Report {
    fn add(&mut self, diagnostic: Diagnostic, output: &mut Output) -> Result<(), Closed> {
        match diagnostic.severity {
            Severity::Error => self.summary.errors += 1,
            Severity::Warning => self.summary.warnings += 1,
            Severity::Info => {}
        }
        if self.form == Form::Text {
            output.text(&format!("{}\n", diagnostic.for_people(true)))
        } else {
            // Errors are counted apart: warnings must not take their place.
            let counted = match diagnostic.severity {
                Severity::Error => self.summary.errors,
                Severity::Warning | Severity::Info => self.diagnostics.len(),
            };
            if counted <= MOST {
                self.diagnostics.push(diagnostic);
            } else {
                self.summary.not_shown += 1;
            }
            Ok(())
        }
    }

    fn print(&self, output: &mut Output) -> Result<(), Closed> {
        let diagnostics: Vec<_> = self.diagnostics.iter().map(Diagnostic::to_json).collect();
        match self.form {
            Form::Text => output.text(&format!("{}\n", self.summary)),
            Form::Json => output.json(&json!({"diagnostics": diagnostics, "summary": self.summary})),
            Form::Sarif => {
                let mut sarif = to_sarif(&self.diagnostics);
                if self.summary.not_shown > 0 {
                    let text = format!("{} more problems are not shown", self.summary.not_shown);
                    let notifications = json!([{"level": "warning", "message": {"text": text}}]);
                    sarif["runs"][0]["invocations"] =
                        json!([{"executionSuccessful": true, "toolExecutionNotifications": notifications}]);
                }
                output.json(&sarif)
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} in {}", count(self.objects, "Istio object"), count(self.files, "file"))?;
        match (self.errors, self.warnings) {
            (0, 0) => write!(out, ": valid")?,
            (0, warnings) => write!(out, ": valid, with {}", count(warnings, "warning"))?,
            (errors, 0) => write!(out, ": {} refused, {}", self.refused, count(errors, "error"))?,
            (errors, warnings) => {
                write!(
                    out,
                    ": {} refused, {} and {}",
                    self.refused,
                    count(errors, "error"),
                    count(warnings, "warning")
                )?;
            }
        }
        if self.passed_by > 0 {
            write!(out, "; passed by: {}", count(self.passed_by, "other object"))?;
        }
        Ok(())
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
