//! The process: for each kind of resources wait for the lease, follow the cluster, one pass at a time; stop when told, or when the lease
//! is lost.

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
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{sleep, sleep_until},
};

pub struct Options {
    pub charts: Box<dyn Charts>,
    /// Of this program.
    pub version: String,
    pub istio_operators: Option<IstioOperators>,
    pub istios: Option<Istios>,
    /// Whether a kind waits until it is defined.
    pub when_defined: bool,
    /// Our name: no other process has it.
    pub holder: String,
    /// Whether we work only while the lease is ours.
    pub elects: bool,
    pub renew_deadline: Duration,
    /// For each component to become ready.
    pub patience: Duration,
    /// Where health and metrics are.
    pub addresses: Vec<String>,
}

/// What is only theirs.
pub struct IstioOperators {
    /// The revision whose resources are ours; empty for all.
    pub revision: String,
    /// Empty for all.
    pub namespaces: Vec<String>,
    pub lease_namespace: String,
}

/// What is only theirs.
pub struct Istios {
    pub settings: istio::Settings,
    pub lease_namespace: String,
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
/// Between two looks whether a kind is defined.
const UNDEFINED: Duration = Duration::from_secs(5);

pub async fn run(
    cluster: Arc<Cluster>,
    options: Options,
    end: impl Future<Output = ()>,
) -> Result<(), Failed> {
    let (of_operators, of_istios) = (Arc::new(Shown::new("istiooperator")), Arc::new(Shown::new("istio")));
    let shown: Arc<[Arc<Shown>]> = [
        options.istio_operators.is_some().then(|| Arc::clone(&of_operators)),
        options.istios.is_some().then(|| Arc::clone(&of_istios)),
    ]
    .into_iter()
    .flatten()
    .collect();
    // Ends with this function.
    let mut pages = JoinSet::new();
    for address in &options.addresses {
        let listener = pages::listen(address).await;
        let listener = listener.map_err(|reason| Failed::Listen { address: address.clone(), reason })?;
        pages.spawn(pages::serve(listener, Arc::clone(&shown)));
    }
    let (told, ended) = watch::channel(());
    let (charts, version, patience) = (options.charts.as_ref(), options.version.as_str(), options.patience);
    let operators = async {
        let Some(IstioOperators { revision, namespaces, lease_namespace }) = &options.istio_operators else {
            return;
        };
        let onlookers = Mutex::default();
        let cluster = Arc::clone(&cluster);
        let work =
            Worker { cluster, charts, version, revision, namespaces, lease_namespace, patience, onlookers };
        Loop { work, shown: of_operators, options: &options, lease_namespace }.run(ended.clone()).await;
    };
    let istios = async {
        let Some(Istios { settings, lease_namespace }) = &options.istios else { return };
        let (cluster, shown, restarts) =
            (Arc::clone(&cluster), Arc::clone(&of_istios), istio::Counts::default());
        let work = IstioReconciler { cluster, charts, version, settings, patience, shown, restarts };
        Loop { work, shown: of_istios, options: &options, lease_namespace }.run(ended.clone()).await;
    };
    let end = async {
        end.await;
        // Everybody sees that nobody tells anything any more.
        drop(told);
    };
    tokio::join!(end, operators, istios);
    Ok(())
}

/// One kind of resources, and all that is done about it.
struct Loop<'a, W> {
    work: W,
    shown: Arc<Shown>,
    options: &'a Options,
    lease_namespace: &'a str,
}

impl<W: Work> Loop<'_, W> {
    async fn run(&self, mut ended: watch::Receiver<()>) {
        let mut end = pin!(async move { while ended.changed().await.is_ok() {} });
        let Self { work, shown, options, lease_namespace } = self;
        let cluster = work.cluster();
        if options.when_defined {
            tokio::select! {
                () = &mut end => return,
                () = until_defined(cluster, work) => {}
            }
        }
        if !options.elects {
            shown.leading.store(true, Relaxed);
            tokio::select! {
                () = &mut end => {}
                () = lead(work, cluster, shown) => {}
            }
            return;
        }
        let term = Term::of_deadline(options.renew_deadline);
        let lease = Lease::new(Arc::clone(cluster), lease_namespace, &work.lock(), &options.holder, term);
        loop {
            tokio::select! {
                () = &mut end => return,
                () = lease.acquire() => {}
            }
            tracing::info!(holder = options.holder, kind = shown.controller, "leading");
            shown.leading.store(true, Relaxed);
            tokio::select! {
                () = &mut end => {
                    lease.release().await;
                    return;
                }
                () = lease.keep() => tracing::warn!("the lease is lost: nothing more is done until it is ours again"),
                () = lead(work, cluster, shown) => {}
            }
            shown.leading.store(false, Relaxed);
            shown.synced.store(false, Relaxed);
        }
    }
}

async fn until_defined(cluster: &Cluster, work: &impl Work) {
    let (group, kind) = work.kind();
    let mut told = false;
    loop {
        match cluster.look().await {
            Ok(()) if cluster.served().find(group, kind, None).is_some() => return,
            Ok(()) if told => {}
            Ok(()) => {
                tracing::info!("{kind} is not defined in this cluster: waiting for it");
                told = true;
            }
            Err(reason) => tracing::warn!(%reason, "cannot see what is defined"),
        }
        sleep(UNDEFINED).await;
    }
}

/// Never ends by itself.
async fn lead(work: &impl Work, cluster: &Cluster, shown: &Shown) {
    let (out, mut news) = mpsc::channel(NEWS);
    let _following = work.follow(&cluster.client(), &out);
    let mut queue = Queue::new(work.pace(), jitter);
    let mut ears = Ears { work, shown, unsynced: work.watches(), known: BTreeSet::new() };
    loop {
        let Some(key) = queue.next(Instant::now()) else {
            tokio::select! {
                Some(told) = news.recv() => ears.hear(&mut queue, told),
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
                    Some(told) = news.recv() => ears.hear(&mut queue, told),
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
        if outcome == Outcome::Gone {
            ears.known.remove(&key);
        }
        queue.done(&key, outcome, Instant::now());
    }
}

/// What is heard of the cluster, and whom it concerns.
struct Ears<'a, W> {
    work: &'a W,
    shown: &'a Shown,
    /// Watches that have not told all resources yet.
    unsynced: usize,
    /// Resources that are there.
    known: BTreeSet<Key>,
}

impl<W: Work> Ears<'_, W> {
    fn hear(&mut self, queue: &mut Queue, news: News) {
        let looks = match news {
            News::Look(looks) => looks,
            News::Everybody(cause) => self.known.iter().map(|key| (key.clone(), cause)).collect(),
            News::Synced => {
                self.unsynced = self.unsynced.saturating_sub(1);
                self.shown.synced.store(self.unsynced == 0, Relaxed);
                return;
            }
        };
        for (key, cause) in looks.into_iter().filter(|(key, _)| self.work.has(key)) {
            self.known.insert(key.clone());
            queue.add(key, cause, Instant::now());
        }
        self.shown.waiting.store(queue.len() as u64, Relaxed);
    }
}

async fn until(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when.into()).await,
        None => std::future::pending().await,
    }
}
