//! Rules in CEL as JSON Schema, where it can say them: which fields are given, and what a single value is.

use crate::{
    cel::{Expr, Operator, parse},
    schema::{Kind, Rule, Schema},
};
use serde_json::{Value, json};

pub(super) fn says(rule: &Rule, schema: &Schema) -> Option<Value> {
    Said { subject: "self".to_owned(), kind: schema.kind }.expr(&parse(&rule.text)?)
}

struct Said {
    /// The variable that the value is in.
    subject: String,
    kind: Kind,
}

impl Said {
    /// An expression that is true or false.
    fn expr(&self, expr: &Expr) -> Option<Value> {
        match expr {
            Expr::Literal(Value::Bool(true)) => Some(json!({})),
            Expr::Literal(Value::Bool(false)) => Some(json!({"not": {}})),
            Expr::Has(of, field) => self.within(of, json!({"required": [field]})),
            Expr::Not(inner) => Some(json!({"not": self.expr(inner)?})),
            Expr::Binary(Operator::And, left, right) => {
                Some(json!({"allOf": [self.expr(left)?, self.expr(right)?]}))
            }
            Expr::Binary(Operator::Or, left, right) => {
                Some(json!({"anyOf": [self.expr(left)?, self.expr(right)?]}))
            }
            Expr::Choice(condition, yes, no) => {
                Some(json!({"if": self.expr(condition)?, "then": self.expr(yes)?, "else": self.expr(no)?}))
            }
            Expr::Binary(operator, left, right) => {
                self.at_most_one(*operator, left, right).or_else(|| self.compared(*operator, left, right))
            }
            Expr::Call { on: Some(on), name, arguments } => self.asked(on, name, arguments),
            _ => None,
        }
    }

    /// A schema for the subject, or for a field of it that must then be there.
    fn within(&self, of: &Expr, schema: Value) -> Option<Value> {
        match of {
            Expr::Name(name) if *name == self.subject => Some(schema),
            Expr::Select(of, field) => {
                self.within(of, json!({"required": [field], "properties": {field: schema}}))
            }
            _ => None,
        }
    }

    /// `(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1`.
    fn at_most_one(&self, operator: Operator, left: &Expr, right: &Expr) -> Option<Value> {
        let one = Expr::Literal(1.into());
        if operator != Operator::LessOrEqual || *right != one {
            return None;
        }
        let mut given = Vec::new();
        self.summed(left, &mut given)?;
        let pairs = given.iter().enumerate().flat_map(|(place, first)| {
            given[place + 1..].iter().map(move |second| json!({"not": {"allOf": [first, second]}}))
        });
        Some(json!({"allOf": pairs.collect::<Vec<_>>()}))
    }

    fn summed(&self, expr: &Expr, given: &mut Vec<Value>) -> Option<()> {
        match expr {
            Expr::Binary(Operator::Plus, left, right) => {
                self.summed(left, given)?;
                self.summed(right, given)
            }
            Expr::Choice(condition, yes, no)
                if **yes == Expr::Literal(1.into()) && **no == Expr::Literal(0.into()) =>
            {
                given.push(self.expr(condition)?);
                Some(())
            }
            _ => None,
        }
    }

    fn compared(&self, operator: Operator, left: &Expr, right: &Expr) -> Option<Value> {
        if let (Expr::Has(..), Expr::Has(..)) = (left, right) {
            let (one, other) = (self.expr(left)?, self.expr(right)?);
            return match operator {
                Operator::NotEqual => Some(json!({"oneOf": [one, other]})),
                Operator::Equal => Some(json!({"not": {"oneOf": [one, other]}})),
                _ => None,
            };
        }
        match (left, right) {
            // A field, or what stands for its absence.
            (Expr::Choice(condition, yes, no), Expr::Literal(_) | Expr::List(_)) => {
                let Expr::Has(of, field) = &**condition else { return None };
                if **yes != Expr::Select(of.clone(), field.clone()) {
                    return None;
                }
                let Expr::Literal(absent) = &**no else { return None };
                let otherwise = holds(operator, absent, right)?;
                let given = self.compared(operator, yes, right)?;
                Some(json!({"if": self.expr(condition)?, "then": given, "else": truth(otherwise)}))
            }
            (Expr::Literal(value), of) => self.limit(turned(operator)?, of, value),
            (of, Expr::Literal(value)) => self.limit(operator, of, value),
            (of, Expr::List(items)) if operator == Operator::In => {
                let values: Option<Vec<&Value>> = items
                    .iter()
                    .map(|item| match item {
                        Expr::Literal(value) => Some(value),
                        _ => None,
                    })
                    .collect();
                self.within(of, json!({"enum": values?}))
            }
            _ => None,
        }
    }

    /// A value beside a constant.
    fn limit(&self, operator: Operator, of: &Expr, value: &Value) -> Option<Value> {
        if let Expr::Call { on: Some(of), name, arguments } = of
            && name == "size"
            && arguments.is_empty()
        {
            return self.size(operator, of, value);
        }
        if let Expr::Call { on: None, name, arguments } = of
            && name == "size"
            && let [of] = arguments.as_slice()
        {
            return self.size(operator, of, value);
        }
        let schema = match operator {
            Operator::Equal => json!({"const": value}),
            Operator::NotEqual => json!({"not": {"const": value}}),
            _ if !value.is_number() => return None,
            Operator::Less => json!({"exclusiveMaximum": value}),
            Operator::LessOrEqual => json!({"maximum": value}),
            Operator::Greater => json!({"exclusiveMinimum": value}),
            Operator::GreaterOrEqual => json!({"minimum": value}),
            _ => return None,
        };
        self.within(of, schema)
    }

