//! Work along a graph, ten objects at a time, and the ledger written after each. One that fails keeps only those that need it.

use super::{
    graph::{Graph, Steps},
    ledger::Ledger,
    lock::BEAT,
    record::{Held, NoRelease},
};
use std::collections::HashMap;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// Objects that are worked on at once.
const AT_ONCE: usize = 10;

/// Somebody who has had enough: what is begun is ended, nothing new is begun.
#[derive(Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Set to true when it is enough.
    pub fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    pub(super) fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) async fn asked(&mut self) {
        if self.0.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What came of a walk.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Before everything was begun.
    pub(super) stopped: bool,
    /// Those that were not begun, because what they need has failed.
    pub(super) given_up: Vec<usize>,
}

/// `ended` says whether what needs this object can be begun; it may change the ledger, which is written then.
pub(super) async fn walk<T, F>(
    held: &mut Held,
    graph: &Graph,
    stop: &mut Stop,
    work: impl Fn(usize) -> F,
    mut ended: impl FnMut(&mut Ledger, usize, Result<T, String>) -> bool,
) -> Result<Walked, NoRelease>
where
    T: Send + 'static,
    F: Future<Output = Result<T, String>> + Send + 'static,
{
    let mut steps = Steps::new(graph);
    let mut walked = Walked::default();
    let mut running = JoinSet::new();
    let mut places = HashMap::new();
    let mut unwritten = false;
    let mut beat = Instant::now() + BEAT;
    loop {
        let stopped = stop.is_asked();
        while !stopped && running.len() < AT_ONCE {
            match steps.next() {
                Some(place) => {
                    let task = running.spawn(work(place));
                    places.insert(task.id(), place);
                }
                None if running.is_empty() && steps.untangle() => {}
                None => break,
            }
        }
        if unwritten {
            held.write().await?;
            (unwritten, beat) = (false, Instant::now() + BEAT);
        }
        let first = tokio::select! {
            first = running.join_next_with_id() => first,
            () = stop.asked(), if !stopped => continue,
            () = sleep_until(beat) => {
                held.beat().await?;
                beat = Instant::now() + BEAT;
                continue;
            }
        };
        let Some(first) = first else {
            walked.stopped = stopped && steps.next().is_some();
            return Ok(walked);
        };
        // Whatever has ended meanwhile is recorded in one go.
        let mut joined = Some(first);
        while let Some(one) = joined {
            let (task, result) = match one {
                Ok((task, result)) => (task, result),
                Err(error) => (error.id(), Err(error.to_string())),
            };
            if let Some(place) = places.remove(&task) {
                unwritten = true;
                if ended(&mut held.ledger, place, result) {
                    steps.done(place);
                } else {
                    walked.given_up.extend(steps.failed(place));
                }
            }
            joined = running.try_join_next_with_id();
        }
    }
}

/// Something that takes its time, with signs of life meanwhile. Nothing if it was stopped.
pub(super) async fn attended<T>(
    held: &mut Held,
    stop: &mut Stop,
    work: impl Future<Output = T>,
) -> Result<Option<T>, NoRelease> {
    let mut work = std::pin::pin!(work);
    loop {
        let beat = sleep_until(Instant::now() + BEAT);
        tokio::select! {
            biased;
            result = &mut work => return Ok(Some(result)),
            () = stop.asked() => return Ok(None),
            () = beat => held.beat().await?,
        }
    }
}
