//! The named templates that one rendering knows.

use std::{collections::HashMap, sync::Arc};

use crate::{Failure, Functions, Template, parse};

#[derive(Clone, Default)]
pub struct Templates(HashMap<Arc<str>, Arc<Template>>);

impl Templates {
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a file and adds it under `name`, and every `define` in it. Later ones win, except that an empty one does
    /// not replace another.
    pub fn add(&mut self, name: &str, text: &str, functions: &Functions) -> Result<(), Failure> {
        for template in parse::parse(name, text, functions)? {
            if !(template.is_empty() && self.0.contains_key(&template.name)) {
                self.0.insert(Arc::clone(&template.name), Arc::new(template));
            }
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Template>> {
        self.0.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(AsRef::as_ref)
    }
}
