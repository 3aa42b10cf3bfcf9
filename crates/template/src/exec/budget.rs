//! What a rendering has used so far, against its limits.

use std::time::Instant;

use crate::{Failure, Limits};

/// How deep the executor itself may recurse: each parenthesis and control structure within all templates that are being
/// run. It keeps the stack below a megabyte, whatever [`Limits::depth`] says.
const NESTING: usize = 600;

pub(super) struct Budget {
    limits: Limits,
    steps: u64,
    output: usize,
    nesting: usize,
    start: Instant,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), steps: 0, output: 0, nesting: 0, start: Instant::now() }
    }

    pub(super) fn depth(&self) -> usize {
        self.limits.depth
    }

    pub(super) fn step(&mut self) -> Result<(), Failure> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(Failure::limit(format!("stopped after {} steps", self.limits.steps)));
        }
        // The clock costs more than a step.
        if self.steps % 1024 == 0 && self.start.elapsed() > self.limits.time {
            return Err(Failure::limit(format!("stopped after {:?}", self.limits.time)));
        }
        Ok(())
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.output = self.output.saturating_add(bytes);
        if self.output > self.limits.output {
            let limit = self.limits.output;
            return Err(Failure::limit(format!("the output is larger than {limit} bytes")));
        }
        Ok(())
    }

    /// One level deeper; how deep it was before.
    pub(super) fn enter(&mut self) -> Result<usize, Failure> {
        if self.nesting == NESTING {
            return Err(Failure::limit(format!("nested deeper than {NESTING} levels")));
        }
        self.nesting += 1;
        Ok(self.nesting - 1)
    }

    pub(super) fn back_to(&mut self, nesting: usize) {
        self.nesting = nesting;
    }
}
