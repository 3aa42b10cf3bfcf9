//! The nodes of a template, one after another.

use super::{Run, Slot, failed};
use crate::{
    Failure, Template, Value, go,
    parse::{Branch, Invocation, Node, Pipe, Range},
};

/// How a list of nodes ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Through,
    Break,
    Continue,
}

impl Run<'_> {
    pub(super) fn walk(&mut self, template: &Template, dot: &Slot, nodes: &[Node]) -> Result<Flow, Failure> {
        for node in nodes {
            self.budget.step().map_err(|failure| failure.at(template.file.place(node.at())))?;
            let flow = match node {
                Node::Text(span) => {
                    self.write(span.of(&template.file.text))
                        .map_err(|failure| failure.at(template.file.place(node.at())))?;
                    Flow::Through
                }
                Node::Action(pipe) => self.action(template, dot, pipe)?,
                Node::If(branch) => self.branch(template, dot, branch, false)?,
                Node::With(branch) => self.branch(template, dot, branch, true)?,
                Node::Range(range) => self.range(template, dot, range)?,
                Node::Template(invocation) => self.invocation(template, dot, invocation)?,
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::Through {
                return Ok(flow);
            }
        }
        Ok(Flow::Through)
    }

    fn action(&mut self, template: &Template, dot: &Slot, pipe: &Pipe) -> Result<Flow, Failure> {
        let slot = self.pipeline(template, dot, pipe)?;
        if pipe.variables.is_empty() {
            let written = match slot.value() {
                Some(Value::Text(text)) => self.write(text),
                // Counted already.
                Some(value) => go::print_value(value, self).map(|text| self.output.push_str(&text)),
                None => self.write("<no value>"),
            };
            written.map_err(|failure| failure.at(template.file.place(pipe.at)))?;
        }
        Ok(Flow::Through)
    }

    fn branch(
        &mut self,
        template: &Template,
        dot: &Slot,
        branch: &Branch,
        sets_dot: bool,
    ) -> Result<Flow, Failure> {
        let at = branch.arms.first().map(|(pipe, _)| pipe.at).unwrap_or_default();
        let nesting = self.deeper(template, at)?;
        let mark = self.variables.mark();
        let mut result = None;
        for (pipe, nodes) in &branch.arms {
            let slot = self.pipeline(template, dot, pipe)?;
            if slot.is_true() {
                let inner = if sets_dot { &slot } else { dot };
                result = Some(self.walk(template, inner, nodes)?);
                break;
            }
        }
        let flow = match result {
            Some(flow) => flow,
            None => self.walk(template, dot, &branch.otherwise)?,
        };
        self.variables.forget(mark);
        self.budget.back_to(nesting);
        Ok(flow)
    }

    fn range(&mut self, template: &Template, dot: &Slot, range: &Range) -> Result<Flow, Failure> {
        let nesting = self.deeper(template, range.pipe.at)?;
        let mark = self.variables.mark();
        let slot = self.pipeline(template, dot, &range.pipe)?;
        let flow = if self.turns(template, range, &slot)? {
            Flow::Through
        } else {
            // A `break` there leaves this range, a `continue` goes on with the one around it: Go's doing.
            match self.walk(template, dot, &range.otherwise)? {
                Flow::Break => Flow::Through,
                flow => flow,
            }
        };
        self.variables.forget(mark);
        self.budget.back_to(nesting);
        Ok(flow)
    }

    /// Whether there was anything to go through.
    fn turns(&mut self, template: &Template, range: &Range, slot: &Slot) -> Result<bool, Failure> {
        let plain;
        let value = match slot.value() {
            None => return Ok(false),
            Some(Value::Object(object)) => {
                plain = object.plain();
                &plain
            }
            Some(value) => value,
        };
        match value {
            Value::List(list) => {
                let boxes = list.elements() == crate::Elements::Any;
                for (index, item) in list.iter().enumerate() {
                    let index = Slot::Plain(Value::Int(i64::try_from(index).unwrap_or(i64::MAX)));
                    let item = if boxes { Slot::boxed(item.clone()) } else { Slot::plain(item.clone()) };
                    if !self.turn(template, range, index, &item)? {
                        break;
                    }
                }
                Ok(!list.is_empty())
            }
            Value::Map(map) => {
                let boxes = map.elements() == crate::Elements::Any;
                let entries = map.entries();
                let any = !entries.is_empty();
                for (key, item) in entries {
                    let item = if boxes { Slot::boxed(item) } else { Slot::plain(item) };
                    if !self.turn(template, range, Slot::Plain(Value::Text(key)), &item)? {
                        break;
                    }
                }
                Ok(any)
            }
            Value::Int(count) | Value::Int64(count) => {
                if range.pipe.variables.len() > 1 {
                    let message = format!("can't use {count} to iterate over more than one variable");
                    return Err(failed(template, range.pipe.at, message));
                }
                for number in 0..*count {
                    let number = match value {
                        Value::Int64(_) => Value::Int64(number),
                        _ => Value::Int(number),
                    };
                    if !self.turn(template, range, Slot::Nothing, &Slot::Plain(number))? {
                        break;
                    }
                }
                Ok(*count > 0)
            }
            other => {
                let text = go::print_value(other, self)?;
                Err(failed(template, range.pipe.at, format!("range can't iterate over {text}")))
            }
        }
    }

    /// One turn; whether there may be another.
    fn turn(
        &mut self,
        template: &Template,
        range: &Range,
        index: Slot,
        item: &Slot,
    ) -> Result<bool, Failure> {
        self.budget.step().map_err(|failure| failure.at(template.file.place(range.pipe.at)))?;
        let mark = self.variables.mark();
        let variables = &range.pipe.variables;
        if range.pipe.assigns {
            match variables[..] {
                [only] => drop(self.variables.set(only.number, item.clone())),
                [first, second] => {
                    self.variables.set(first.number, index);
                    self.variables.set(second.number, item.clone());
                }
                _ => {}
            }
        } else {
            if !variables.is_empty() {
                self.variables.set_top(mark, 1, item.clone());
            }
            if variables.len() > 1 {
                self.variables.set_top(mark, 2, index);
            }
        }
        let flow = self.walk(template, item, &range.body)?;
        self.variables.forget(mark);
        Ok(flow != Flow::Break)
    }

    fn invocation(
        &mut self,
        template: &Template,
        dot: &Slot,
        invocation: &Invocation,
    ) -> Result<Flow, Failure> {
        let place = |failure: Failure| failure.at(template.file.place(invocation.at));
        let inner = self.find(&invocation.name).map_err(place)?;
        let dot = match &invocation.pipe {
            Some(pipe) => self.pipeline(template, dot, pipe)?,
            None => Slot::Nothing,
        };
        self.invoke(&inner, &dot).map_err(place)?;
        Ok(Flow::Through)
    }
}
