//! Fields: entries of maps, fields and methods of objects.

use super::{MissingKey, Run, Slot, failed};
use crate::{Elements, Failure, Map, Template, Value, lex::Span, parse::Expression};

impl Run<'_> {
    /// `.a.b.c` of a receiver. Only the last name can be a method with arguments.
    pub(super) fn fields(
        &mut self,
        template: &Template,
        dot: &Slot,
        (receiver, names, at): (Slot, &[Span], Span),
        arguments: &[Expression],
        last: Option<Slot>,
    ) -> Result<Slot, Failure> {
        let Some((&final_name, names)) = names.split_last() else {
            return Ok(receiver);
        };
        let mut receiver = receiver;
        for &name in names {
            receiver = self.field(template, &receiver, (name, at), Arguments::None)?;
        }
        if arguments.is_empty() && last.is_none() {
            return self.field(template, &receiver, (final_name, at), Arguments::None);
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        if matches!(receiver.value(), Some(Value::Object(_))) {
            for argument in arguments {
                values.push(self.operand(template, dot, argument)?.into_value());
            }
            values.extend(last.map(Slot::into_value));
        }
        self.field(template, &receiver, (final_name, at), Arguments::Some(&values))
    }

    fn field(
        &mut self,
        template: &Template,
        receiver: &Slot,
        (name, at): (Span, Span),
        arguments: Arguments<'_>,
    ) -> Result<Slot, Failure> {
        let name = name.of(&template.file.text);
        let refuse = |message: String| Err(failed(template, at, message));
        match receiver {
            Slot::Nothing if self.missing == MissingKey::Error => {
                refuse(format!("nil data; no entry for key {name:?}"))
            }
            Slot::Nothing => Ok(Slot::Nothing),
            Slot::Nil => refuse(format!("nil pointer evaluating interface {{}}.{name}")),
            Slot::Plain(Value::Map(map)) | Slot::Boxed(Value::Map(map)) => {
                if let Arguments::Some(_) = arguments {
                    return refuse(format!("{name} is not a method but has arguments"));
                }
                match self.entry(map, name) {
                    Some(slot) => Ok(slot),
                    None => refuse(format!("map has no entry for key {name:?}")),
                }
            }
            Slot::Plain(Value::Object(object)) | Slot::Boxed(Value::Object(object)) => {
                let values = match arguments {
                    Arguments::None => &[],
                    Arguments::Some(values) => values,
                };
                match object.field(name, values) {
                    Ok(Some(value)) => Ok(Slot::result(value)),
                    Ok(None) => {
                        refuse(format!("can't evaluate field {name} in type {}", receiver.type_name()))
                    }
                    Err(failure) => Err(failure.at(template.file.place(at))),
                }
            }
            Slot::Plain(_) | Slot::Boxed(_) => {
                refuse(format!("can't evaluate field {name} in type {}", receiver.type_name()))
            }
        }
    }

    /// None where a missing key is an error.
    fn entry(&self, map: &Map, key: &str) -> Option<Slot> {
        match (map.get(key), map.elements(), self.missing) {
            (Some(value), Elements::Any, _) => Some(Slot::boxed(value)),
            (Some(value), _, _) => Some(Slot::plain(value)),
            (None, _, MissingKey::Error) => None,
            (None, _, MissingKey::Invalid) => Some(Slot::Nothing),
            (None, Elements::Any, MissingKey::Zero) => Some(Slot::Nil),
            (None, _, MissingKey::Zero) => Some(Slot::Plain(Value::text(""))),
        }
    }
}

#[derive(Clone, Copy)]
enum Arguments<'a> {
    None,
    Some(&'a [Value]),
}
