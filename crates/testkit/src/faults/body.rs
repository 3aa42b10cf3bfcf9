//! A body that passes through until somebody cuts it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::watch;

use super::relay::BoxError;

pub(super) struct Cuttable {
    inner: Incoming,
    cut: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
    /// How many are open, this one among them.
    open: Arc<AtomicUsize>,
}

impl Cuttable {
    /// Ends with an error, in the middle, when the value changes.
    pub(super) fn new(inner: Incoming, mut cut: watch::Receiver<u64>, open: Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::SeqCst);
        let cut = Box::pin(async move {
            // The sender lives as long as the proxy: its end is a cut too.
            let _ = cut.changed().await;
        });
        Self { inner, cut, open }
    }
}

impl Drop for Cuttable {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Body for Cuttable {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.cut.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err("cut, as asked for by a test".into())));
        }
        Pin::new(&mut self.inner).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
