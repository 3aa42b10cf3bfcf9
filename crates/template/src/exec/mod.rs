//! Runs templates: a parsed template and a value in, text out.

mod budget;
mod call;
mod eval;
mod field;
mod host;
mod slot;
mod templates;
mod variables;
mod walk;

use std::sync::Arc;

use budget::Budget;
pub(crate) use slot::Slot;
pub use templates::Templates;
use variables::Variables;

use crate::{Failure, Functions, Limits, Memory, Printed, Template, Value, lex::Span, parse};

/// What a key is that a map does not have: Go's option `missingkey`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value, and so are its fields. Go's default.
    Invalid,
    /// The empty value of the map's type; for most maps that is nil, whose fields are an error. Helm's default.
    #[default]
    Zero,
    /// A failure: `helm lint --strict`.
    Error,
}

/// One rendering: everything that runs in it shares the limits.
pub struct Run<'t> {
    templates: &'t Templates,
    functions: &'t Functions,
    missing: MissingKey,
    budget: Budget,
    variables: Variables,
    output: String,
    /// The templates that are being run, outermost first.
    running: Vec<Arc<str>>,
    /// What `tpl` texts have defined that are being run.
    local: Vec<Templates>,
    memory: Memory,
}

impl<'t> Run<'t> {
    pub fn new(templates: &'t Templates, functions: &'t Functions, limits: &Limits) -> Self {
        Self {
            templates,
            functions,
            missing: MissingKey::default(),
            budget: Budget::new(limits),
            variables: Variables::default(),
            output: String::new(),
            running: Vec::new(),
            local: Vec::new(),
            memory: Memory::default(),
        }
    }

    #[must_use]
    pub fn missing_key(mut self, missing: MissingKey) -> Self {
        self.missing = missing;
        self
    }

    /// Runs a template. What it changes in `data` stays changed.
    pub fn render(&mut self, name: &str, data: &Value) -> Result<String, Failure> {
        let template = self.find(name)?;
        self.capture(&template, data)
    }

    /// The large documents that were printed on the way.
    pub fn into_printed(self) -> Printed {
        self.memory.into_printed()
    }

    fn find(&self, name: &str) -> Result<Arc<Template>, Failure> {
        let sets = self.local.iter().rev().chain([self.templates]);
        for set in sets.clone() {
            if let Some(template) = set.get(name) {
                return Ok(Arc::clone(template));
            }
        }
        let hint = parse::hint(name, sets.flat_map(Templates::names));
        Err(Failure::new(format!("template {name:?} not defined{hint}")))
    }

    /// Runs a template for its output alone.
    fn capture(&mut self, template: &Template, data: &Value) -> Result<String, Failure> {
        let outer = std::mem::take(&mut self.output);
        let result = self.invoke(template, &Slot::plain(data.clone()));
        let output = std::mem::replace(&mut self.output, outer);
        result.map(|()| output)
    }

    /// Runs a template into the output.
    fn invoke(&mut self, template: &Template, dot: &Slot) -> Result<(), Failure> {
        if self.running.len() >= self.budget.depth() {
            return Err(self.too_deep(template));
        }
        let nesting = self.budget.enter().map_err(|_| self.too_deep(template))?;
        self.running.push(Arc::clone(&template.name));
        let frame = self.variables.enter(template.variables, dot.clone());
        let result = self.walk(template, dot, &template.nodes);
        self.variables.leave(&frame);
        self.running.pop();
        // Whatever failed on the way has not left its own levels.
        self.budget.back_to(nesting);
        result.map(|_| ())
    }

    /// One level deeper in the same template; how deep it was before.
    fn deeper(&mut self, template: &Template, at: Span) -> Result<usize, Failure> {
        self.budget.enter().map_err(|failure| {
            let recurses = self.running.iter().filter(|name| **name == template.name).count() > 1;
            let failure = if recurses { self.too_deep(template) } else { failure };
            failure.at(template.file.place(at))
        })
    }

    fn too_deep(&self, template: &Template) -> Failure {
        let name = &template.name;
        match self.running.iter().rposition(|running| running == name) {
            Some(index) => {
                let chain: Vec<_> = self.running[index..].iter().chain([name]).map(|name| &**name).collect();
                let chain = chain.join(" → ");
                Failure::limit(format!("template {name:?} includes itself too deeply: {chain}"))
            }
            None => {
                let depth = self.running.len();
                Failure::limit(format!("template {name:?} is included deeper than {depth} levels"))
            }
        }
    }

    /// Counted against the limit, then written.
    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.budget.spend(text.len())?;
        self.output.push_str(text);
        Ok(())
    }
}

/// A failure of the template at that stretch of it.
fn failed(template: &Template, at: Span, message: impl Into<String>) -> Failure {
    Failure::new(message).at(template.file.place(at))
}
