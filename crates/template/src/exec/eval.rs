//! Pipelines, commands and operands.

use super::{Run, Slot, failed};
use crate::{
    Failure, Template, Value,
    parse::{Command, Expression, ExpressionKind as Is, Pipe},
};

impl Run<'_> {
    pub(super) fn pipeline(&mut self, template: &Template, dot: &Slot, pipe: &Pipe) -> Result<Slot, Failure> {
        let mut last = None;
        for command in &pipe.commands {
            last = Some(self.command(template, dot, command, last)?.unboxed());
        }
        let slot = last.unwrap_or_default();
        for variable in &pipe.variables {
            if !pipe.assigns {
                self.variables.push(variable.number, slot.clone());
            } else if !self.variables.set(variable.number, slot.clone()) {
                let name = variable.at.of(&template.file.text);
                return Err(failed(template, variable.at, format!("undefined variable: {name}")));
            }
        }
        Ok(slot)
    }

    /// `last` is what the command before it in the pipeline gave.
    fn command(
        &mut self,
        template: &Template,
        dot: &Slot,
        command: &Command,
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        let Command { first, arguments, at: whole } = command;
        match &first.kind {
            Is::Function(callee) => {
                return self.call(template, dot, (*callee, first.at, *whole), arguments, last);
            }
            Is::Fields(names) => {
                return self.fields(template, dot, (dot.clone(), names, first.at), arguments, last);
            }
            Is::Chain(base, names) => {
                let receiver = self.chain_base(template, dot, base, first)?;
                return self.fields(template, dot, (receiver, names, first.at), arguments, last);
            }
            Is::Variable(variable, names) if !names.is_empty() => {
                let receiver = self.variable(template, *variable)?;
                return self.fields(template, dot, (receiver, names, first.at), arguments, last);
            }
            _ => {}
        }
        if !arguments.is_empty() || last.is_some() {
            let at = if let Is::Pipe(pipe) = &first.kind { pipe.at } else { first.at };
            let text = at.of(&template.file.text);
            return Err(failed(template, *whole, format!("can't give argument to non-function {text}")));
        }
        if matches!(first.kind, Is::Nil) {
            return Err(failed(template, first.at, "nil is not a command"));
        }
        self.operand(template, dot, first)
    }

    /// A value on its own: an argument.
    pub(super) fn operand(
        &mut self,
        template: &Template,
        dot: &Slot,
        expression: &Expression,
    ) -> Result<Slot, Failure> {
        let at = expression.at;
        Ok(match &expression.kind {
            Is::Dot => dot.clone(),
            Is::Nil => Slot::Nothing,
            Is::Bool(bool) => Slot::Plain(Value::Bool(*bool)),
            Is::Int(int) => Slot::Plain(Value::Int(*int)),
            Is::Float(float) => Slot::Plain(Value::Float(*float)),
            Is::Overflow => {
                let text = at.of(&template.file.text);
                return Err(failed(template, at, format!("{text} overflows int")));
            }
            Is::Text(text) => Slot::Plain(Value::text(&**text)),
            Is::Fields(names) => self.fields(template, dot, (dot.clone(), names, at), &[], None)?,
            Is::Variable(variable, names) => {
                let receiver = self.variable(template, *variable)?;
                if names.is_empty() {
                    receiver
                } else {
                    self.fields(template, dot, (receiver, names, at), &[], None)?
                }
            }
            Is::Function(callee) => self.call(template, dot, (*callee, at, at), &[], None)?,
            Is::Pipe(pipe) => {
                let nesting = self.deeper(template, at)?;
                let slot = self.pipeline(template, dot, pipe)?;
                self.budget.back_to(nesting);
                slot
            }
            Is::Chain(base, names) => {
                let receiver = self.chain_base(template, dot, base, expression)?;
                self.fields(template, dot, (receiver, names, at), &[], None)?
            }
        })
    }

    fn chain_base(
        &mut self,
        template: &Template,
        dot: &Slot,
        base: &Expression,
        chain: &Expression,
    ) -> Result<Slot, Failure> {
        if matches!(base.kind, Is::Nil) {
            let text = chain.at.of(&template.file.text);
            return Err(failed(template, chain.at, format!("indirection through explicit nil in {text}")));
        }
        self.operand(template, dot, base)
    }

    fn variable(&self, template: &Template, variable: crate::parse::Variable) -> Result<Slot, Failure> {
        self.variables.get(variable.number).cloned().ok_or_else(|| {
            let name = variable.at.of(&template.file.text);
            failed(template, variable.at, format!("undefined variable: {name}"))
        })
    }
}
