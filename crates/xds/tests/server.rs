//! Streams over a real socket.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod fake;

use std::{
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::Duration,
};

use fake::{Fake, ask, node, serve, until};
use mizzen_proto::envoy::service::discovery::v3::{DeltaDiscoveryRequest, DiscoveryRequest};
use mizzen_xds::{Options, Protocol, Type};
use tokio::{io::AsyncReadExt, net::TcpStream, sync::mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

#[tokio::test]
async fn a_delta_client_gets_resources_changes_and_removals() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options { control_plane: "us".to_owned(), ..Options::default() }).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    let first = client.next().await.unwrap();
    assert_eq!((first.resources.len(), &*first.resources[0].name), (1, "a"));
    assert_eq!((&*first.system_version_info, &*first.control_plane.clone().unwrap().identifier), ("1", "us"));
    client.ack(&first).await;
    fake.put(Type::Cluster, "b", "1");
    let second = client.next().await.unwrap();
    assert_eq!(second.resources[0].name, "b");
    client.ack(&second).await;
    fake.remove(&Type::Cluster, "a");
    assert_eq!(client.next().await.unwrap().removed_resources, ["a"]);

    let connections = running.server.connections();
    let connection = &connections[0];
    assert_eq!(connection.id, format!("{}-1", connection.node));
    assert_eq!((connection.protocol, connection.watched.len()), (Protocol::Delta, 1));
    let statistics = running.server.statistics();
    assert_eq!(statistics.of(&Type::Cluster).pushes.load(Relaxed), 3);
    assert_eq!((statistics.streams.load(Relaxed), fake.connected.load(Relaxed)), (1, 1));
    drop(client);
    until("the stream is gone", || running.server.connections().is_empty()).await;
    until("the source knows", || fake.connected.load(Relaxed) == 0).await;
    assert_eq!(running.server.statistics().streams.load(Relaxed), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_state_of_the_world_client_gets_resources_and_changes() {
    let fake = Fake::new();
    fake.put(Type::Listener, "a", "1");
    let running = serve(&fake, Options::default()).await;
    let (requests, receiver) = mpsc::channel(10);
    let stream = running.client().await.stream_aggregated_resources(ReceiverStream::new(receiver)).await;
    let mut responses = stream.unwrap().into_inner();
    let first = DiscoveryRequest {
        node: node("n"),
        type_url: Type::Listener.url().to_owned(),
        ..DiscoveryRequest::default()
    };
    requests.send(first.clone()).await.unwrap();
    let response = responses.message().await.unwrap().unwrap();
    assert_eq!((response.resources.len(), &*response.version_info), (1, "1"));
    let ack = DiscoveryRequest { response_nonce: response.nonce, version_info: "1".to_owned(), ..first };
    requests.send(ack).await.unwrap();
    fake.put(Type::Listener, "b", "1");
    assert_eq!(responses.message().await.unwrap().unwrap().resources.len(), 2);
}

#[tokio::test]
async fn a_large_response_arrives_whole() {
    let fake = Fake::new();
    fake.change(|all| {
        for number in 0..200 {
            let body = vec![number as u8; 100_000];
            all.entry(Type::Cluster).or_default().insert(format!("c{number:03}"), body.into());
        }
    });
    let running = serve(&fake, Options::default()).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    let response = client.next().await.unwrap();
    assert_eq!(response.resources.len(), 200);
    let body = |place: usize| response.resources[place].resource.clone().unwrap().value;
    assert_eq!((body(0), body(199)), (vec![0; 100_000], vec![199; 100_000]));
}

#[tokio::test]
async fn a_server_that_is_not_ready_says_so() {
    let fake = Fake::new();
    let running = serve(&fake, Options::default()).await;
    assert_eq!(running.try_delta().await.err().unwrap().code(), Code::Unavailable);
    assert_eq!(running.server.statistics().refused.load(Relaxed), 1);
    fake.put(Type::Cluster, "a", "1");
    assert!(running.try_delta().await.is_ok());
}

#[tokio::test]
async fn slow_building_for_one_delays_no_other() {
    let fake = Fake::new();
    let (release, gate) = std::sync::mpsc::channel();
    *fake.gate.lock().unwrap() = Some(Arc::new(Mutex::new(gate)));
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options { builders: 2, ..Options::default() }).await;
    let (mut slow, mut quick) = (running.delta().await, running.delta().await);
    slow.send(ask(&Type::Cluster, &[])).await;
    until("it is being built for the slow one", || fake.connected.load(Relaxed) == 1).await;
    *fake.gate.lock().unwrap() = None;
    fake.put(Type::Cluster, "a", "2");
    quick.send(ask(&Type::Cluster, &[])).await;
    assert_eq!(quick.next().await.unwrap().system_version_info, "2");
    drop(release);
    slow.next().await.unwrap();
}

