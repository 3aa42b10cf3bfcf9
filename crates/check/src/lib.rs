//! Is this object acceptable? Everything that Istio's CRDs and its validating webhook would say of an object, without
//! I/O and in one pass.
#![cfg_attr(test, allow(clippy::needless_pass_by_value, reason = "tests write objects where they use them"))]

mod document;
mod finding;
mod kinds;
pub mod mesh;
mod parts;
pub mod schema;
mod service;
#[cfg(test)]
mod testing;
mod value;

pub use document::{Checked, Outcome, document};
pub use finding::{Finding, Findings};

use mizzen_api::Object;

/// A sentence where a text is no regular expression as Go and Envoy read them.
pub fn regular_expression(text: &str) -> Result<(), String> {
    value::regex::regex(text)
}

/// Everything that Istio's validating webhook would say of an object, each with the path to the field.
pub fn validate(object: &Object) -> Findings {
    let mut found = Findings::default();
    kinds::check(object, &mut found);
    found
}
