//! Extension providers have names, and a later one of the same name takes the place of the former.

use mizzen_proto::istio::mesh::v1alpha1::mesh_config::ExtensionProvider;
use std::collections::BTreeMap;

pub(super) fn by_name(base: &[ExtensionProvider], new: Vec<ExtensionProvider>) -> Vec<ExtensionProvider> {
    let mut all = base.to_vec();
    // Of equal names in the base the first counts.
    let mut places: BTreeMap<String, usize> =
        base.iter().enumerate().rev().map(|(place, provider)| (provider.name.clone(), place)).collect();
    for provider in new {
        match places.get(&provider.name).and_then(|place| all.get_mut(*place)) {
            Some(former) => former.provider = provider.provider,
            None => {
                places.insert(provider.name.clone(), all.len());
                all.push(provider);
            }
        }
    }
    all
}
