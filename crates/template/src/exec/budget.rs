//! What a rendering has used so far, against its limits.

use std::time::Instant;

use crate::{Failure, Limits};

/// How deep the executor itself may recurse: each parenthesis and control structure within all templates that are being
/// run, whatever [`Limits::depth`] says.
const NESTING: usize = 2000;

/// Bytes of stack that a rendering may use: half of what a thread has, so that functions have the other half. Levels
/// differ in size, and a debug build needs five times as much as a release, so it is measured rather than guessed.
const STACK: usize = 1 << 20;

/// Two places further apart are not on one stack: address sanitizers put them elsewhere.
const NO_STACK: usize = 64 << 20;

pub(super) struct Budget {
    limits: Limits,
    steps: u64,
    output: usize,
    nesting: usize,
    /// Where the stack was at the first level.
    bottom: usize,
    start: Instant,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), steps: 0, output: 0, nesting: 0, bottom: 0, start: Instant::now() }
    }

    pub(super) fn depth(&self) -> usize {
        self.limits.depth
    }

    pub(super) fn step(&mut self) -> Result<(), Failure> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(Failure::limit(format!(
                "stopped after {} steps, as if it would never end",
                self.limits.steps
            )));
        }
        // The clock costs more than a step.
        if self.steps.is_multiple_of(1024) && self.start.elapsed() > self.limits.time {
            return Err(Failure::limit(format!(
                "stopped after {:?}, as if it would never end",
                self.limits.time
            )));
        }
        Ok(())
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        let before = self.output >> 20;
        self.output = self.output.saturating_add(bytes);
        // Every megabyte: one step can build a lot.
        if self.output >> 20 != before && self.start.elapsed() > self.limits.time {
            return Err(Failure::limit(format!(
                "stopped after {:?}, as if it would never end",
                self.limits.time
            )));
        }
        if self.output > self.limits.output {
            let limit = match self.limits.output {
                bytes @ ..0x10_0000 => format!("{bytes} bytes"),
                bytes => format!("{} MiB", bytes >> 20),
            };
            return Err(Failure::limit(format!("it builds more than {limit} of text and lists")));
        }
        Ok(())
    }

    /// One level deeper; how deep it was before.
    pub(super) fn enter(&mut self) -> Result<usize, Failure> {
        let here = stack();
        if self.nesting == 0 {
            self.bottom = here;
        }
        let used = self.bottom.abs_diff(here);
        if self.nesting == NESTING || (STACK..NO_STACK).contains(&used) {
            return Err(Failure::limit(format!("nested too deeply, after {} levels", self.nesting)));
        }
        self.nesting += 1;
        Ok(self.nesting - 1)
    }

    pub(super) fn back_to(&mut self, nesting: usize) {
        self.nesting = nesting;
    }
}

/// About where the stack ends now.
#[inline(never)]
fn stack() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}
