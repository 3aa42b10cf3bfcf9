//! Who a workload is, and how it proves that.
//!
//! A [`Spiffe`] name in; out of an [`Authority`] a [`Certificate`] for it, which is renewed long before it ends; and
//! [`sds::serve`], which hands it to a proxy. The time is always given, so that renewal is tested without waiting.

mod authority;
mod holder;
pub mod sds;
mod spiffe;

pub use authority::{Authority, Certificate, NotIssued};
pub use holder::{Holder, keep};
pub use spiffe::{NoSpiffe, Spiffe};
