//! Pipelines, commands and operands.

use super::{Run, Slot, failed};
use crate::{
    Failure, Template, Value,
    lex::Span,
    parse::{Command, Expression, ExpressionKind as Is, Pipe, Variable},
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
    ///
    /// Here and in [`Self::operand`] every arm is a call: the frames of these two are on the stack for each parenthesis.
    fn command(
        &mut self,
        template: &Template,
        dot: &Slot,
        command: &Command,
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        let Command { first, arguments, at } = command;
        let takes_arguments = match &first.kind {
            Is::Function(_) | Is::Fields(_) | Is::Chain(..) => true,
            Is::Variable(_, names) => !names.is_empty(),
            _ => false,
        };
        if takes_arguments {
            return self.word(template, dot, (first, *at), arguments, last);
        }
        if !arguments.is_empty() || last.is_some() {
            return no_function(template, command);
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
        match &expression.kind {
            Is::Dot => Ok(dot.clone()),
            Is::Nil => Ok(Slot::Nothing),
            Is::Bool(_) | Is::Int(_) | Is::Float(_) | Is::Text(_) | Is::Overflow => {
                constant(template, expression)
            }
            Is::Variable(variable, names) if names.is_empty() => self.variable(template, *variable),
            Is::Fields(_) | Is::Variable(..) | Is::Function(_) | Is::Chain(..) => {
                self.word(template, dot, (expression, expression.at), &[], None)
            }
            Is::Pipe(pipe) => self.parenthesis(template, dot, pipe, expression.at),
        }
    }

    fn parenthesis(
        &mut self,
        template: &Template,
        dot: &Slot,
        pipe: &Pipe,
        at: Span,
    ) -> Result<Slot, Failure> {
        let nesting = self.deeper(template, at)?;
        let result = self.pipeline(template, dot, pipe);
        self.budget.back_to(nesting);
        result
    }

    /// What can have arguments: a function, or a field that may be a method. `at` is the whole of it.
    fn word(
        &mut self,
        template: &Template,
        dot: &Slot,
        (word, at): (&Expression, Span),
        arguments: &[Expression],
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        let (receiver, names) = match &word.kind {
            Is::Function(callee) => {
                return self.call(template, dot, (*callee, word.at, at), arguments, last);
            }
            Is::Fields(names) => (dot.clone(), names),
            Is::Variable(variable, names) => (self.variable(template, *variable)?, names),
            Is::Chain(base, names) => (self.chain_base(template, dot, base, word)?, names),
            _ => return self.operand(template, dot, word),
        };
        self.fields(template, dot, (receiver, names, word.at), arguments, last)
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

    fn variable(&self, template: &Template, variable: Variable) -> Result<Slot, Failure> {
        self.variables.get(variable.number).cloned().ok_or_else(|| {
            let name = variable.at.of(&template.file.text);
            failed(template, variable.at, format!("undefined variable: {name}"))
        })
    }
}

fn constant(template: &Template, expression: &Expression) -> Result<Slot, Failure> {
    Ok(Slot::Plain(match &expression.kind {
        Is::Bool(bool) => Value::Bool(*bool),
        Is::Int(int) => Value::Int(*int),
        Is::Float(float) => Value::Float(*float),
        Is::Text(text) => Value::text(&**text),
        _ => {
            let text = expression.at.of(&template.file.text);
            return Err(failed(template, expression.at, format!("{text} overflows int")));
        }
    }))
}

fn no_function(template: &Template, command: &Command) -> Result<Slot, Failure> {
    let first = &command.first;
    let at = if let Is::Pipe(pipe) = &first.kind { pipe.at } else { first.at };
    let text = at.of(&template.file.text);
    Err(failed(template, command.at, format!("can't give argument to non-function {text}")))
}
