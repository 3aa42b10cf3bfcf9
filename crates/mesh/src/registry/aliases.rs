//! ExternalName services that name another service are other names for it.

use crate::{Resolution, Service, ServiceKey};
use std::{collections::HashMap, sync::Arc};

/// For each host that has other names, these, by namespace and host. A name that leads in a circle leads nowhere.
pub(super) fn aliases(services: &[Arc<Service>]) -> HashMap<Arc<str>, Vec<ServiceKey>> {
    let is_alias = |service: &&Arc<Service>| service.resolution == Resolution::Alias;
    let named: HashMap<&str, &Arc<str>> =
        services.iter().filter(is_alias).map(|service| (service.host(), &service.external_name)).collect();
    let mut ends: HashMap<&str, Option<&Arc<str>>> = HashMap::new();
    let mut aliases: HashMap<Arc<str>, Vec<ServiceKey>> = HashMap::new();
    for service in services.iter().filter(is_alias) {
        if let Some(end) = end(service.host(), &named, &mut ends) {
            aliases.entry(Arc::clone(end)).or_default().push(service.key.clone());
        }
    }
    for keys in aliases.values_mut() {
        keys.sort_by(|a, b| (&a.namespace, &a.host).cmp(&(&b.namespace, &b.host)));
    }
    aliases
}

/// Where a chain of names ends. Every name on the way is then known: no step is taken twice.
fn end<'a>(
    host: &'a str,
    named: &HashMap<&'a str, &'a Arc<str>>,
    ends: &mut HashMap<&'a str, Option<&'a Arc<str>>>,
) -> Option<&'a Arc<str>> {
    let mut way = Vec::new();
    let mut here = host;
    let end = loop {
        if let Some(known) = ends.get(here) {
            break *known;
        }
        let Some(next) = named.get(here) else { break None };
        // Until the end is found this name leads nowhere, and neither does a way that comes back to it.
        ends.insert(here, None);
        way.push(here);
        if !named.contains_key(&***next) {
            break Some(*next);
        }
        here = next;
    };
    for name in way {
        ends.insert(name, end);
    }
    end
}