#[tokio::test]
async fn a_generation_that_cannot_be_built_is_left_out_and_the_next_one_sent() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options::default()).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    let response = client.next().await.unwrap();
    client.ack(&response).await;
    *fake.broken.lock().unwrap() = true;
    fake.put(Type::Cluster, "a", "2");
    until("it failed", || running.server.statistics().internal_errors.load(Relaxed) == 1).await;
    *fake.broken.lock().unwrap() = false;
    fake.put(Type::Cluster, "a", "3");
    assert_eq!(client.next().await.unwrap().resources[0].resource.clone().unwrap().value, b"3");
    assert_eq!(running.server.statistics().internal_errors.load(Relaxed), 1);
}

#[tokio::test]
async fn shutdown_ends_streams_in_good_order() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options::default()).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    client.next().await.unwrap();
    let address = running.address;
    running.stop().await;
    assert_eq!(client.next().await.unwrap_err().code(), Code::Ok);
    assert_eq!(fake.connected.load(Relaxed), 0);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_old_connection_is_closed_in_good_order() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let options = Options { max_connection_age: Some(Duration::from_millis(300)), ..Options::default() };
    let running = serve(&fake, options).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    client.next().await.unwrap();
    assert_eq!(client.next().await.unwrap_err().code(), Code::Ok);
}

#[tokio::test]
async fn more_streams_than_allowed_are_refused() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options { max_streams: 2, ..Options::default() }).await;
    // On one connection, so that it is not the connections that are too many.
    let client = running.client().await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let (requests, receiver) = mpsc::channel::<DeltaDiscoveryRequest>(1);
        let stream = client.clone().delta_aggregated_resources(ReceiverStream::new(receiver)).await;
        open.push((requests, stream.unwrap()));
    }
    let (_requests, receiver) = mpsc::channel::<DeltaDiscoveryRequest>(1);
    let refused = client.clone().delta_aggregated_resources(ReceiverStream::new(receiver)).await;
    assert_eq!(refused.err().unwrap().code(), Code::ResourceExhausted);
    open.pop();
    until("one is gone", || running.server.statistics().streams.load(Relaxed) == 1).await;
    let (_requests, receiver) = mpsc::channel::<DeltaDiscoveryRequest>(1);
    assert!(client.clone().delta_aggregated_resources(ReceiverStream::new(receiver)).await.is_ok());
}

#[tokio::test]
async fn new_streams_come_one_after_another_if_there_are_too_many() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options { new_streams_per_second: Some(1), ..Options::default() }).await;
    let mut codes = Vec::new();
    for _ in 0..5 {
        let client = running.delta().await;
        client.send(ask(&Type::Cluster, &[])).await;
        codes.push(client);
    }
    let mut refused = 0;
    for mut client in codes {
        if let Err(status) = client.next().await {
            assert_eq!(status.code(), Code::ResourceExhausted);
            refused += 1;
        }
    }
    assert!((1..5).contains(&refused), "{refused}");
}

#[tokio::test]
async fn what_is_no_method_is_refused() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let running = serve(&fake, Options::default()).await;
    let service = running.server.service();
    for (method, path, kind, code) in [
        ("POST", "/other.Service/Method", "application/grpc", Code::Unimplemented),
        ("POST", "/", "application/grpc", Code::Unimplemented),
        ("GET", ADS, "application/grpc", Code::InvalidArgument),
        ("POST", ADS, "text/html", Code::InvalidArgument),
    ] {
        let request = http::Request::builder().method(method).uri(path).header("content-type", kind);
        let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        let response = tonic::codegen::Service::call(&mut service.clone(), request).await.unwrap();
        assert_eq!(tonic::Status::from_header_map(response.headers()).unwrap().code(), code);
    }
}

const ADS: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    let options = Options { first_request: Duration::from_millis(200), ..Options::default() };
    let running = serve(&fake, options).await;
    let mut socket = TcpStream::connect(running.address).await.unwrap();
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(fake::PATIENCE, socket.read_to_end(&mut rest)).await;
    assert!(closed.is_ok());
}
