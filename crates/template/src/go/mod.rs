//! The functions that Go's text/template brings along, and how Go prints values.

mod compare;
mod escape;
mod index;
mod print;

pub(crate) use print::{is_printable, print_all, print_line, print_value, printf, quote};

use crate::{Call, Failure, Host, Value, exec::Slot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    And,
    Call,
    Eq,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    Urlquery,
}

impl Builtin {
    pub(crate) const NAMES: &[(&'static str, Self)] = &[
        ("and", Self::And),
        ("call", Self::Call),
        ("eq", Self::Eq),
        ("ge", Self::Ge),
        ("gt", Self::Gt),
        ("html", Self::Html),
        ("index", Self::Index),
        ("js", Self::Js),
        ("le", Self::Le),
        ("len", Self::Len),
        ("lt", Self::Lt),
        ("ne", Self::Ne),
        ("not", Self::Not),
        ("or", Self::Or),
        ("print", Self::Print),
        ("printf", Self::Printf),
        ("println", Self::Println),
        ("slice", Self::Slice),
        ("urlquery", Self::Urlquery),
    ];

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, builtin)| *builtin)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, builtin)| *builtin == self).map_or("", |(name, _)| name)
    }

    /// How many arguments it takes.
    fn arity(self) -> (usize, usize) {
        match self {
            Self::Print | Self::Println | Self::Html | Self::Js | Self::Urlquery => (0, usize::MAX),
            Self::And | Self::Or | Self::Call | Self::Eq | Self::Index | Self::Slice | Self::Printf => {
                (1, usize::MAX)
            }
            Self::Not | Self::Len => (1, 1),
            Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => (2, 2),
        }
    }
}

/// Every builtin but `and` and `or`, which do not look at all of their arguments.
pub(crate) fn call(builtin: Builtin, slots: &[Slot], host: &mut dyn Host) -> Result<Slot, Failure> {
    let (least, most) = builtin.arity();
    let name = builtin.name();
    Call { name, args: &vec![Value::Nil; slots.len()], nils: 0, host }.between(least, most)?;
    let bool = |result: Result<bool, Failure>| result.map(|bool| Slot::Plain(Value::Bool(bool)));
    let (first, rest) = slots.split_first().unwrap_or((&Slot::Nothing, &[]));
    let second = rest.first().unwrap_or(&Slot::Nothing);
    match builtin {
        Builtin::Eq => bool(compare::equal_any(first, rest, host)),
        Builtin::Ne => bool(compare::equal_any(first, rest, host).map(|equal| !equal)),
        Builtin::Lt => bool(compare::less(first, second)),
        Builtin::Ge => bool(compare::less(first, second).map(|less| !less)),
        Builtin::Le => bool(compare::less_or_equal(first, second)),
        Builtin::Gt => bool(compare::less_or_equal(first, second).map(|less| !less)),
        Builtin::Not => Ok(Slot::Plain(Value::Bool(!first.is_true()))),
        Builtin::And | Builtin::Or => Ok(first.clone()),
        Builtin::Call => Err(Failure::new(match first.value() {
            None => "call of nil".to_owned(),
            Some(value) => format!("non-function of type {}", value.type_name()),
        })),
        Builtin::Len => index::length(first),
        Builtin::Index => index::index(first, rest),
        Builtin::Slice => index::slice(first, rest),
        Builtin::Print => text(print_all(&values(slots), host)),
        Builtin::Println => text(print_line(&values(slots), host)),
        Builtin::Printf => match first {
            Slot::Plain(Value::Text(format)) | Slot::Boxed(Value::Text(format)) => {
                text(printf(format, &values(rest), host))
            }
            Slot::Nothing => Err(Failure::new("invalid value; expected string")),
            Slot::Nil => Err(Failure::new("wrong type for value; expected string; got interface {}")),
            Slot::Plain(other) | Slot::Boxed(other) => {
                let kind = other.type_name();
                Err(Failure::new(format!("wrong type for value; expected string; got {kind}")))
            }
        },
        Builtin::Html => escaped(slots, host, escape::html),
        Builtin::Js => escaped(slots, host, escape::js),
        Builtin::Urlquery => escaped(slots, host, escape::url_query),
    }
}

fn values(slots: &[Slot]) -> Vec<Value> {
    slots.iter().cloned().map(Slot::into_value).collect()
}

/// Printed as an action would print it, then escaped.
fn escaped(slots: &[Slot], host: &mut dyn Host, escape: fn(&str) -> String) -> Result<Slot, Failure> {
    let shown = |slot: &Slot| slot.value().cloned().unwrap_or_else(|| Value::text("<no value>"));
    let values: Vec<_> = slots.iter().map(shown).collect();
    text(print_all(&values, host).map(|text| escape(&text)))
}

fn text(text: Result<String, Failure>) -> Result<Slot, Failure> {
    text.map(|text| Slot::Plain(Value::text(text)))
}