    fn size(&self, operator: Operator, of: &Expr, value: &Value) -> Option<Value> {
        let count = value.as_u64()?;
        // What a field of unknown kind counts cannot be told from here.
        let what = match (of, self.kind) {
            (Expr::Name(_), Kind::String) => "Length",
            (Expr::Name(_), Kind::Array) => "Items",
            (Expr::Name(_), Kind::Object) => "Properties",
            _ => return None,
        };
        let (least, most) = match operator {
            Operator::Equal => (Some(count), Some(count)),
            Operator::NotEqual if count == 0 => (Some(1), None),
            Operator::Less => (None, Some(count.checked_sub(1)?)),
            Operator::LessOrEqual => (None, Some(count)),
            Operator::Greater => (Some(count + 1), None),
            Operator::GreaterOrEqual => (Some(count), None),
            _ => return None,
        };
        let mut schema = json!({});
        if let Some(least) = least.filter(|least| *least > 0) {
            schema[format!("min{what}")] = least.into();
        }
        if let Some(most) = most {
            schema[format!("max{what}")] = most.into();
        }
        self.within(of, schema)
    }

    fn asked(&self, on: &Expr, name: &str, arguments: &[Expr]) -> Option<Value> {
        match (name, arguments) {
            ("contains", [Expr::Literal(Value::String(part))]) => {
                self.within(on, json!({"pattern": plain(part)}))
            }
            ("startsWith", [Expr::Literal(Value::String(part))]) => {
                self.within(on, json!({"pattern": format!("^{}", plain(part))}))
            }
            ("endsWith", [Expr::Literal(Value::String(part))]) => {
                self.within(on, json!({"pattern": format!("{}$", plain(part))}))
            }
            ("matches", [Expr::Literal(Value::String(pattern))]) => {
                self.within(on, json!({"pattern": pattern}))
            }
            // Over the keys of a map.
            ("all", [Expr::Name(variable), body]) if self.kind == Kind::Object => {
                let names = Self { subject: variable.clone(), kind: Kind::String }.expr(body)?;
                self.within(on, json!({"propertyNames": names})).filter(|_| matches!(on, Expr::Name(_)))
            }
            _ => None,
        }
    }
}

/// What a comparison of two constants gives.
fn holds(operator: Operator, left: &Value, right: &Expr) -> Option<bool> {
    match (operator, right) {
        (Operator::Equal, Expr::Literal(right)) => Some(left == right),
        (Operator::NotEqual, Expr::Literal(right)) => Some(left != right),
        (Operator::In, Expr::List(items)) => Some(items.contains(&Expr::Literal(left.clone()))),
        _ => None,
    }
}

fn truth(is: bool) -> Value {
    if is { json!({}) } else { json!({"not": {}}) }
}

/// The same with its sides changed.
fn turned(operator: Operator) -> Option<Operator> {
    Some(match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        Operator::Equal | Operator::NotEqual => operator,
        _ => return None,
    })
}

/// A text as a pattern that is itself.
fn plain(text: &str) -> String {
    let special = |letter: char| r"\.+*?()|[]{}^$/".contains(letter);
    text.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, kind: Kind) -> Option<Value> {
        let rule = Rule { text: text.to_owned(), message: None, whole: Value::Null };
        says(&rule, &Schema { kind, ..Schema::default() })
    }

    #[test]
    fn rules_about_fields_and_single_values_can_be_said() {
        let none = json!({"not": {}});
        for (text, kind, expected) in [
            (
                "has(self.a) || !has(self.b)",
                Kind::Object,
                json!({"anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}]}),
            ),
            (
                "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1",
                Kind::Object,
                json!({"allOf": [{"not": {"allOf": [{"required": ["a"]}, {"required": ["b"]}]}}]}),
            ),
            (
                "(has(self.a) ? self.a : '') == 'X'",
                Kind::Object,
                json!({"if": {"required": ["a"]}, "then": {"required": ["a"], "properties": {"a": {"const": "X"}}}, "else": none}),
            ),
            ("!self.contains('*')", Kind::String, json!({"not": {"pattern": "\\*"}})),
            ("self.size() == 0", Kind::String, json!({"maxLength": 0})),
            ("0 < self", Kind::Integer, json!({"exclusiveMinimum": 0})),
            ("self.all(key, size(key) < 63)", Kind::Object, json!({"propertyNames": {"maxLength": 62}})),
        ] {
            assert_eq!(said(text, kind), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_left_to_the_rule_itself() {
        for text in [
            "duration(self) >= duration('1ms')",
            "url(self).getScheme() == 'http'",
            "self.a.size() > 0",
            "oldSelf == self",
        ] {
            assert_eq!(said(text, Kind::String), None, "{text}");
        }
    }
}
