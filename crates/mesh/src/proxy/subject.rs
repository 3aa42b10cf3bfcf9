//! A proxy over many snapshots: what is known of it is found out again only when something that it is made of has moved.

use super::{Attributes, Facts, Proxy};
use crate::{Snapshot, snapshot::Stamp};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub struct Subject {
    proxy: Arc<Proxy>,
    known: Mutex<Option<(Stamp, Arc<Facts>)>>,
}

impl Subject {
    pub fn new(proxy: Arc<Proxy>) -> Self {
        Self { proxy, known: Mutex::default() }
    }

    pub fn proxy(&self) -> &Arc<Proxy> {
        &self.proxy
    }

    /// As [`Snapshot::attributes`].
    pub fn attributes(&self, snapshot: &Snapshot) -> Attributes {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = snapshot.stamp();
        match &*known {
            Some((of, facts)) if *of == stamp => Attributes::new(Arc::clone(facts)),
            _ => {
                let facts = Arc::new(snapshot.facts(&self.proxy));
                *known = Some((stamp, Arc::clone(&facts)));
                Attributes::new(facts)
            }
        }
    }
}
