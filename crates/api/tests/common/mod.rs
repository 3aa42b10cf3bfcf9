//! Objects for the tests of this crate.

pub(crate) mod generate;
pub(crate) mod paths;
