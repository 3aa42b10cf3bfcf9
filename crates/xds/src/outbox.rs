//! Between a stream and the HTTP/2 connection: room for one response, and for the end.
//!
//! The connection takes chunks as the client's window allows, and asks for more when it has passed the last one on. Until it
//! has passed on all, the stream waits, so a client that does not read holds back itself and one response, whose bytes are
//! mostly shared. A channel would do, but keeps room for thirty-two messages per stream.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Instant,
};

use bytes::Bytes;
use tonic::Status;

/// The connection is handed at most this at once, so that what it has not passed on is little.
const CHUNK: usize = 128 << 10;

#[derive(Default)]
struct Slot {
    chunks: VecDeque<Bytes>,
    /// The connection has the last chunk and has not asked for more.
    passing: bool,
    /// When something last moved.
    moved: Option<Instant>,
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

impl Slot {
    fn is_free(&self) -> bool {
        self.chunks.is_empty() && !self.passing
    }
}

impl Outbox {
    pub(crate) fn is_free(&self) -> bool {
        lock(&self.0).is_free()
    }

    /// When the connection last took something of what is in the box; `None` if nothing is.
    pub(crate) fn stuck_since(&self) -> Option<Instant> {
        let slot = lock(&self.0);
        slot.moved.filter(|_| !slot.is_free())
    }

    /// Call it when it is free.
    pub(crate) fn put(&self, chunks: Vec<Bytes>) {
        let mut slot = lock(&self.0);
        for mut chunk in chunks {
            while chunk.len() > CHUNK {
                slot.chunks.push_back(chunk.split_to(CHUNK));
            }
            slot.chunks.push_back(chunk);
        }
        slot.moved = Some(Instant::now());
        let reader = slot.reader.take();
        drop(slot);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Resolves when the connection has taken all, or is gone.
    pub(crate) async fn freed(&self) {
        poll_fn(|context| {
            let mut slot = lock(&self.0);
            if slot.is_free() || slot.reader_gone {
                return Poll::Ready(());
            }
            slot.writer = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Whether the connection is gone.
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
        slot.passing = false;
        let Some(chunk) = slot.chunks.pop_front() else {
            if let Some(status) = slot.end.take() {
                slot.reader_gone = true;
                return Poll::Ready(Some(Taken::End(status)));
            }
            if slot.reader_gone {
                return Poll::Ready(None);
            }
            slot.reader = Some(context.waker().clone());
            let writer = slot.writer.take();
            drop(slot);
            writer.into_iter().for_each(Waker::wake);
            return Poll::Pending;
        };
        slot.passing = true;
        slot.moved = Some(Instant::now());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn take(inbox: &Inbox) -> Poll<Option<Taken>> {
        inbox.poll_take(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_box_is_free_when_the_connection_asks_for_more() {
        let (outbox, inbox) = outbox();
        assert!(outbox.is_free() && outbox.stuck_since().is_none());
        outbox.put(vec![Bytes::from_static(b"a")]);
        assert!(matches!(take(&inbox), Poll::Ready(Some(Taken::Chunk(_)))));
        assert!(!outbox.is_free() && outbox.stuck_since().is_some(), "it was taken, not passed on");
        assert!(take(&inbox).is_pending());
        assert!(outbox.is_free() && outbox.stuck_since().is_none());
    }

    #[test]
    fn what_is_in_the_box_comes_before_the_end() {
        let (outbox, inbox) = outbox();
        outbox.put(vec![vec![0; CHUNK + 1].into()]);
        outbox.end(Status::ok(""));
        let lengths = [CHUNK, 1];
        for length in lengths {
            let Poll::Ready(Some(Taken::Chunk(chunk))) = take(&inbox) else { panic!("no chunk") };
            assert_eq!(chunk.len(), length);
        }
        assert!(matches!(take(&inbox), Poll::Ready(Some(Taken::End(_)))));
        assert!(matches!(take(&inbox), Poll::Ready(None)));
    }
}
