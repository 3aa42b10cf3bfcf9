//! Objects for the tests of this crate.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod documents;
pub(crate) mod generate;
pub(crate) mod misspell;
pub(crate) mod paths;
pub(crate) mod plain;
