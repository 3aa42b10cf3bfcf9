//! The scopes of a snapshot, made when they are first asked for.

use super::{Scope, Seen, keep::Kept, made::Made, seen::Viewer};
use crate::{
    ProxyKind, Snapshot,
    config::{Bindings, Bound, L4Routes, MESH, Routed, VirtualService},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

type Whole = HashMap<(ProxyKind, Arc<str>), Arc<Scope>>;

#[derive(Debug, Default)]
pub(crate) struct Scopes {
    seen: Kept<Viewer, Seen>,
    http: Kept<Option<Arc<str>>, Routed<VirtualService>>,
    l4: Kept<Option<Arc<str>>, Routed<L4Routes>>,
    /// The same for all snapshots in which no part moved.
    whole: Arc<Mutex<Whole>>,
    made: Made,
}

impl Scopes {
    /// For `next`, made of those of the snapshot before it.
    pub(crate) fn next(&self, last: &Snapshot, next: &Snapshot) -> Self {
        let services = !Arc::ptr_eq(&last.settings, &next.settings)
            || !Arc::ptr_eq(&last.services, &next.services)
            || !Arc::ptr_eq(&last.destination_rules, &next.destination_rules);
        let http = !Arc::ptr_eq(&last.virtual_services.http, &next.virtual_services.http);
        let l4 = !Arc::ptr_eq(&last.virtual_services.l4, &next.virtual_services.l4);
        // Routes lead to services that are hidden otherwise.
        let services = services || (http && next.services.hides_any());
        if services {
            self.made.sweep();
        }
        Self {
            seen: self.seen.next(services),
            http: self.http.next(http),
            l4: self.l4.next(l4),
            whole: if services || http || l4 { Arc::default() } else { Arc::clone(&self.whole) },
            made: self.made.clone(),
        }
    }

    pub(crate) fn get(&self, snapshot: &Snapshot, kind: ProxyKind, namespace: &Arc<str>) -> Arc<Scope> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scope) = whole.get(&(kind, Arc::clone(namespace))) {
            return Arc::clone(scope);
        }
        let router = kind == ProxyKind::Router;
        let special = snapshot.services.is_special(namespace)
            || snapshot.destination_rules.is_special(&snapshot.settings, namespace);
        let viewer = Viewer { router, namespace: special.then(|| Arc::clone(namespace)) };
        let seen = self.seen.get(&viewer, |before| {
            let seen = Seen::new(snapshot, &viewer, &self.made);
            match before {
                Some(before) if before.is(&seen) => Arc::clone(before),
                _ => Arc::new(seen),
            }
        });
        let scope = Arc::new(if router {
            Scope { seen, http: Arc::default(), l4: Arc::default() }
        } else {
            Scope {
                seen,
                http: routed(&self.http, &snapshot.virtual_services.http, namespace),
                l4: routed(&self.l4, &snapshot.virtual_services.l4, namespace),
            }
        });
        whole.insert((kind, Arc::clone(namespace)), Arc::clone(&scope));
        scope
    }
}

fn routed<T: Bound>(
    kept: &Kept<Option<Arc<str>>, Routed<T>>,
    bindings: &Bindings<T>,
    namespace: &Arc<str>,
) -> Arc<Routed<T>> {
    let viewer = bindings.is_special(namespace).then(|| Arc::clone(namespace));
    kept.get(&viewer, |before| {
        let list = bindings.of(MESH, viewer.as_deref());
        match before {
            Some(before) if before.is(&list) => Arc::clone(before),
            _ => Arc::new(Routed::new(list)),
        }
    })
}
