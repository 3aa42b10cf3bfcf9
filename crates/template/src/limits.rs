//! What one rendering may use. A chart is somebody else's program: it must not be able to hang or to fill the memory.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Templates in each other (`template`, `include`, `tpl`), and values in each other.
    pub depth: usize,
    /// Bytes that are written or built by functions, all templates together.
    pub output: usize,
    /// Actions that are executed, all templates together; every turn of a `range` counts.
    pub steps: u64,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 200, output: 256 << 20, steps: 20_000_000, time: Duration::from_secs(30) }
    }
}
