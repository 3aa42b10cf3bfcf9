//! The body of a gRPC answer: chunks as they are, then the status as trailers.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body, Frame};
use tonic::{Code, Status};

use crate::outbox::{Inbox, Taken};

pub(crate) struct Answer(Inbox);

impl Answer {
    pub(crate) fn new(inbox: Inbox) -> Self {
        Self(inbox)
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match ready!(self.0.poll_take(context)) {
            None => return Poll::Ready(None),
            Some(Taken::Chunk(chunk)) => Frame::data(chunk),
            Some(Taken::End(status)) => Frame::trailers(trailers(&status)),
        };
        Poll::Ready(Some(Ok(frame)))
    }
}

fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    if status.add_header(&mut trailers).is_err() {
        // The text does not fit into a header; the code always does.
        trailers.insert(Status::GRPC_STATUS, (Code::Internal as i32).into());
    }
    trailers
}
