//! Go's structs as templates see them: a fixed set of fields, and asking for another one is an error.

use std::fmt;

use crate::{Failure, Map, Object, Value};

pub(super) struct Structure {
    type_name: &'static str,
    /// By Go's names.
    fields: Map,
    /// What a method gives or how it prints, where that is no field.
    methods: Map,
    /// As JSON has it.
    plain: Value,
}

impl Structure {
    pub(super) fn new(type_name: &'static str, fields: Map, plain: Value) -> Self {
        Self { type_name, fields, methods: Map::new(), plain }
    }

    #[must_use]
    pub(super) fn method(self, name: &str, result: impl Into<Value>) -> Self {
        self.methods.insert(name, result);
        self
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.type_name, self.fields)
    }
}

impl Object for Structure {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        if let Some(result) = self.methods.get(name) {
            return if args.is_empty() {
                Ok(Some(result))
            } else {
                Err(Failure::new(format!("wrong number of args for {name}: want 0 got {}", args.len())))
            };
        }
        match self.fields.get(name) {
            Some(_) if !args.is_empty() => {
                Err(Failure::new(format!("{name} has arguments but cannot be invoked as function")))
            }
            field => Ok(field),
        }
    }

    fn plain(&self) -> Value {
        self.plain.clone()
    }

    fn printed(&self) -> Option<Value> {
        self.methods.get("String")
    }
}
