//! Rules in CEL as lines of a `check`, where KCL can say them; where it cannot, the rule stands there as a comment.
//!
//! A field that is not there ends a CEL expression with an error, which refuses the value; in KCL it is `Undefined` and
//! can be compared. So every comparison asks first whether what it compares is there.

use super::value::{escaped, identifier, literal, raw};
use crate::{
    cel::{Expr, Operator, parse},
    schema::{Additional, Kind, Rule, Schema},
};
use serde_json::Value;

/// What `self` is.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The attribute or variable that holds it; none for the schema whose check it is.
    named: Option<&'a str>,
}

/// Of the rules of a block itself.
pub(super) fn own_lines(schema: &Schema) -> Vec<String> {
    rules(schema, Place { named: None }, "", "")
}

/// Of the rules of an attribute, and of those in it that have no schema of their own.
pub(super) fn lines(schema: &Schema, name: &str, required: bool) -> Vec<String> {
    let guard = if required { String::new() } else { format!(" if {}", there(name)) };
    let mut lines = Vec::new();
    if !schema.is_block() {
        lines.extend(rules(schema, Place { named: Some(name) }, "", &guard));
    }
    lines.extend(within(schema, name, 1, "", &format!(" if {}", there(name))));
    lines
}

fn within(schema: &Schema, name: &str, depth: usize, before: &str, behind: &str) -> Vec<String> {
    let variable = "_i".repeat(depth);
    let (each, inner) = match (&schema.items, &schema.additional) {
        (Some(items), _) if schema.kind == Kind::Array => {
            (format!("{before}all {variable} in {name} {{ "), items)
        }
        (_, Additional::Like(value)) if !schema.is_block() => {
            (format!("{before}all _, {variable} in {name} {{ "), value)
        }
        _ => return Vec::new(),
    };
    if inner.is_block() {
        return Vec::new();
    }
    let end = format!(" }}{behind}");
    let mut lines = rules(inner, Place { named: Some(&variable) }, &each, &end);
    let nested = format!(" if {}{end}", there(&variable));
    lines.extend(within(inner, &variable, depth + 1, &each, &nested));
    lines
}

fn rules(schema: &Schema, place: Place<'_>, before: &str, behind: &str) -> Vec<String> {
    schema.rules.iter().map(|rule| line(rule, schema, place, before, behind)).collect()
}

fn line(rule: &Rule, schema: &Schema, place: Place<'_>, before: &str, behind: &str) -> String {
    let told = rule.message.as_deref().unwrap_or(&rule.text).trim();
    let said = parse(&rule.text).and_then(|expr| Said { place, schema, bound: Vec::new() }.expr(&expr));
    match said {
        Some(said) => format!("{before}{said}{behind}, {}", escaped(&told.replace('\n', " "))),
        None => format!("# KCL cannot say: {}", rule.text.replace(['\n', '\r'], " ")),
    }
}

/// Whether a value is given.
pub(super) fn there(name: &str) -> String {
    format!("{name} not in [None, Undefined]")
}

struct Said<'a> {
    place: Place<'a>,
    schema: &'a Schema,
    /// The variables of the macros around.
    bound: Vec<String>,
}

