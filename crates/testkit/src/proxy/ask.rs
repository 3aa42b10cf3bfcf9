//! A change of what a simulated proxy wants, before it is put into either protocol.

use super::kind::Kind;

pub(super) struct Ask {
    pub(super) kind: Kind,
    pub(super) subscribe: Vec<String>,
    pub(super) unsubscribe: Vec<String>,
    /// Everything that is wanted after it.
    pub(super) names: Vec<String>,
}
