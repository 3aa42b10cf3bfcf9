//! Between a stream and the HTTP/2 connection: room for one response, and for the end.
//!
//! The connection takes chunks as the client's window allows. Until it has taken all, the stream waits, so a client that does
//! not read holds back itself and one response, whose bytes are mostly shared. A channel would do, but keeps room for
//! thirty-two messages per stream.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tonic::Status;

#[derive(Default)]
struct Slot {
    chunks: VecDeque<Bytes>,
    end: Option<Status>,
    reader_gone: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// The stream's side.
pub(crate) struct Outbox(Arc<Mutex<Slot>>);

/// The connection's side.
pub(crate) struct Inbox(Arc<Mutex<Slot>>);

pub(crate) enum Taken {
    Chunk(Bytes),
    End(Status),
}

pub(crate) fn outbox() -> (Outbox, Inbox) {
    let slot = Arc::<Mutex<Slot>>::default();
    (Outbox(slot.clone()), Inbox(slot))
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outbox {
    pub(crate) fn is_free(&self) -> bool {
        lock(&self.0).chunks.is_empty()
    }

    /// Call it when it is free.
    pub(crate) fn put(&self, chunks: Vec<Bytes>) {
        let mut slot = lock(&self.0);
        slot.chunks.extend(chunks);
        let reader = slot.reader.take();
        drop(slot);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Resolves when the connection has taken all, or is gone.
    pub(crate) async fn freed(&self) {
        poll_fn(|context| {
            let mut slot = lock(&self.0);
            if slot.chunks.is_empty() || slot.reader_gone {
                return Poll::Ready(());
            }
            slot.writer = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Resolves when the connection is gone.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.0).reader_gone
    }

    /// Nothing comes after this. What is in the box is still delivered.
    pub(crate) fn end(&self, status: Status) {
        let mut slot = lock(&self.0);
        slot.end.get_or_insert(status);
        let reader = slot.reader.take();
        drop(slot);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.end(Status::internal("the stream ended without a word"));
    }
}

impl Inbox {
    pub(crate) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Option<Taken>> {
        let mut slot = lock(&self.0);
        let Some(chunk) = slot.chunks.pop_front() else {
            if let Some(status) = slot.end.take() {
                slot.reader_gone = true;
                return Poll::Ready(Some(Taken::End(status)));
            }
            if slot.reader_gone {
                return Poll::Ready(None);
            }
            slot.reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let writer = if slot.chunks.is_empty() { slot.writer.take() } else { None };
        drop(slot);
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(Some(Taken::Chunk(chunk)))
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.reader_gone = true;
        slot.chunks.clear();
        let writer = slot.writer.take();
        drop(slot);
        writer.into_iter().for_each(Waker::wake);
    }
}
