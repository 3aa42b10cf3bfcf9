//! What one identity may have. A name that cannot be served gets no answer, as from Istio's agent.

use std::sync::{Arc, Mutex, PoisonError};

use mizzen_identity::sds;
use tokio::sync::watch;

use super::Shared;
use crate::{error::Result, pki::Pair};

#[derive(Clone)]
pub(super) struct Source {
    shared: Arc<Shared>,
    identity: String,
    generations: watch::Receiver<u64>,
    /// The certificate of a generation: all streams of a proxy must be told the same.
    current: Arc<Mutex<(u64, Pair)>>,
}

impl Source {
    pub(super) fn new(shared: Arc<Shared>, identity: &str) -> Result<Self> {
        let generations = shared.generation.subscribe();
        let current = (*generations.borrow(), shared.pair(identity)?);
        Ok(Self {
            shared,
            identity: identity.to_owned(),
            generations,
            current: Arc::new(Mutex::new(current)),
        })
    }

    fn pair(&self) -> Option<Pair> {
        let generation = *self.generations.borrow();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // A stream that is late must not bring back what others have given up.
        if current.0 < generation {
            *current = (generation, self.shared.pair(&self.identity).ok()?);
        }
        Some(current.1.clone())
    }
}

impl sds::Source for Source {
    fn secret(&self, name: &str) -> Option<sds::Secret> {
        self.shared.note(name);
        // Nobody else is trusted here, so that the roots of the operating system are the mesh's own.
        Some(if name == "ROOTCA" || name == "file-root:system" {
            sds::Secret::Roots(self.shared.authority.certificate().into_bytes())
        } else if name == "default" {
            let pair = self.pair()?;
            sds::Secret::Own { chain: pair.certificate.into_bytes(), key: pair.key.into_bytes() }
        } else if let Some(files) = name.strip_prefix("file-cert:") {
            let (chain, key) = files.split_once('~')?;
            sds::Secret::Own { chain: self.shared.file(chain)?, key: self.shared.file(key)? }
        } else {
            sds::Secret::Roots(self.shared.file(name.strip_prefix("file-root:")?)?)
        })
    }

    async fn changed(&mut self) -> bool {
        self.generations.changed().await.is_ok()
    }
}
