//! The routes that a proxy has, by host.

use super::Bound;
use crate::config::HostMap;
use std::sync::Arc;

/// A list of routes in order, and which of them are about a host.
#[derive(Debug)]
pub struct Routed<T> {
    pub list: Vec<Arc<T>>,
    /// Positions in the list, ascending.
    by_host: HostMap<Vec<u32>>,
}

impl<T> Default for Routed<T> {
    fn default() -> Self {
        Self { list: Vec::new(), by_host: HostMap::default() }
    }
}

impl<T: Bound> Routed<T> {
    pub fn new(list: Vec<Arc<T>>) -> Self {
        let mut by_host: HostMap<Vec<u32>> = HostMap::default();
        for (at, routes) in (0..).zip(&list) {
            for host in routes.hosts() {
                let places = by_host.entry(host, Vec::new);
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        Self { list, by_host }
    }
}

impl<T> Routed<T> {
    /// All with a host that overlaps with `host` (one covers the other), in the order of the list.
    pub fn overlapping(&self, host: &str) -> Vec<&Arc<T>> {
        let mut places: Vec<u32> = self.by_host.overlapping(host).into_iter().flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|at| self.list.get(at as usize)).collect()
    }

    /// The one that a service of this name belongs to: the first of those with the most specific host over it.
    pub fn most_specific(&self, host: &str) -> Option<&Arc<T>> {
        self.list.get(*self.by_host.most_specific(host)?.first()? as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The very same, in the same order.
    pub(crate) fn is(&self, list: &[Arc<T>]) -> bool {
        self.list.len() == list.len()
            && self.list.iter().zip(list).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs))
    }
}
