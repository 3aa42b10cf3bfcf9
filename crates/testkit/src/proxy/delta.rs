//! The incremental protocol.

use std::sync::Mutex;

use envoy_types::pb::{
    envoy::{
        config::core::v3::Node,
        service::discovery::v3::{
            DeltaDiscoveryRequest, DeltaDiscoveryResponse,
            aggregated_discovery_service_client::AggregatedDiscoveryServiceClient,
        },
    },
    google::rpc::Status as Detail,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, transport::Channel};

use super::{
    REQUESTS,
    ask::Ask,
    kind::Kind,
    ledger::{Ledger, Response},
    lock,
};

pub(super) async fn run(
    mut client: AggregatedDiscoveryServiceClient<Channel>,
    node: Node,
    ledger: &Mutex<Ledger>,
) -> Result<(), Status> {
    let (requests, stream) = mpsc::channel(REQUESTS);
    let mut node = Some(node);
    let mut send = async |request| {
        // Who hears no more ends the stream, and the response that says so is on its way.
        let _ = requests.send(DeltaDiscoveryRequest { node: node.take(), ..request }).await;
    };
    // Sent before there is a stream: istiod says nothing, not even that it listens, before the first request.
    let first = lock(ledger).asks();
    for request in first.into_iter().map(request) {
        send(request).await;
    }
    let mut responses = client.delta_aggregated_resources(ReceiverStream::new(stream)).await?.into_inner();
    while let Some(response) = responses.message().await? {
        let (url, nonce) = (response.type_url.clone(), response.nonce.clone());
        // Somebody else's kind is acknowledged and dropped.
        let (taken, next) =
            read(response).map_or_else(|| (true, Vec::new()), |response| lock(ledger).take(response));
        send(DeltaDiscoveryRequest {
            type_url: url,
            response_nonce: nonce,
            error_detail: (!taken).then(refusal),
            ..Default::default()
        })
        .await;
        for request in next.into_iter().map(request) {
            send(request).await;
        }
    }
    Ok(())
}

fn request(ask: Ask) -> DeltaDiscoveryRequest {
    DeltaDiscoveryRequest {
        type_url: ask.kind.url(),
        resource_names_subscribe: ask.subscribe,
        resource_names_unsubscribe: ask.unsubscribe,
        ..Default::default()
    }
}

fn read(response: DeltaDiscoveryResponse) -> Option<Response> {
    let kind = Kind::from_url(&response.type_url)?;
    let resource = |resource: envoy_types::pb::envoy::service::discovery::v3::Resource| {
        (resource.name, resource.version, resource.resource.unwrap_or_default().value.into())
    };
    Some(Response {
        kind,
        nonce: response.nonce,
        resources: response.resources.into_iter().map(resource).collect(),
        removed: response.removed_resources,
        whole: false,
    })
}

pub(super) fn refusal() -> Detail {
    Detail { code: 13, message: "refused on request of the test".to_owned(), details: Vec::new() }
}
