//! One GET, and the body of its answer, with a limit to every wait.

use crate::failure::Failure;
use bytes::Bytes;
use http::{Request, header};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use std::time::Duration;
use tokio::time::timeout;

/// For the head of an answer, and between two pieces of a list.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// As much as is read of an answer that is not what was asked for.
const COMPLAINT: usize = 64 << 10;

pub(crate) struct Answer(Body);

impl Answer {
    /// The next piece; nothing at the end.
    pub(crate) async fn next(&mut self, patience: Duration) -> Result<Option<Bytes>, Failure> {
        loop {
            let frame = timeout(patience, self.0.frame()).await;
            match frame.map_err(|_| Failure::Silent(patience.as_secs()))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(Failure::of_client(&error)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// All of it, if it is not more than `limit`.
    pub(crate) async fn whole(mut self, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(piece) = self.next(PATIENCE).await? {
            if body.len() + piece.len() > limit {
                return Err(Failure::TooLarge(limit >> 20));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

pub(crate) async fn get(client: &Client, path: &str) -> Result<Answer, Failure> {
    let request = Request::get(path)
        .header(header::ACCEPT, "application/json")
        .header(header::ACCEPT_ENCODING, "identity")
        .body(Body::empty())
        .map_err(|error| Failure::Connection(error.to_string()))?;
    let answer = timeout(PATIENCE, client.send(request)).await;
    let answer = answer.map_err(|_| Failure::Silent(PATIENCE.as_secs()))?;
    let (head, body) = answer.map_err(|error| Failure::of_client(&error))?.into_parts();
    if head.status.is_success() {
        return Ok(Answer(body));
    }
    let retry_after =
        head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let complaint = Answer(body).whole(COMPLAINT).await.unwrap_or_default();
    Err(Failure::of_answer(head.status, retry_after, &complaint))
}
