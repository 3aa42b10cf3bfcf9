//! Clients that do what they should not.

#![allow(clippy::unwrap_used, reason = "a test may fail by panic")]

mod fake;

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use fake::{Fake, ask, node, serve, until};
use mizzen_proto::envoy::service::discovery::v3::DeltaDiscoveryRequest;
use mizzen_xds::{Options, Type};
use tonic::Code;

fn ready() -> Fake {
    let fake = Fake::new();
    fake.put(Type::Cluster, "a", "1");
    fake
}

#[tokio::test]
async fn a_node_that_is_missing_or_malformed_is_refused() {
    let fake = ready();
    let running = serve(&fake, Options::default()).await;
    for node in [None, node(""), node("malformed"), node(&"x".repeat(2_000))] {
        let mut client = running.delta().await;
        client.send(DeltaDiscoveryRequest { node, ..ask(&Type::Cluster, &[]) }).await;
        assert_eq!(client.next().await.unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(running.server.statistics().refused.load(Relaxed), 4);
    assert!(running.server.connections().is_empty());
}

#[tokio::test]
async fn a_type_that_is_not_served_is_counted_and_hurts_no_other() {
    let fake = ready();
    let running = serve(&fake, Options::default()).await;
    let mut client = running.delta().await;
    let unknown = Type::of_url("type.googleapis.com/no.such.Thing");
    for _ in 0..3 {
        client.send(ask(&unknown, &["x"])).await;
    }
    client.send(ask(&Type::Cluster, &[])).await;
    assert_eq!(client.next().await.unwrap().type_url, Type::Cluster.url());
    assert_eq!(running.server.statistics().unknown_types.load(Relaxed), 3);
    for url in [String::new(), "x".repeat(10_000)] {
        let mut client = running.delta().await;
        client.send(DeltaDiscoveryRequest { type_url: url, ..ask(&Type::Cluster, &[]) }).await;
        assert_eq!(client.next().await.unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(running.server.statistics().bad_requests.load(Relaxed), 2);
}

#[tokio::test]
async fn a_subscription_to_a_hundred_thousand_names_works() {
    let fake = ready();
    fake.put(Type::Endpoints, "name-00500", "1");
    let running = serve(&fake, Options::default()).await;
    let mut client = running.delta().await;
    let names: Vec<String> = (0..100_000).map(|number| format!("name-{number:05}")).collect();
    let request = DeltaDiscoveryRequest { resource_names_subscribe: names, ..ask(&Type::Endpoints, &[]) };
    client.send(request).await;
    let response = client.next().await.unwrap();
    assert_eq!((response.resources.len(), response.removed_resources.len()), (1, 99_999));
    client.ack(&response).await;
    fake.put(Type::Endpoints, "name-00501", "1");
    assert_eq!(client.next().await.unwrap().resources[0].name, "name-00501");
}

#[tokio::test]
async fn a_subscription_to_too_many_names_is_refused() {
    let fake = ready();
    let running = serve(&fake, Options { max_names: 1_000, ..Options::default() }).await;
    let names: Vec<String> = (0..1_001).map(|number| format!("name-{number:05}")).collect();
    let mut client = running.delta().await;
    let request = DeltaDiscoveryRequest { resource_names_subscribe: names, ..ask(&Type::Endpoints, &[]) };
    client.send(request).await;
    let status = client.next().await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(status.message().contains("1001"), "{}", status.message());
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused() {
    let fake = ready();
    let running = serve(&fake, Options { max_request_bytes: 100_000, ..Options::default() }).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Endpoints, &[&"x".repeat(200_000)])).await;
    assert_eq!(client.next().await.unwrap_err().code(), Code::ResourceExhausted);
}

/// Each is small, and yet everything that is subscribed to is looked through.
#[tokio::test]
async fn a_large_subscription_that_changes_again_and_again_is_a_flood() {
    let fake = ready();
    let options = Options {
        requests_per_second: 100,
        request_burst: 100,
        flood: Duration::from_millis(300),
        ..Options::default()
    };
    let running = serve(&fake, options).await;
    let mut flood = running.delta().await;
    let names: Vec<String> = (0..50_000).map(|number| format!("name-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    flood.send(ask(&Type::Endpoints, &names)).await;
    let requests = flood.requests.clone();
    let flooding = tokio::spawn(async move {
        let mut sent = 0_u32;
        while requests.send(ask(&Type::Endpoints, &[&format!("more-{sent}")])).await.is_ok() {
            sent += 1;
        }
    });
    let status = loop {
        if let Err(status) = flood.next().await {
            break status;
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(running.server.statistics().floods.load(Relaxed), 1);
    drop(flood);
    flooding.await.unwrap();
}

#[tokio::test]
async fn a_flood_of_requests_is_slowed_down_and_ended() {
    let fake = ready();
    let options = Options {
        // So few that a pause of this test itself, on a busy machine, is not taken for the end of the flood.
        requests_per_second: 1,
        request_burst: 10,
        flood: Duration::from_millis(300),
        ..Options::default()
    };
    let running = serve(&fake, options).await;
    let mut flood = running.delta().await;
    flood.send(ask(&Type::Cluster, &[])).await;
    flood.next().await.unwrap();
    let requests = flood.requests.clone();
    let flooding = tokio::spawn(async move {
        let mut sent = 0;
        while requests.send(ask(&Type::Cluster, &["again"])).await.is_ok() {
            sent += 1;
        }
        sent
    });
    let status = loop {
        if let Err(status) = flood.next().await {
            break status;
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted);
    let statistics = running.server.statistics();
    assert_eq!((statistics.throttled.load(Relaxed), statistics.floods.load(Relaxed)), (1, 1));
    drop(flood);
    flooding.await.unwrap();
    let mut other = running.delta().await;
    other.send(ask(&Type::Cluster, &[])).await;
    other.next().await.unwrap();
}

#[tokio::test]
async fn a_short_burst_is_only_slowed_down() {
    let fake = ready();
    let options = Options { requests_per_second: 100, request_burst: 10, ..Options::default() };
    let running = serve(&fake, options).await;
    let mut client = running.delta().await;
    for _ in 0..50 {
        client.send(ask(&Type::Other("unknown".into()), &[])).await;
    }
    client.send(ask(&Type::Cluster, &[])).await;
    client.next().await.unwrap();
    assert_eq!(running.server.statistics().floods.load(Relaxed), 0);
    assert_eq!(running.server.statistics().unknown_types.load(Relaxed), 50);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_and_delays_nobody() {
    let fake = ready();
    fake.put(Type::Cluster, "large", vec![0; 4 << 20]);
    let options = Options { write_timeout: Duration::from_millis(500), ..Options::default() };
    let running = serve(&fake, options).await;
    let slow = running.delta().await;
    slow.send(ask(&Type::Cluster, &[])).await;
    until("it is connected", || running.server.connections().len() == 1).await;
    let mut quick = running.delta().await;
    quick.send(ask(&Type::Cluster, &[])).await;
    let first = quick.next().await.unwrap();
    quick.ack(&first).await;
    fake.put(Type::Cluster, "b", "1");
    assert_eq!(quick.next().await.unwrap().resources[0].name, "b");
    until("it is dropped", || running.server.statistics().write_timeouts.load(Relaxed) == 1).await;
    until("and gone", || running.server.connections().len() == 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_answer_is_dropped() {
    let fake = ready();
    let options = Options { ack_timeout: Duration::from_millis(300), ..Options::default() };
    let running = serve(&fake, options).await;
    let mut client = running.delta().await;
    client.send(ask(&Type::Cluster, &[])).await;
    client.next().await.unwrap();
    assert!(client.next().await.is_err());
    assert_eq!(running.server.statistics().ack_timeouts.load(Relaxed), 1);
}

#[tokio::test]
async fn a_stream_without_a_request_is_closed() {
    let fake = ready();
    let options = Options { first_request: Duration::from_millis(300), ..Options::default() };
    let running = serve(&fake, options).await;
    let mut client = running.delta().await;
    assert_eq!(client.next().await.unwrap_err().code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_connection_whose_other_end_is_silent_is_closed() {
    let fake = ready();
    let options = Options {
        keepalive_interval: Duration::from_millis(200),
        keepalive_timeout: Duration::from_millis(200),
        ..Options::default()
    };
    let running = serve(&fake, options).await;
    // A client that is connected, has a stream, and then does not even answer pings: its runtime stands still.
    let address = running.address;
    let (done, stand_still) = std::sync::mpsc::channel::<()>();
    let frozen = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _kept = runtime.block_on(async {
            let channel = tonic::transport::Channel::from_shared(format!("http://{address}")).unwrap();
            let client = mizzen_proto::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient::new(channel.connect().await.unwrap());
            let (requests, receiver) = tokio::sync::mpsc::channel(1);
            requests.send(ask(&Type::Cluster, &[])).await.unwrap();
            let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
            let mut responses = client.clone().delta_aggregated_resources(stream).await.unwrap().into_inner();
            responses.message().await.unwrap();
            (requests, responses)
        });
        let _ = stand_still.recv();
    });
    until("it is connected", || !running.server.connections().is_empty()).await;
    until("it is gone", || running.server.connections().is_empty()).await;
    drop(done);
    frozen.join().unwrap();
}

#[tokio::test]
async fn a_thousand_connections_come_and_go() {
    let fake = ready();
    let running = serve(&fake, Options::default()).await;
    for _ in 0..10 {
        let mut clients = Vec::new();
        for _ in 0..100 {
            let client = running.delta().await;
            client.send(ask(&Type::Cluster, &[])).await;
            clients.push(client);
        }
        for client in &mut clients {
            client.next().await.unwrap();
        }
    }
    until("all are gone", || running.server.connections().is_empty()).await;
    assert_eq!(running.server.statistics().streams_total.load(Relaxed), 1_000);
    running.stop().await;
}
