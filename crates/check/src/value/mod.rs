//! Rules about a single value: a host name, a label, a port, a length of time. Each says what is wrong in words, and
//! leaves to the caller where.

pub(crate) mod address;
pub(crate) mod cel;
pub(crate) mod header;
pub(crate) mod host;
pub(crate) mod jwks;
pub(crate) mod label;
pub(crate) mod number;
pub(crate) mod protocol;
pub(crate) mod regex;
pub(crate) mod scoped_host;
pub(crate) mod unix_socket;
pub(crate) mod url;

/// Nothing, or what is wrong.
pub(crate) type Verdict = Result<(), String>;
