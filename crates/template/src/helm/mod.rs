//! Helm's engine.

pub mod functions;
