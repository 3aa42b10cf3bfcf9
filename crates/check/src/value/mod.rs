//! Rules about a single value: a host name, a label, a port, a length of time. Each says what is wrong in words, and
//! leaves to the caller where.

pub(crate) mod host;
pub(crate) mod label;
pub(crate) mod number;

/// Nothing, or what is wrong.
pub(crate) type Verdict = Result<(), String>;
