//! What functions may ask of the rendering that they are called in.

use super::{Run, Templates};
use crate::{Failure, Host, Memory, Value};

impl Host for Run<'_> {
    fn include(&mut self, name: &str, data: &Value) -> Result<String, Failure> {
        let template = self.find(name)?;
        self.capture(&template, data)
    }

    /// As Helm has it: the text's own definitions are known only while it runs, and `<no value>` is removed.
    fn tpl(&mut self, text: &str, data: &Value) -> Result<String, Failure> {
        let output = if text.contains(crate::lex::OPEN) {
            let name = match self.running.last() {
                None => "tpl".to_owned(),
                Some(name) if name.starts_with("tpl") => name.to_string(),
                Some(name) => format!("tpl in {name}"),
            };
            let mut local = Templates::new();
            local.add(&name, text, self.functions)?;
            self.local.push(local);
            let result = self.find(&name).and_then(|template| self.capture(&template, data));
            self.local.pop();
            result?
        } else {
            self.budget.spend(text.len())?;
            text.to_owned()
        };
        Ok(if output.contains("<no value>") { output.replace("<no value>", "") } else { output })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.budget.spend(bytes)
    }

    fn depth(&self) -> usize {
        self.budget.depth()
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
