//! What was written, along a table → what is rendered, with everything that is wrong with it. Nothing ends at the first
//! mistake: what cannot be read is left out, and the rest goes on.

use super::{
    shape::{Attribute, Block, Fields, NOWHERE, Rule, Shape},
    syntax,
    trace::Trace,
};
use crate::{
    problem::{On, Problem},
    setting::Setting,
};
use mizzen_text::{At, Code, Severity, Step, nearest};
use serde_json::{Map, Value, json};

pub(crate) struct Decode<'a> {
    pub(crate) setting: &'a Setting,
    /// Where the object at hand lives.
    pub(crate) namespace: &'a str,
    pub(crate) problems: Vec<Problem>,
    /// Where each field came from, if somebody wants to know.
    pub(crate) trace: Option<Trace>,
    /// The field that is being rendered. Only kept up for the trace.
    out: Vec<Step>,
}

impl<'a> Decode<'a> {
    pub(crate) fn new(setting: &'a Setting) -> Self {
        Self { setting, namespace: &setting.namespace, problems: Vec::new(), trace: None, out: Vec::new() }
    }

    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(Trace::default());
        self
    }

    /// A map along the table of its block. `also` are names that somebody else reads.
    pub(crate) fn fields(&mut self, block: &Block, fields: &Fields, at: &At<'_>, also: &[&str]) -> Fields {
        let mut rendered = Fields::new();
        for (name, value) in fields {
            let at = at.field(name);
            match block.attribute(name) {
                None if also.contains(&name.as_str()) => {}
                None => self.unknown(name, block, also, &at),
                Some(attribute) if value.is_null() => self.empty(attribute, &at),
                Some(attribute) => {
                    if let Some(value) = self.attribute(attribute, value, &at) {
                        put(&mut rendered, attribute.to, value);
                    }
                }
            }
        }
        for attribute in block.attributes.iter().filter(|attribute| !has(fields, attribute.name)) {
            if attribute.required {
                let message = format!("`{}` is missing", attribute.name);
                let missing = at.field(attribute.name).path();
                let problem = Problem::new(Code::AppMissing, missing, On::Key, message);
                self.problems.push(problem.hint(attribute.about));
            }
            if let Some(default) = attribute.default {
                put(&mut rendered, attribute.to, default.into());
            }
        }
        for rule in block.rules {
            self.rule(*rule, fields, at);
        }
        if let Some(finish) = block.finish {
            finish(fields, &mut rendered, self, at);
        }
        rendered
    }

    fn attribute(&mut self, attribute: &Attribute, value: &Value, at: &At<'_>) -> Option<Value> {
        if !attribute.to.is_empty() {
            return self.below(attribute.to, |decode| decode.value(&attribute.shape, value, at));
        }
        // Fields of the block itself are known when they are rendered, and not before.
        let rendered = self.below(NOWHERE, |decode| decode.value(&attribute.shape, value, at))?;
        for name in rendered.as_object().into_iter().flatten().map(|(name, _)| name) {
            self.below(name, |decode| decode.remember(at));
        }
        Some(rendered)
    }

    fn remember(&mut self, at: &At<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.remember(&self.out, at.path());
        }
    }

    /// A value along its shape; nothing where it cannot be taken.
    pub(crate) fn value(&mut self, shape: &Shape, value: &Value, at: &At<'_>) -> Option<Value> {
        self.remember(at);
        match *shape {
            Shape::Text(syntax) => self.text(syntax, value, at).map(Value::from),
            Shape::Word(words) => self.word(words.iter().map(|word| (*word, *word)), value, at),
            Shape::WordTo(words) => self.word(words.iter().copied(), value, at),
            Shape::Whole { least, most, hint } => self.whole(least, most, hint, value, at).map(Value::from),
            Shape::WholeText { least, most } => {
                self.whole(least, most, None, value, at).map(|number| number.to_string().into())
            }
            Shape::Number { least, most } => self.number(least, most, value, at),
            Shape::Truth => self.truth(value, at).map(Value::from),
            Shape::Said => self.said(value, at).map(Value::from),
            Shape::Untruth => self.truth(value, at).map(|truth| Value::from(!truth)),
            Shape::Duration if !value.is_string() => self.wrong_type("a time such as 10s", value, at),
            Shape::Duration => self.text(syntax::duration, value, at).map(Value::from),
            Shape::List { of, least, most } => self.list(of, least, most, value, at).map(Value::from),
            Shape::Joined(syntax) => {
                let items = self.list(&Shape::Text(syntax), 1, usize::MAX, value, at)?;
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                Some(items.join(",").into())
            }
            Shape::Map { key, of, most } => self.map(key, of, most, value, at).map(Value::from),
            Shape::Pairs { key, value: name, of } => {
                let entries = self.entries(value, at)?;
                let pairs = entries.iter().filter_map(|(entry, value)| {
                    let value = self.value(of, value, &at.field(entry))?;
                    Some(json!({key: entry, name: value}))
                });
                Some(pairs.collect())
            }
            Shape::Block(block) => {
                let Some(fields) = value.as_object() else { return self.wrong_type("a map", value, at) };
                Some(Value::Object(self.fields(block, fields, at, &[])))
            }
            Shape::Within(field, of) => {
                let value = self.below(field, |decode| decode.value(of, value, at))?;
                Some(json!({ field: value }))
            }
            Shape::Single(of) => {
                self.below("0", |decode| decode.value(of, value, at)).map(|one| json!([one]))
            }
            Shape::Match => self.text_match(value, at),
            Shape::MatchOrPresent if value.as_object().is_some_and(Map::is_empty) => Some(json!({})),
            Shape::MatchOrPresent => self.text_match(value, at),
            Shape::Name(word) => self.text(syntax::not_empty, value, at).map(|name| {
                self.setting.own(word, name).map_or_else(|| Value::from(name), |own| own.name.as_str().into())
            }),
            Shape::Selector => self.selector(value, at),
            Shape::Target => self.target(value, at),
            Shape::Gateway => self.text(syntax::not_empty, value, at).map(|name| {
                self.setting.own("gateways", name).map_or_else(
                    || Value::from(name),
                    |gateway| match gateway.namespace == self.namespace {
                        true => Value::from(gateway.name.as_str()),
                        false => Value::from(format!("{}/{}", gateway.namespace, gateway.name)),
                    },
                )
            }),
            Shape::Free | Shape::Istio => {
                if !value.is_object() {
                    return self.wrong_type("a map", value, at);
                }
                self.remember_all(value, at);
                Some(value.clone())
            }
            Shape::Own(own) => (own.decode)(value, self, at),
        }
    }

    /// A value that is taken as it is.
    pub(crate) fn remember_all(&mut self, value: &Value, at: &At<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.remember_all(&mut self.out, value, at);
        }
    }

    /// Says that a value cannot be taken.
    pub(crate) fn refuse(&mut self, code: Code, at: &At<'_>, on: On, predicate: &str) -> &mut Problem {
        self.problems.push(Problem::of(code, at.path(), on, predicate));
        let last = self.problems.len() - 1;
        &mut self.problems[last]
    }

    pub(crate) fn warn(&mut self, at: &At<'_>, on: On, predicate: &str) -> &mut Problem {
        let problem = self.refuse(Code::AppDoubtful, at, on, predicate);
        problem.severity = Severity::Warning;
        problem
    }

    /// Says that attributes exclude or need each other.
    pub(crate) fn together(&mut self, at: &At<'_>, message: &str) {
        self.problems.push(Problem::new(Code::AppTogether, at.path(), On::Key, message));
    }

    /// Renders a field below the one at hand.
    pub(crate) fn below<T>(&mut self, to: &str, render: impl FnOnce(&mut Self) -> T) -> T {
        if self.trace.is_none() {
            return render(self);
        }
        let depth = self.out.len();
        self.out.extend(steps(to));
        let rendered = render(self);
        self.out.truncate(depth);
        rendered
    }

    /// The entries of a map of the user's own names, but for those that are `null`.
    pub(crate) fn entries<'v>(&mut self, value: &'v Value, at: &At<'_>) -> Option<Vec<(&'v str, &'v Value)>> {
        let Some(fields) = value.as_object() else { return self.wrong_type("a map", value, at) };
        Some(
            fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.as_str(), value))
                .collect(),
        )
    }

    fn list(
        &mut self,
        of: &Shape,
        least: usize,
        most: usize,
        value: &Value,
        at: &At<'_>,
    ) -> Option<Vec<Value>> {
        let Some(items) = value.as_array() else { return self.wrong_type("a list", value, at) };
        if items.len() < least {
            self.refuse(Code::AppValue, at, On::Key, "must not be empty");
        } else if items.len() > most {
            self.refuse(
                Code::AppValue,
                at,
                On::Key,
                &format!("must have at most {most} items, has {}", items.len()),
            );
        }
        let mut rendered = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            // By its place among what could be read, as the rendered list has it.
            if self.trace.is_some() {
                self.out.push(Step::Index(rendered.len()));
            }
            rendered.extend(self.value(of, item, &at.index(index)));
            if self.trace.is_some() {
                self.out.pop();
            }
        }
        Some(rendered)
    }

    fn map(
        &mut self,
        key: fn(&str) -> Result<(), String>,
        of: &Shape,
        most: usize,
        value: &Value,
        at: &At<'_>,
    ) -> Option<Fields> {
        let entries = self.entries(value, at)?;
        if entries.len() > most {
            self.refuse(
                Code::AppValue,
                at,
                On::Key,
                &format!("must have at most {most} entries, has {}", entries.len()),
            );
        }
        let mut rendered = Map::new();
        for (name, value) in entries {
            let at = at.field(name);
            let refused = key(name).err();
            if let Some(predicate) = &refused {
                let message = format!("the key `{}` {predicate}", brief(name));
                self.problems.push(Problem::new(Code::AppValue, at.path(), On::Key, message));
            }
            if self.trace.is_some() {
                self.out.push(Step::Field(name.to_owned()));
            }
            // What is below a bad key may be wrong, too.
            let value = self.value(of, value, &at);
            if let Some(value) = value.filter(|_| refused.is_none()) {
                rendered.insert(name.to_owned(), value);
            }
            if self.trace.is_some() {
                self.out.pop();
            }
        }
        Some(rendered)
    }

    fn unknown(&mut self, name: &str, block: &Block, also: &[&str], at: &At<'_>) {
        let known: Vec<&str> =
            block.attributes.iter().map(|attribute| attribute.name).chain(also.iter().copied()).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        let message = format!("there is no attribute `{}` here", brief(name));
        self.problems.push(Problem::new(Code::AppUnknown, at.path(), On::Key, message).hint(hint));
    }

    /// `null` is as good as absent; but a block that somebody began and did not fill is worth a word.
    fn empty(&mut self, attribute: &Attribute, at: &At<'_>) {
        if matches!(attribute.shape, Shape::Block(_)) {
            let hint = "write `{}` for an empty block, or take the line away".to_owned();
            self.warn(at, On::Key, "is empty and counts as left out").hint = Some(hint);
        }
    }

    fn rule(&mut self, rule: Rule, fields: &Fields, at: &At<'_>) {
        let given = |names: &[&'static str]| -> Vec<&'static str> {
            names.iter().copied().filter(|name| has(fields, name)).collect()
        };
        let together = |given: &[&str]| {
            let message = format!("{} cannot be given together", listed(given));
            let second = at.field(given.get(1).copied().unwrap_or_default()).path();
            Problem::new(Code::AppTogether, second, On::Key, message)
                .related("the other one", at.field(given[0]).path())
        };
        let problem = match rule {
            Rule::ExactlyOne(names) => match given(names).as_slice() {
                [] => {
                    let message = format!("one of {} is needed", listed(names));
                    Problem::new(Code::AppMissing, at.path(), On::Key, message)
                }
                [_] => return,
                several => together(several),
            },
            Rule::AtMostOne(names) => match given(names).as_slice() {
                [] | [_] => return,
                several => together(several),
            },
            Rule::AtLeastOne(names) => match given(names).as_slice() {
                [] => {
                    let message = format!("at least one of {} is needed", listed(names));
                    Problem::new(Code::AppMissing, at.path(), On::Key, message)
                }
                _ => return,
            },
            Rule::Needs(name, other) if has(fields, name) && !has(fields, other) => {
                let message = format!("`{name}` needs `{other}` beside it");
                Problem::new(Code::AppTogether, at.field(name).path(), On::Key, message)
            }
            Rule::Needs(..) => return,
        };
        self.problems.push(problem);
    }
}

