//! The protocol of the whole state: every request repeats all names, every response of clusters or listeners all of them.

use std::{collections::BTreeMap, sync::Mutex};

use envoy_types::pb::envoy::{
    config::core::v3::Node,
    service::discovery::v3::{
        DiscoveryRequest, DiscoveryResponse,
        aggregated_discovery_service_client::AggregatedDiscoveryServiceClient,
    },
};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, transport::Channel};

use super::{
    REQUESTS,
    ask::Ask,
    delta::refusal,
    kind::Kind,
    ledger::{Ledger, Response},
    lock,
};

/// The last version and nonce of each type: every request carries them.
type Last = BTreeMap<String, (String, String)>;

pub(super) async fn run(
    mut client: AggregatedDiscoveryServiceClient<Channel>,
    node: Node,
    ledger: &Mutex<Ledger>,
) -> Result<(), Status> {
    let (requests, stream) = mpsc::channel(REQUESTS);
    let mut node = Some(node);
    let mut last = Last::new();
    let mut send = async |request| {
        let _ = requests.send(DiscoveryRequest { node: node.take(), ..request }).await;
    };
    let first = lock(ledger).asks();
    for ask in first {
        send(request(ask, &last)).await;
    }
    let mut responses = client.stream_aggregated_resources(ReceiverStream::new(stream)).await?.into_inner();
    while let Some(response) = responses.message().await? {
        let (url, nonce, version) =
            (response.type_url.clone(), response.nonce.clone(), response.version_info.clone());
        let kind = Kind::from_url(&url);
        let (taken, next) =
            read(response).map_or_else(|| (true, Vec::new()), |response| lock(ledger).take(response));
        let kept = last.entry(url.clone()).or_default();
        kept.1 = nonce;
        if taken {
            kept.0 = version;
        }
        send(DiscoveryRequest {
            type_url: url,
            version_info: kept.0.clone(),
            response_nonce: kept.1.clone(),
            resource_names: kind.map(|kind| names(ledger, kind)).unwrap_or_default(),
            error_detail: (!taken).then(refusal),
            ..Default::default()
        })
        .await;
        for ask in next {
            send(request(ask, &last)).await;
        }
    }
    Ok(())
}

fn names(ledger: &Mutex<Ledger>, kind: Kind) -> Vec<String> {
    lock(ledger).names(kind).map(str::to_owned).collect()
}

fn request(ask: Ask, last: &Last) -> DiscoveryRequest {
    let (version_info, response_nonce) = last.get(&ask.kind.url()).cloned().unwrap_or_default();
    DiscoveryRequest {
        type_url: ask.kind.url(),
        resource_names: ask.names,
        version_info,
        response_nonce,
        ..Default::default()
    }
}

fn read(response: DiscoveryResponse) -> Option<Response> {
    let kind = Kind::from_url(&response.type_url)?;
    let version = response.version_info;
    let resource = |any: envoy_types::pb::google::protobuf::Any| {
        let name = name(&any.value);
        (name, version.clone(), any.value.into())
    };
    Some(Response {
        kind,
        nonce: response.nonce,
        resources: response.resources.into_iter().map(resource).collect(),
        removed: Vec::new(),
        whole: true,
    })
}

/// All four kinds have their name in their first field.
fn name(resource: &[u8]) -> String {
    #[derive(Message)]
    struct Named {
        #[prost(string, tag = "1")]
        name: String,
    }
    Named::decode(resource).map(|named| named.name).unwrap_or_default()
}
