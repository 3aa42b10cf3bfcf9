//! The process: wait for the lease, follow the cluster, one pass at a time; stop when told, or when the lease is lost.

use crate::{
    follow::News,
    istio::{self, IstioReconciler},
    pages::{self, Shown},
    pass::{Stopped, Worker},
    queue::{Cause, Outcome, Queue},
    work::Work,
};
use mizzen_cluster::{Cluster, Key, Lease, Term, jitter};
use mizzen_install::Charts;
use std::{
    collections::BTreeSet,
    future::Future,
    io,
    pin::pin,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet, time::sleep_until};

pub struct Options {
    pub charts: Box<dyn Charts>,
    /// Of this program.
    pub version: String,
    pub kind: Kind,
    pub lease_namespace: String,
    /// Our name: no other process has it.
    pub holder: String,
    pub renew_deadline: Duration,
    /// For each component to become ready.
    pub patience: Duration,
    /// Where health and metrics are; nowhere if it is nothing.
    pub address: Option<String>,
}

/// Which resources, and what is only theirs.
pub enum Kind {
    IstioOperator {
        /// The revision whose resources are ours; empty for all.
        revision: String,
        /// Empty for all.
        namespaces: Vec<String>,
    },
    Istio(istio::Settings),
}

#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error("cannot listen at {address}: {reason}")]
    Listen { address: String, reason: io::Error },
}

/// Events that may wait to be heard.
const NEWS: usize = 256;
/// A pass that takes longer lets others go first.
const POLITE: Duration = Duration::from_secs(10);

pub async fn run(
    cluster: Arc<Cluster>,
    options: Options,
    end: impl Future<Output = ()>,
) -> Result<(), Failed> {
    let shown = Arc::new(Shown::default());
    let (charts, version) = (options.charts.as_ref(), options.version.as_str());
    match &options.kind {
        Kind::IstioOperator { revision, namespaces } => {
            let worker = Worker {
                cluster: Arc::clone(&cluster),
                charts,
                version,
                revision,
                namespaces,
                lease_namespace: &options.lease_namespace,
                patience: options.patience,
                onlookers: Mutex::default(),
            };
            work_on(&worker, cluster, &options, shown, end).await
        }
        Kind::Istio(settings) => {
            let patience = options.patience;
            let reconciler = IstioReconciler {
                cluster: Arc::clone(&cluster),
                charts,
                version,
                settings,
                patience,
                shown: Arc::clone(&shown),
            };
            work_on(&reconciler, cluster, &options, shown, end).await
        }
    }
}

async fn work_on(
    work: &impl Work,
    cluster: Arc<Cluster>,
    options: &Options,
    shown: Arc<Shown>,
    end: impl Future<Output = ()>,
) -> Result<(), Failed> {
    let mut end = pin!(end);
    // Ends with this function.
    let mut pages = JoinSet::new();
    if let Some(address) = &options.address {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|reason| Failed::Listen { address: address.clone(), reason })?;
        pages.spawn(pages::serve(listener, Arc::clone(&shown)));
    }
    let term = Term::of_deadline(options.renew_deadline);
    let lease =
        Lease::new(Arc::clone(&cluster), &options.lease_namespace, &work.lock(), &options.holder, term);
    loop {
        tokio::select! {
            () = &mut end => return Ok(()),
            () = lease.acquire() => {}
        }
        tracing::info!(holder = options.holder, "leading");
        shown.leading.store(true, Relaxed);
        tokio::select! {
            () = &mut end => {
                lease.release().await;
                return Ok(());
            }
            () = lease.keep() => tracing::warn!("the lease is lost: nothing more is done until it is ours again"),
            () = lead(work, &cluster, &shown) => {}
        }
        shown.leading.store(false, Relaxed);
        shown.synced.store(false, Relaxed);
    }
}

/// Never ends by itself.
async fn lead(work: &impl Work, cluster: &Cluster, shown: &Shown) {
    let (out, mut news) = mpsc::channel(NEWS);
    let _following = work.follow(&cluster.client(), &out);
    let mut unsynced = work.watches();
    let mut known: BTreeSet<Key> = BTreeSet::new();
    let mut queue = Queue::new(work.pace(), jitter);
    let mut hear = |queue: &mut Queue, news: News| {
        let looks = match news {
            News::Look(looks) => looks,
            News::Everybody(cause) => known.iter().map(|key| (key.clone(), cause)).collect(),
            News::Synced => {
                unsynced = unsynced.saturating_sub(1);
                shown.synced.store(unsynced == 0, Relaxed);
                return;
            }
        };
        for (key, cause) in looks.into_iter().filter(|(key, _)| work.has(key)) {
            known.insert(key.clone());
            queue.add(key, cause, Instant::now());
        }
        shown.waiting.store(queue.len() as u64, Relaxed);
    };
    loop {
        let Some(key) = queue.next(Instant::now()) else {
            tokio::select! {
                Some(told) = news.recv() => hear(&mut queue, told),
                () = until(queue.when()) => {}
            }
            continue;
        };
        let started = Instant::now();
        let ended = {
            let mut pass = pin!(work.pass(&key));
            loop {
                // Others are let go first, but not before this one had its time.
                let others = queue.when_others(&key).map(|at| at.max(started + POLITE));
                tokio::select! {
                    ended = &mut pass => break Some(ended),
                    Some(told) = news.recv() => hear(&mut queue, told),
                    () = until(others) => {
                        queue.add(key.clone(), Cause::Drifted, Instant::now());
                        break None;
                    }
                }
                if queue.is_outdated(&key) {
                    break None;
                }
            }
        };
        // Cut off: it is in the queue again.
        let Some(ended) = ended else { continue };
        shown.passes.fetch_add(1, Relaxed);
        let outcome = ended.unwrap_or_else(|stopped| {
            let resource = work.id(&key);
            match stopped {
                Stopped::Blocked(sentence) => {
                    tracing::info!(%resource, "{sentence}");
                    return Outcome::Blocked;
                }
                Stopped::Told(sentence) => tracing::warn!(%resource, "{sentence}"),
                Stopped::Refused(reason) => tracing::warn!(%resource, %reason, "trying again"),
                Stopped::Inventory(reason) => tracing::warn!(%resource, %reason, "trying again"),
            }
            Outcome::Failed
        });
        if outcome == Outcome::Failed {
            shown.failures.fetch_add(1, Relaxed);
        }
        tracing::debug!(resource = %work.id(&key), ?outcome, took = ?started.elapsed(), "a pass");
        queue.done(&key, outcome, Instant::now());
    }
}

async fn until(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when.into()).await,
        None => std::future::pending().await,
    }
}