/// Whether an attribute is given; `null` is not.
pub(crate) fn has(fields: &Fields, name: &str) -> bool {
    fields.get(name).is_some_and(|value| !value.is_null())
}

/// Puts a value at the end of a way that is made as it is gone. What is there already is added to.
pub(crate) fn put(fields: &mut Fields, to: &str, value: Value) {
    match (to.split_once('.'), value) {
        (Some((first, rest)), value) => {
            let here = fields.entry(first).or_insert_with(|| json!({}));
            if let Some(fields) = here.as_object_mut() {
                put(fields, rest, value);
            }
        }
        (None, Value::Object(more)) if to.is_empty() => fields.extend(more),
        (None, Value::Object(more)) => match fields.get_mut(to).and_then(Value::as_object_mut) {
            Some(there) => there.extend(more),
            None => drop(fields.insert(to.to_owned(), more.into())),
        },
        (None, _) if to == NOWHERE => {}
        (None, value) => drop(fields.insert(to.to_owned(), value)),
    }
}

fn steps(to: &str) -> impl Iterator<Item = Step> {
    let steps = to.split('.').filter(|step| !step.is_empty());
    steps.map(|step| step.parse().map_or_else(|_| Step::Field(step.to_owned()), Step::Index))
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Short enough for a message.
pub(crate) fn brief(text: &str) -> String {
    const MOST: usize = 60;
    match text.chars().count() {
        0..=MOST => text.to_owned(),
        _ => text.chars().take(MOST).chain(['…']).collect(),
    }
}
