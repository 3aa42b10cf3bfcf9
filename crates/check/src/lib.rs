//! Is this object acceptable? Everything that Istio's CRDs and its validating webhook would say of an object, without
//! I/O and in one pass.

mod finding;

pub use finding::{Finding, Findings};
