//! The messages of a request's body.
//!
//! gRPC puts five bytes before each: a flag and a length. Of a message more than [`LARGE`] is read only with one of a few permits, which
//! all streams share; who announces much and sends nothing has none.

use std::{future::poll_fn, pin::Pin, sync::Arc, time::Instant};

use bytes::{Buf, Bytes, BytesMut};
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

use crate::wire::GRPC_HEAD;

pub(crate) const LARGE: usize = 64 << 10;

pub(crate) struct Frames<B> {
    body: B,
    buffer: BytesMut,
    largest: usize,
    permits: Arc<Semaphore>,
    permit: Option<(OwnedSemaphorePermit, Instant)>,
}

impl<B: Body<Data = Bytes> + Unpin> Frames<B> {
    pub(crate) fn new(body: B, largest: usize, permits: Arc<Semaphore>) -> Self {
        Self { body, buffer: BytesMut::new(), largest, permits, permit: None }
    }

    /// Since when a large message is being read.
    pub(crate) fn large_since(&self) -> Option<Instant> {
        self.permit.as_ref().map(|(_, since)| *since)
    }

    /// The next message; `None` when the client has ended its side. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            let length = self.announced()?;
            if let Some(message) = length.and_then(|length| self.take(length)) {
                return Ok(Some(message));
            }
            if self.buffer.len() > LARGE && self.permit.is_none() {
                let permit = self.permits.clone().acquire_owned().await;
                let permit = permit.map_err(|_| Status::unavailable("the server is going down"))?;
                self.permit = Some((permit, Instant::now()));
            }
            match poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await {
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err(Status::invalid_argument("the stream ends within a message")),
                Some(Err(_)) => return Err(Status::cancelled("the connection broke")),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    /// The length of the message that the buffer begins with.
    fn announced(&self) -> Result<Option<usize>, Status> {
        let Some((head, _)) = self.buffer.split_first_chunk::<GRPC_HEAD>() else { return Ok(None) };
        let [compressed, length @ ..] = *head;
        if compressed != 0 {
            return Err(Status::unimplemented("compressed requests are not read"));
        }
        match u32::from_be_bytes(length) as usize {
            length if length > self.largest => Err(Status::resource_exhausted(format!(
                "a request of {length} bytes is larger than the {} that are allowed",
                self.largest
            ))),
            length => Ok(Some(length)),
        }
    }

    fn take(&mut self, length: usize) -> Option<Bytes> {
        if self.buffer.len() < GRPC_HEAD + length {
            return None;
        }
        self.buffer.advance(GRPC_HEAD);
        let message = self.buffer.split_to(length).freeze();
        if self.buffer.is_empty() {
            // An idle stream keeps no buffer.
            self.buffer = BytesMut::new();
        }
        self.permit = None;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::body::Frame;
    use std::{
        collections::VecDeque,
        convert::Infallible,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    struct Pieces(VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.pop_front().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
        }
    }

    #[test]
    fn only_who_has_sent_much_takes_one_of_the_few_places() {
        let permits = Arc::new(Semaphore::new(1));
        let announced = Bytes::from_static(&[0, 0, 2, 0, 0]);
        let much = Bytes::from(vec![0; LARGE]);
        let left_with = |pieces: &[&Bytes]| {
            let pieces = Pieces(pieces.iter().map(|piece| (*piece).clone()).collect());
            let mut frames = Frames::new(pieces, 1 << 20, permits.clone());
            let next = pin!(frames.next()).poll(&mut Context::from_waker(Waker::noop()));
            let message = match next {
                Poll::Ready(message) => message.unwrap().map(|message| message.len()),
                Poll::Pending => None,
            };
            (permits.available_permits(), message)
        };
        assert_eq!(left_with(&[&announced]), (1, None));
        assert_eq!(left_with(&[&announced, &much]), (0, None));
        assert_eq!(left_with(&[&announced, &much, &much]), (1, Some(2 * LARGE)));
    }
}
