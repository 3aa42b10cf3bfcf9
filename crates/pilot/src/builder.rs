//! One thread of its own that owns the store: events in, snapshots out.
//!
//! An isolated change goes out at once. Under load events are collected while the last snapshot is younger than a few
//! milliseconds. Nothing is published before every source has told all that was there.

use crate::{
    metrics::Metrics,
    objects::Objects,
    replay::Replay,
    sources::{Known, Source, Told},
};
use mizzen_mesh::{Event, Settings, Snapshot, Store};
use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// At least this long lies between two snapshots.
const PACE: Duration = Duration::from_millis(4);
/// Events that are taken at once.
const BATCH: usize = 1_024;

/// A snapshot that is new.
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    /// When the first of the events in it arrived.
    pub(crate) since: Instant,
    /// The same, read from nothing, if it is to be compared.
    pub(crate) cold: Option<Arc<Snapshot>>,
}

pub(crate) struct Builder {
    pub(crate) told: mpsc::Receiver<Told>,
    pub(crate) sources: Arc<[Arc<Known>]>,
    pub(crate) settings: Settings,
    pub(crate) objects: Arc<Objects>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) replay: Option<Replay>,
}

impl Builder {
    /// Runs until all sources are gone.
    pub(crate) fn start(
        self,
        publish: impl FnMut(Published) + Send + 'static,
    ) -> std::io::Result<thread::JoinHandle<()>> {
        thread::Builder::new().name("builder".to_owned()).spawn(move || self.run(publish))
    }

    fn run(mut self, mut publish: impl FnMut(Published)) {
        let mut store = Store::new(self.settings.clone());
        let mut waiting: BTreeSet<usize> = (0..self.sources.len()).collect();
        let mut last: Option<(Instant, u64)> = None;
        let mut batch = Vec::with_capacity(BATCH);
        let mut since = None;
        loop {
            if since.is_some() && waiting.is_empty() {
                // With events at hand, only as long as the pace wants it.
                if let Some(wait) = last.and_then(|(at, _)| PACE.checked_sub(at.elapsed())) {
                    thread::sleep(wait);
                }
                // The room first: what was received must be kept.
                while batch.len() < BATCH
                    && let Ok(told) = self.told.try_recv()
                {
                    batch.push(told);
                }
            } else if self.told.blocking_recv_many(&mut batch, BATCH) == 0 {
                return;
            }
            if !batch.is_empty() {
                since = since.or_else(|| Some(Instant::now()));
            }
            for told in batch.drain(..) {
                self.take(&mut store, &mut waiting, told);
            }
            // While everything is read for the first time, a snapshot in between would be for nobody.
            let due = last.is_none_or(|(at, _)| at.elapsed() >= PACE);
            let Some(started) = since.filter(|_| waiting.is_empty() && due) else { continue };
            since = None;
            let begun = Instant::now();
            let snapshot = store.snapshot();
            self.metrics.snapshot_time.observe(begun.elapsed());
            let number = snapshot.number;
            let is_new = last.is_none_or(|(_, last)| last != number);
            if is_new {
                self.metrics.note(&snapshot);
                let cold = self.replay.as_ref().map(Replay::cold);
                publish(Published { snapshot, since: started, cold });
            }
            if last.is_none() {
                tracing::info!(snapshot = number, "every source has been read");
            }
            last = Some((Instant::now(), number));
        }
    }

    fn take(&mut self, store: &mut Store, waiting: &mut BTreeSet<usize>, told: Told) {
        match told {
            Told::Event(event) => {
                self.count(&event);
                self.apply(store, event);
            }
            Told::Settings(source, settings) => {
                self.metrics.count_update("config");
                self.apply(store, Event::Settings(settings));
                self.synced(waiting, source);
            }
            Told::Refused(source) => {
                let source = &self.sources[source.0].name;
                tracing::debug!(source, "a configuration of the mesh was refused");
                self.metrics.refused_settings.fetch_add(1, Relaxed);
            }
            Told::Synced(source) => self.synced(waiting, source),
        }
    }

    fn apply(&mut self, store: &mut Store, event: Event) {
        if let Some(replay) = &mut self.replay {
            replay.take(&event);
        }
        store.apply(event);
    }

    fn synced(&self, waiting: &mut BTreeSet<usize>, source: Source) {
        if waiting.remove(&source.0) {
            self.sources[source.0].synced.store(true, Relaxed);
            tracing::debug!(
                source = self.sources[source.0].name,
                left = waiting.len(),
                "a source is in step"
            );
        }
    }

    fn count(&self, event: &Event) {
        let kind = self.objects.take(event);
        if let Event::Broken { key, reason } = event {
            tracing::warn!(object = %key, %reason, "an object does not count; its last good version stays");
            self.metrics.broken.fetch_add(1, Relaxed);
        }
        match event {
            Event::Service(_) | Event::Node(_) | Event::Namespace(_) => self.metrics.count_update("svc"),
            Event::EndpointSlice(_) | Event::Pod(_) => self.metrics.count_update("eds"),
            Event::Istio(_) | Event::Settings(_) => self.metrics.count_update("config"),
            Event::Gone(_) | Event::Broken { .. } => {}
        }
        if let Some((kind, what)) = kind {
            self.metrics.count_event(kind, what);
        }
    }
}