impl Said<'_> {
    fn expr(&mut self, expr: &Expr) -> Option<String> {
        Some(match expr {
            Expr::Literal(value) => literal(value, false),
            Expr::Name(name) => self.name(name)?,
            Expr::Select(of, field) => self.select(of, field)?,
            Expr::Has(of, field) => format!("({})", there(&self.select(of, field)?)),
            Expr::Index(of, at) => format!("{}[{}]", self.expr(of)?, self.expr(at)?),
            Expr::List(items) => format!("[{}]", self.all(items)?.join(", ")),
            Expr::Map(entries) => {
                let entries: Option<Vec<_>> = entries
                    .iter()
                    .map(|(key, value)| Some(format!("{}: {}", self.expr(key)?, self.expr(value)?)))
                    .collect();
                format!("{{{}}}", entries?.join(", "))
            }
            Expr::Not(inner) => format!("(not {})", self.expr(inner)?),
            Expr::Minus(inner) => format!("(-{})", self.expr(inner)?),
            Expr::Choice(condition, yes, no) => {
                format!("({} if {} else {})", self.expr(yes)?, self.expr(condition)?, self.expr(no)?)
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Expr::Call { on, name, arguments } => self.call(on.as_deref(), name, arguments)?,
        })
    }

    fn all(&mut self, items: &[Expr]) -> Option<Vec<String>> {
        items.iter().map(|item| self.expr(item)).collect()
    }

    fn name(&self, name: &str) -> Option<String> {
        match name {
            "self" => self.place.named.map(str::to_owned),
            _ if self.bound.iter().any(|bound| bound == name) => Some(format!("_{name}")),
            _ => None,
        }
    }

    fn select(&mut self, of: &Expr, field: &str) -> Option<String> {
        let field = identifier(field, false);
        if field.starts_with('"') {
            return None;
        }
        match of {
            Expr::Name(name) if name == "self" && self.place.named.is_none() => Some(field),
            of => Some(format!("{}?.{field}", self.expr(of)?)),
        }
    }

    fn binary(&mut self, operator: Operator, left: &Expr, right: &Expr) -> Option<String> {
        let (one, other) = (self.expr(left)?, self.expr(right)?);
        let sign = match operator {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::In => "in",
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Over => "/",
            Operator::Modulo => "%",
        };
        let said = format!("{one} {sign} {other}");
        if !operator.compares() {
            return Some(format!("({said})"));
        }
        let mut needed = Vec::new();
        for side in [left, right] {
            self.needed(side, &mut needed)?;
        }
        let needed: Vec<String> = needed.iter().map(|name| format!("{} and ", there(name))).collect();
        Some(format!("({}{said})", needed.concat()))
    }

    /// The fields that must be there for an expression to have a value.
    fn needed(&mut self, expr: &Expr, needed: &mut Vec<String>) -> Option<()> {
        match expr {
            Expr::Select(of, field) => {
                self.needed(of, needed)?;
                if !matches!(&**of, Expr::Name(name) if name == "self" && self.schema.is_required(field)) {
                    let name = self.select(of, field)?;
                    needed.push(name);
                }
            }
            Expr::Call { on: Some(on), name, .. } if !BINDING.contains(&name.as_str()) => {
                self.needed(on, needed)?;
            }
            Expr::Call { on: None, arguments, .. } => {
                for argument in arguments {
                    self.needed(argument, needed)?;
                }
            }
            Expr::Binary(_, left, right) => {
                self.needed(left, needed)?;
                self.needed(right, needed)?;
            }
            Expr::Minus(inner) => self.needed(inner, needed)?,
            _ => {}
        }
        Some(())
    }

    fn call(&mut self, on: Option<&Expr>, name: &str, arguments: &[Expr]) -> Option<String> {
        if let (Some(on), true, [Expr::Name(variable), body]) = (on, BINDING.contains(&name), arguments) {
            let of = self.expr(on)?;
            self.bound.push(variable.clone());
            let body = self.expr(body);
            self.bound.pop();
            let body = body?;
            // A quantifier is about something that has a name.
            let is_name = of.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
            return Some(match name {
                "all" if !is_name => format!("all_true([{body} for _{variable} in {of}])"),
                "exists" if !is_name => format!("any_true([{body} for _{variable} in {of}])"),
                "all" => format!("(all _{variable} in {of} {{ {body} }})"),
                "exists" => format!("(any _{variable} in {of} {{ {body} }})"),
                "filter" => format!("[_{variable} for _{variable} in {of} if {body}]"),
                "map" => format!("[{body} for _{variable} in {of}]"),
                _ => format!("(len([_{variable} for _{variable} in {of} if {body}]) == 1)"),
            });
        }
        let on = on.map(|on| self.expr(on)).map_or(Some(None), |said| said.map(Some))?;
        // A pattern is best left as it is.
        if let (Some(on), "matches", [Expr::Literal(Value::String(pattern))]) = (&on, name, arguments) {
            return Some(format!("_regex_match({on}, {})", raw(pattern, false)));
        }
        let said = self.all(arguments)?;
        match (on, name, said.as_slice()) {
            (Some(of), "size", []) => Some(format!("len({of})")),
            (None, "size", [of]) => Some(format!("len({of})")),
            (Some(text), "contains", [part]) => Some(format!("({part} in {text})")),
            (Some(text), "startsWith", [part]) => Some(format!("{text}.startswith({part})")),
            (Some(text), "endsWith", [part]) => Some(format!("{text}.endswith({part})")),
            (Some(text), "matches", [pattern]) => Some(format!("_regex_match({text}, {pattern})")),
            (Some(text), "substring", [from]) => Some(format!("{text}[{from}:]")),
            (Some(text), "substring", [from, to]) => Some(format!("{text}[{from}:{to}]")),
            (Some(text), "lowerAscii", []) => Some(format!("{text}.lower()")),
            (Some(text), "upperAscii", []) => Some(format!("{text}.upper()")),
            (None, "int", [of]) => Some(format!("int({of})")),
            (None, "double", [of]) => Some(format!("float({of})")),
            (None, "string", [of]) => Some(format!("str({of})")),
            (None, "duration", [of]) => Some(format!("_duration({of})")),
            _ => None,
        }
    }
}

/// Macros that bind a variable.
const BINDING: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "filter", "map"];
