//! HTTP and gRPC answers.
//!
//! A request steers its answer by headers: `x-echo-status` (an HTTP status, or the status of a gRPC call) and
//! `x-echo-delay` (milliseconds). gRPC is told by its content type; every method exists, a message is the bytes of
//! the answer, so no schema is needed on either side.

use std::{collections::BTreeMap, convert::Infallible, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, Version};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::Incoming;

use super::server::Connection;

type Body = BoxBody<Bytes, Infallible>;

pub(super) async fn answer(
    connection: Connection,
    request: Request<Incoming>,
) -> hyper::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let grpc = is_grpc(&head.headers);
    let body = body.collect().await?.to_bytes();
    let body = if grpc { body.slice(FRAME.min(body.len())..) } else { body };

    let protocol = match head.version {
        _ if grpc => "gRPC",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    let mut answer = connection.answer(protocol, String::from_utf8_lossy(&body).into_owned());
    answer.method = head.method.to_string();
    answer.path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    answer.headers = named(&head.headers);
    if let Some(authority) = head.uri.authority() {
        answer.headers.entry("host".to_owned()).or_insert_with(|| authority.to_string());
    }

    if let Some(delay) = number(&head.headers, "x-echo-delay") {
        tokio::time::sleep(Duration::from_millis(delay.into())).await;
    }
    let status = number(&head.headers, "x-echo-status");
    let json = Bytes::from(serde_json::to_vec(&answer).unwrap_or_default());
    Ok(if grpc { called(&json, status.unwrap_or(0)) } else { plain(json, status.unwrap_or(200)) })
}

fn plain(json: Bytes, status: u32) -> Response<Body> {
    let mut response = Response::new(Full::new(json).boxed());
    if let Some(status) = u16::try_from(status).ok().and_then(|status| status.try_into().ok()) {
        *response.status_mut() = status;
    }
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    response
}

/// A gRPC response: one message if the call succeeds, the status in the trailers.
fn called(json: &Bytes, status: u32) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(status));
    let message = if status == 0 { framed(json) } else { Bytes::new() };
    let body = Full::new(message).with_trailers(std::future::ready(Some(Ok(trailers))));
    let mut response = Response::new(body.boxed());
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

/// A byte for compression and four of length go before a gRPC message.
pub(super) const FRAME: usize = 5;

pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(FRAME + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    frame.put_slice(message);
    frame.freeze()
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

fn number(headers: &HeaderMap, name: &str) -> Option<u32> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

fn named(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        named
            .entry(name.as_str().to_owned())
            .and_modify(|all| {
                all.push(',');
                all.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    named
}
