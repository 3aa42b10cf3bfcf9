//! The gRPC service: two methods, each a stream.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header::CONTENT_TYPE};
use hyper::body::Body;
use tonic::{
    Status, codegen::Service, metadata::GRPC_CONTENT_TYPE, server::NamedService,
    transport::server::TcpConnectInfo,
};

use crate::{
    body::Answer,
    connection::Link,
    frames::Frames,
    outbox::outbox,
    server::Shared,
    session::Protocol,
    source::{Peer, Source},
    statistics::count,
    stream::Stream,
};

const NAME: &str = "envoy.service.discovery.v3.AggregatedDiscoveryService";

/// `AggregatedDiscoveryService`, to be served by [`crate::Server::serve`] or put beside other services.
pub struct Ads<S: Source> {
    shared: Arc<Shared<S>>,
}

impl<S: Source> Ads<S> {
    pub(crate) fn new(shared: Arc<Shared<S>>) -> Self {
        Self { shared }
    }

    pub(crate) fn answer<B>(&self, request: Request<B>) -> Response<tonic::body::Body>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
    {
        let method = request.uri().path().strip_prefix('/').and_then(|path| path.strip_prefix(NAME));
        let protocol = match method {
            Some("/DeltaAggregatedResources") => Protocol::Delta,
            Some("/StreamAggregatedResources") => Protocol::StateOfTheWorld,
            _ => return Status::unimplemented("there is no such method").into_http(),
        };
        let grpc = request.headers().get(CONTENT_TYPE).is_some_and(is_grpc);
        if request.method() != Method::POST || !grpc {
            return Status::invalid_argument("this is a gRPC method").into_http();
        }
        self.stream(protocol, request).unwrap_or_else(Status::into_http)
    }

    fn stream<B>(
        &self,
        protocol: Protocol,
        request: Request<B>,
    ) -> Result<Response<tonic::body::Body>, Status>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
    {
        let admitted = self.shared.admit().inspect_err(|status| {
            count(&self.shared.statistics.refused);
            tracing::warn!(reason = status.message(), "stream refused");
        })?;
        let (parts, body) = request.into_parts();
        let link = parts.extensions.get::<Link>().cloned().unwrap_or_default();
        let other = parts.extensions.get::<TcpConnectInfo>().and_then(TcpConnectInfo::remote_addr);
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let peer = Peer::new(link.peer().or(other).unwrap_or(nowhere));
        let options = &self.shared.options;
        let frames = Frames::new(body, options.max_request_bytes, self.shared.large_requests.clone());
        let (outbox, inbox) = outbox();
        let stream = Stream::new(self.shared.clone(), protocol, peer, link, frames, outbox, admitted);
        self.shared.tasks.spawn(stream.run());
        let mut response = Response::new(tonic::body::Body::new(Answer::new(inbox)));
        response.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
        Ok(response)
    }
}

fn is_grpc(kind: &HeaderValue) -> bool {
    kind.as_bytes().starts_with(b"application/grpc")
}

impl<S: Source> Clone for Ads<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<S: Source> NamedService for Ads<S> {
    const NAME: &'static str = NAME;
}

impl<S: Source, B> Service<Request<B>> for Ads<S>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.answer(request)))
    }
}
