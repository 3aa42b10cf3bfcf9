//! Why there is no manifest: everything that is wrong, at once, each with its place.

use std::fmt;

use mizzen_text::{Code, Diagnostic};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub Vec<Diagnostic>);

impl Refused {
    /// One thing without a place of its own.
    pub fn because(message: impl Into<String>) -> Self {
        Self(vec![Diagnostic::new(Code::Invalid, message)])
    }
}

impl From<Diagnostic> for Refused {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Box<Diagnostic>> for Refused {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self(vec![*diagnostic])
    }
}

impl std::error::Error for Refused {}

/// A line each: place, field, message.
impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, diagnostic) in self.0.iter().enumerate() {
            if count > 0 {
                writeln!(out)?;
            }
            if let Some(place) = &diagnostic.place {
                write!(out, "{place}: ")?;
            }
            if !diagnostic.path.0.is_empty() {
                write!(out, "{}: ", diagnostic.path)?;
            }
            write!(out, "{}", diagnostic.message)?;
        }
        Ok(())
    }
}
