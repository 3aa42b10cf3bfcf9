//! Calls of functions: ours by slots, given ones by values.

use super::{Run, Slot};
use crate::{
    Call, Failure, Template,
    go::{self, Builtin},
    lex::Span,
    parse::{Callee, Expression},
};

impl Run<'_> {
    /// `name` is where the function's name stands, `at` the whole call.
    pub(super) fn call(
        &mut self,
        template: &Template,
        dot: &Slot,
        (callee, name, at): (Callee, Span, Span),
        arguments: &[Expression],
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        self.budget.step().map_err(|failure| failure.at(template.file.place(at)))?;
        match callee {
            Callee::Builtin(Builtin::And | Builtin::Or) if !arguments.is_empty() || last.is_some() => {
                let stops_at = matches!(callee, Callee::Builtin(Builtin::Or));
                self.logic(template, dot, stops_at, arguments, last)
            }
            Callee::Builtin(builtin) => {
                let mut slots = Vec::with_capacity(arguments.len() + 1);
                for argument in arguments {
                    slots.push(self.operand(template, dot, argument)?);
                }
                slots.extend(last);
                go::call(builtin, &slots, self)
                    .map_err(|failure| located(failure, template, builtin.name(), at))
            }
            Callee::Given(function) => {
                let mut values = Vec::with_capacity(arguments.len() + 1);
                let mut nils = 0;
                for (index, argument) in arguments.iter().enumerate() {
                    let slot = self.operand(template, dot, argument)?;
                    nils |= u64::from(index < 64 && matches!(slot, Slot::Nil)) << (index % 64);
                    values.push(slot.into_value());
                }
                values.extend(last.map(Slot::into_value));
                let name = name.of(&template.file.text);
                let result = function(&mut Call { name, args: &values, nils, host: self });
                result.map(Slot::result).map_err(|failure| located(failure, template, name, at))
            }
        }
    }

    /// `and` and `or`: arguments behind the one that decides are not looked at.
    fn logic(
        &mut self,
        template: &Template,
        dot: &Slot,
        stops_at: bool,
        arguments: &[Expression],
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        let mut slot = Slot::Nothing;
        for argument in arguments {
            slot = self.operand(template, dot, argument)?;
            if slot.is_true() == stops_at {
                return Ok(slot);
            }
        }
        Ok(last.unwrap_or(slot))
    }
}

/// `fail` and `required` are how a chart speaks to its user: their words stand alone. Other functions are named.
fn located(mut failure: Failure, template: &Template, name: &str, at: Span) -> Failure {
    let mut place = template.file.place(at);
    if failure.places.is_empty() && !failure.limit {
        match name {
            "fail" | "required" => place.context.clear(),
            _ if failure.refuses_arguments() => {}
            _ => failure.message = format!("error calling {name}: {}", failure.message),
        }
    }
    failure.at(place)
}
