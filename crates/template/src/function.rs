//! What a template may call. A function gets its arguments as values and checks them as Go's reflection would.

use std::{collections::HashMap, rc::Rc};

use crate::{Failure, List, Map, Memory, Value};

pub type Function = fn(&mut Call<'_>) -> Result<Value, Failure>;

/// What functions need of the rendering that they are called in.
pub trait Host {
    /// The named template's output.
    fn include(&mut self, name: &str, data: &Value) -> Result<String, Failure>;
    /// A text run as a template that knows all named ones.
    fn tpl(&mut self, text: &str, data: &Value) -> Result<String, Failure>;
    /// Called before a function builds something of that many bytes: repeated strings, long lists, printed trees.
    fn spend(&mut self, bytes: usize) -> Result<(), Failure>;
    /// How deep values may nest.
    fn depth(&self) -> usize;
    /// What was read and printed before.
    fn memory(&mut self) -> &mut Memory;
}

/// One call.
pub struct Call<'a> {
    pub name: &'a str,
    pub args: &'a [Value],
    /// Which arguments are a nil of the type `interface {}`, by bits from the first on: fields that are not there. A map or
    /// a list cannot be one, while from a pipeline, which forgets types, nothing is an empty map.
    pub nils: u64,
    pub host: &'a mut dyn Host,
}

impl Call<'_> {
    pub fn exactly(&self, count: usize) -> Result<(), Failure> {
        self.between(count, count)
    }

    pub fn at_least(&self, count: usize) -> Result<(), Failure> {
        self.between(count, usize::MAX)
    }

    pub fn between(&self, least: usize, most: usize) -> Result<(), Failure> {
        let got = self.args.len();
        if got >= least && got <= most {
            return Ok(());
        }
        let want = if least == most { least.to_string() } else { format!("at least {least}") };
        Err(Failure::new(format!("wrong number of args for {}: want {want} got {got}", self.name)))
    }

    /// Whether an argument is a nil that has a type.
    pub fn is_typed_nil(&self, index: usize) -> bool {
        index < 64 && self.nils >> index & 1 == 1
    }

    /// Whatever it is; nothing where there is no such argument.
    pub fn any(&self, index: usize) -> Value {
        self.args.get(index).cloned().unwrap_or(Value::Nil)
    }

    pub fn text(&self, index: usize) -> Result<Rc<str>, Failure> {
        match self.any(index) {
            Value::Text(text) => Ok(text),
            other => Err(wrong_type("string", &other)),
        }
    }

    /// Go's `int` and nothing else: a number out of the values is a float, which a template has to convert.
    pub fn int(&self, index: usize) -> Result<i64, Failure> {
        match self.any(index) {
            Value::Int(int) => Ok(int),
            other => Err(wrong_type("int", &other)),
        }
    }

    pub fn bool(&self, index: usize) -> Result<bool, Failure> {
        match self.any(index) {
            Value::Bool(bool) => Ok(bool),
            other => Err(wrong_type("bool", &other)),
        }
    }

    pub fn map(&self, index: usize) -> Result<Map, Failure> {
        match self.any(index) {
            Value::Map(map) => Ok(map),
            other => Err(wrong_type("map[string]interface {}", &other)),
        }
    }

    pub fn list(&self, index: usize) -> Result<List, Failure> {
        match self.any(index) {
            Value::List(list) => Ok(list),
            other => Err(wrong_type("[]interface {}", &other)),
        }
    }
}

fn wrong_type(expected: &str, got: &Value) -> Failure {
    match got {
        Value::Nil => Failure::new(format!("invalid value; expected {expected}")),
        other => {
            Failure::new(format!("wrong type for value; expected {expected}; got {}", other.type_name()))
        }
    }
}

/// A table of functions by name.
#[derive(Clone, Default)]
pub struct Functions(HashMap<&'static str, Function>);

impl Functions {
    /// With these as well; a later one replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, table: &[(&'static str, Function)]) -> Self {
        self.0.extend(table.iter().copied());
        self
    }

    pub fn get(&self, name: &str) -> Option<Function> {
        self.0.get(name).copied()
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}
