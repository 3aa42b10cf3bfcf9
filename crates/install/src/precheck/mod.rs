//! Whether Istio can be installed into a cluster, or the one that is there can be replaced by a newer one.
//!
//! In: what a cluster says of itself ([`Facts`], the only part that asks). Out: findings, as `istioctl x precheck` has them: the
//! same codes, levels and sentences.

mod alpha;
mod changes;
mod checks;
mod facts;
mod finding;

pub use changes::{NotAVersion, Since};
pub use facts::{Denied, Facts, Scope};
pub use finding::{DOCUMENTATION, Finding, Level};

impl Facts {
    /// Sorted as istioctl prints them, each once.
    pub fn findings(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = checks::version(self)
            .into_iter()
            .chain(checks::rights(self))
            .chain(checks::gateway_api(self))
            .chain(changes::tracing(self))
            .chain(alpha::annotations(&self.annotated))
            .collect();
        found.sort_by_key(Finding::order);
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests;
