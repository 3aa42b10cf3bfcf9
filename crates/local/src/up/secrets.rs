//! An authority for this mesh, a certificate for each proxy, and a socket for each on which it gets it. The folder of the sockets,
//! and each of them, can be opened by this user alone.

use super::Failed;
use crate::{
    http::short,
    plan::{GATEWAY, Plan, bootstrap::secrets_socket},
    state::State,
};
use mizzen_identity::{Authority, Holder, Spiffe, keep, sds};
use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::PermissionsExt,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{net::UnixListener, task::JoinSet};

/// As Istio's workloads have.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);

pub(super) fn serve(
    state: &State,
    plan: &Plan,
    tasks: &mut JoinSet<()>,
) -> Result<BTreeMap<String, Holder>, Failed> {
    let authority = Arc::new(Authority::new("mizzen up", SystemTime::now())?);
    let proxies: Vec<(&str, &Spiffe)> = std::iter::once((GATEWAY, &plan.gateway.identity))
        .chain(plan.workloads.iter().map(|workload| (workload.name.as_str(), &workload.identity)))
        .collect();
    let mut holders = BTreeMap::new();
    for (name, identity) in proxies {
        let (holder, renewing) = keep(Arc::clone(&authority), identity.clone(), LIFETIME)?;
        tasks.spawn(renewing);
        let path = state.run().join(secrets_socket(name));
        let listener = listen(&path).map_err(|source| Failed::Disk { path, source })?;
        let served = sds::serve(listener, holder.clone());
        tasks.spawn(async move {
            if let Err(error) = served.await {
                tracing::error!(%error, "secrets are served no more");
            }
        });
        holders.insert(name.to_owned(), holder);
    }
    Ok(holders)
}

fn listen(path: &std::path::Path) -> io::Result<UnixListener> {
    let (near, _folder) = short(path)?;
    let listener = UnixListener::bind(near)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
