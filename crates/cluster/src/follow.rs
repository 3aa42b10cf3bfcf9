//! The reflector: list, watch, and what to do when either ends.
//!
//! ```text
//!            ┌───────── version served? ──no──▶ wait, ask again (Absent: no objects)
//!            ▼
//! List ─▶ Watch ──ended, cut──▶ Watch, from where it was
//!   ▲        └─────expired────┐
//!   └──── wait (backoff) ◀────┴── anything else
//! ```

use crate::{
    Change, Resource, Trimmed,
    backoff::{Backoff, jitter},
    failure::Failure,
    list::list,
    state::{Phase, State},
    told::Told,
    watch::watch,
};
use kube::Client;
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};
use tokio::{sync::mpsc, time::sleep};

/// How often a server is asked for a kind that it does not serve.
const ABSENT: Duration = Duration::from_secs(5);

/// Where changes go, turned into what the reader wants on the way.
pub(crate) struct Sink<'a, T, O> {
    out: mpsc::Sender<O>,
    turn: &'a mut (dyn FnMut(Change<T>) -> Option<O> + Send),
    name: &'a str,
    pub(crate) state: &'a State,
}

impl<T, O: Send> Sink<'_, T, O> {
    /// Waits while the reader is behind.
    pub(crate) async fn tell(&mut self, change: Change<T>) -> Result<(), Failure> {
        if let Change::Broken { .. } = &change {
            self.state.broken.fetch_add(1, Relaxed);
        }
        match (self.turn)(change) {
            Some(told) => self.out.send(told).await.map_err(|_| Failure::Unheard),
            None => Ok(()),
        }
    }

    /// The server answers again.
    pub(crate) fn following(&self) {
        if self.state.enter(Phase::Following) == Phase::Failing {
            tracing::info!(kind = self.name, "the API server answers again");
        }
    }
}

/// Follows a resource until nobody reads `out` any more. `turn` makes of each change what is sent; what it makes nothing
/// of is passed by.
pub async fn follow<T: Trimmed, O: Send>(
    client: Client,
    resource: Resource,
    state: Arc<State>,
    out: mpsc::Sender<O>,
    mut turn: impl FnMut(Change<T>) -> Option<O> + Send,
) {
    let name = resource.name();
    let mut told = Told::default();
    let mut backoff = Backoff::default();
    let mut sink = Sink { out: out.clone(), turn: &mut turn, name: &name, state: &state };
    let mut at: Option<(&'static str, String)> = None;
    while !out.is_closed() {
        let mut heard = false;
        let step = step(&client, &resource, &mut at, &mut told, &mut sink, &mut heard);
        // Nobody may be reading any more while the server is silent.
        let outcome = tokio::select! {
            outcome = step => outcome,
            () = out.closed() => return,
        };
        state.objects.store(told.len() as u64, Relaxed);
        if heard {
            backoff.reset();
        }
        let wait = match outcome {
            Ok(Next::Go) => continue,
            // A server that ends watches at once is not asked in a tight loop.
            Ok(Next::Again) if heard => continue,
            Ok(Next::Again) => backoff.next(),
            Ok(Next::Absent) => {
                at = None;
                backoff.reset();
                jitter(ABSENT)
            }
            Err(Failure::Unheard) => return,
            Err(Failure::Expired) => {
                tracing::debug!(kind = name, "too far behind: listing everything again");
                at = None;
                // At once the first time; a server that says so again and again is not asked in a tight loop.
                backoff.next()
            }
            Err(failure) => {
                let reason = failure.to_string();
                let wait = failure.retry_after().map_or_else(
                    || backoff.next(),
                    |seconds| jitter(Duration::from_secs(seconds.clamp(1, 60))),
                );
                if state.fail(reason.clone()) == Phase::Failing {
                    tracing::debug!(kind = name, reason, "still no answer from the API server");
                } else {
                    tracing::warn!(
                        kind = name,
                        reason,
                        "the API server does not answer as it should; trying again"
                    );
                }
                wait
            }
        };
        tokio::select! {
            () = sleep(wait) => {}
            () = out.closed() => return,
        }
    }
}

enum Next {
    Go,
    /// A watch has ended: another one, from where it was.
    Again,
    Absent,
}

/// One list, or one watch.
async fn step<T: Trimmed, O: Send>(
    client: &Client,
    resource: &Resource,
    at: &mut Option<(&'static str, String)>,
    told: &mut Told,
    sink: &mut Sink<'_, T, O>,
    heard: &mut bool,
) -> Result<Next, Failure> {
    if let Some((version, place)) = at {
        return match watch(client, resource, version, place, told, sink, heard).await {
            // The kind is gone, or the connection: the list will tell.
            Err(Failure::NotServed) => {
                *at = None;
                Ok(Next::Go)
            }
            // It did answer: a connection that is cut is nothing special until it cannot be made again.
            Err(Failure::Connection(reason)) if sink.state.phase() == Phase::Following && *heard => {
                tracing::debug!(kind = sink.name, reason, "a watch was cut");
                Ok(Next::Again)
            }
            outcome => outcome.map(|()| Next::Again),
        };
    }
    for version in resource.versions {
        match list(client, resource, version, told, sink).await {
            Err(Failure::NotServed) => {}
            Err(failure) => return Err(failure),
            Ok(place) => {
                *at = Some((version, place));
                sink.state.lists.fetch_add(1, Relaxed);
                sink.state.objects.store(told.len() as u64, Relaxed);
                sink.following();
                sink.tell(Change::Synced).await?;
                return Ok(Next::Go);
            }
        }
    }
    told.start();
    for key in told.finish() {
        sink.tell(Change::Gone(key)).await?;
    }
    // Before anybody hears that this is all.
    if sink.state.enter(Phase::Absent) != Phase::Absent {
        tracing::info!(kind = sink.name, "the API server does not serve this kind; waiting for it");
    }
    sink.tell(Change::Synced).await?;
    Ok(Next::Absent)
}
