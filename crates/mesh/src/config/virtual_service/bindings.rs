//! Routes by the gateway that they are bound to.

use super::Bound;
use crate::Visibility;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

#[derive(Debug)]
pub struct Bindings<T> {
    by_gateway: HashMap<Arc<str>, Gateway<T>>,
    /// Namespaces that see something that not all see.
    special: HashSet<Arc<str>>,
}

#[derive(Debug)]
struct Gateway<T> {
    public: Vec<Arc<T>>,
    private: HashMap<Arc<str>, Vec<Arc<T>>>,
    exported: HashMap<Arc<str>, Vec<Arc<T>>>,
}

impl<T> Default for Bindings<T> {
    fn default() -> Self {
        Self { by_gateway: HashMap::new(), special: HashSet::new() }
    }
}

impl<T: Bound> Bindings<T> {
    /// `all` in order.
    pub(super) fn new<'a>(all: impl Iterator<Item = &'a Arc<T>>) -> Self
    where
        T: 'a,
    {
        let mut bindings = Self::default();
        for routes in all {
            for (at, gateway) in routes.gateways().iter().enumerate() {
                // Named twice is bound once.
                if !routes.gateways()[..at].contains(gateway) {
                    bindings.add(gateway, routes);
                }
            }
        }
        bindings
    }

    fn add(&mut self, gateway: &str, routes: &Arc<T>) {
        if !self.by_gateway.contains_key(gateway) {
            let empty = Gateway { public: Vec::new(), private: HashMap::new(), exported: HashMap::new() };
            self.by_gateway.insert(gateway.into(), empty);
        }
        let Some(bound) = self.by_gateway.get_mut(gateway) else { return };
        match routes.visibility() {
            Visibility::Public => bound.public.push(Arc::clone(routes)),
            Visibility::Nobody => {}
            Visibility::Namespaces(namespaces) => {
                for namespace in namespaces {
                    let own = *namespace == routes.key().namespace;
                    let list = if own { &mut bound.private } else { &mut bound.exported };
                    list.entry(Arc::clone(namespace)).or_default().push(Arc::clone(routes));
                    self.special.insert(Arc::clone(namespace));
                }
            }
        }
    }

    /// Those of a gateway that proxies in `namespace` see; with none, what all see.
    pub fn of(&self, gateway: &str, namespace: Option<&str>) -> Vec<Arc<T>> {
        let Some(bound) = self.by_gateway.get(gateway) else { return Vec::new() };
        let seen = |lists: &'_ HashMap<Arc<str>, Vec<Arc<T>>>| {
            namespace.and_then(|namespace| lists.get(namespace)).cloned().unwrap_or_default()
        };
        let mut all = seen(&bound.private);
        all.extend(seen(&bound.exported));
        all.extend(bound.public.iter().cloned());
        all
    }

    /// Whether proxies in `namespace` may see what others do not.
    pub(crate) fn is_special(&self, namespace: &str) -> bool {
        self.special.contains(namespace)
    }
}
