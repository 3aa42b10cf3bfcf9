//! Envoy's secret discovery service for one workload: its certificate under `default`, the roots under `ROOTCA`, as Istio's
//! agent names them.
//!
//! Who may have the key is decided by who can open the socket that this is served on, not by what a client says of itself.

use crate::{Certificate, Holder};
use mizzen_proto::{
    envoy::{
        config::core::v3::{DataSource, data_source::Specifier},
        extensions::transport_sockets::tls::v3::{
            CertificateValidationContext, Secret, TlsCertificate, secret::Type,
        },
        service::{
            discovery::v3::{
                DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Resource,
            },
            secret::v3::secret_discovery_service_server::{
                SecretDiscoveryService, SecretDiscoveryServiceServer,
            },
        },
    },
    google::protobuf::Any,
};
use prost::Message;
use std::{collections::BTreeSet, io, pin::Pin, sync::Arc};
use tokio::{net::UnixListener, sync::mpsc};
use tokio_stream::{
    Stream, StreamExt,
    wrappers::{ReceiverStream, UnixListenerStream},
};
use tonic::{Request, Response, Status, Streaming, transport::Server};

const TYPE: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const OWN: &str = "default";
const ROOTS: &str = "ROOTCA";
/// Names of one stream; Envoy asks for one.
const NAMES: usize = 64;

/// Serves until it is dropped.
pub async fn serve(listener: UnixListener, holder: Holder) -> io::Result<()> {
    let service = SecretDiscoveryServiceServer::new(Secrets { holder }).max_decoding_message_size(64 << 10);
    let served =
        Server::builder().add_service(service).serve_with_incoming(UnixListenerStream::new(listener));
    served.await.map_err(io::Error::other)
}

#[derive(Clone)]
struct Secrets {
    holder: Holder,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
/// What a request does to the names of its stream.
type Change = Box<dyn FnOnce(&mut BTreeSet<String>) + Send>;

#[tonic::async_trait]
impl SecretDiscoveryService for Secrets {
    type StreamSecretsStream = Answers<DiscoveryResponse>;
    type DeltaSecretsStream = Answers<DeltaDiscoveryResponse>;

    async fn stream_secrets(
        &self,
        request: Request<Streaming<DiscoveryRequest>>,
    ) -> Result<Response<Self::StreamSecretsStream>, Status> {
        let changes = request.into_inner().map(|request| {
            let names = request?.resource_names;
            Ok(Box::new(move |into: &mut BTreeSet<String>| *into = names.into_iter().collect()) as Change)
        });
        Ok(Response::new(self.follow(changes, |secrets, version| DiscoveryResponse {
            version_info: version.clone(),
            nonce: version,
            type_url: TYPE.to_owned(),
            resources: secrets.into_iter().map(|(_, secret)| secret).collect(),
            ..DiscoveryResponse::default()
        })))
    }

    async fn delta_secrets(
        &self,
        request: Request<Streaming<DeltaDiscoveryRequest>>,
    ) -> Result<Response<Self::DeltaSecretsStream>, Status> {
        let changes = request.into_inner().map(|request| {
            let request = request?;
            Ok(Box::new(move |into: &mut BTreeSet<String>| {
                into.extend(request.resource_names_subscribe);
                into.retain(|name| !request.resource_names_unsubscribe.contains(name));
            }) as Change)
        });
        Ok(Response::new(self.follow(changes, |secrets, version| {
            let resource = |(name, secret)| Resource {
                name,
                version: version.clone(),
                resource: Some(secret),
                ..Resource::default()
            };
            DeltaDiscoveryResponse {
                system_version_info: version.clone(),
                nonce: version.clone(),
                type_url: TYPE.to_owned(),
                resources: secrets.into_iter().map(resource).collect(),
                ..DeltaDiscoveryResponse::default()
            }
        })))
    }

    async fn fetch_secrets(
        &self,
        _: Request<DiscoveryRequest>,
    ) -> Result<Response<DiscoveryResponse>, Status> {
        Err(Status::unimplemented("secrets are streamed"))
    }
}

impl Secrets {
    /// An answer whenever the names of the stream change, and when there is a new certificate.
    fn follow<T: Send + 'static>(
        &self,
        mut changes: impl Stream<Item = Result<Change, Status>> + Send + Unpin + 'static,
        answer: impl Fn(Vec<(String, Any)>, String) -> T + Send + 'static,
    ) -> Answers<T> {
        let (send, receive) = mpsc::channel(1);
        let Holder { root, mut current } = self.holder.clone();
        tokio::spawn(async move {
            let mut names = BTreeSet::new();
            let mut version = 0_u64;
            loop {
                tokio::select! {
                    change = changes.next() => {
                        let Some(Ok(change)) = change else { return };
                        let before = names.clone();
                        change(&mut names);
                        if names.len() > NAMES {
                            return;
                        }
                        // An acknowledgement.
                        if names == before {
                            continue;
                        }
                    }
                    changed = current.changed() => if changed.is_err() { return },
                    () = send.closed() => return,
                }
                version += 1;
                let certificate = Arc::clone(&current.borrow_and_update());
                let secrets: Vec<_> = names
                    .iter()
                    .filter_map(|name| Some((name.clone(), secret(name, &certificate, &root)?)))
                    .collect();
                if !secrets.is_empty() && send.send(Ok(answer(secrets, version.to_string()))).await.is_err() {
                    return;
                }
            }
        });
        Box::pin(ReceiverStream::new(receive))
    }
}

fn secret(name: &str, certificate: &Certificate, root: &str) -> Option<Any> {
    let content = match name {
        OWN => Type::TlsCertificate(TlsCertificate {
            certificate_chain: Some(inline(&certificate.chain)),
            private_key: Some(inline(&certificate.key)),
            ..TlsCertificate::default()
        }),
        ROOTS => Type::ValidationContext(CertificateValidationContext {
            trusted_ca: Some(inline(root)),
            ..CertificateValidationContext::default()
        }),
        _ => return None,
    };
    let secret = Secret { name: name.to_owned(), r#type: Some(content) };
    Some(Any { type_url: TYPE.to_owned(), value: secret.encode_to_vec() })
}

fn inline(pem: &str) -> DataSource {
    DataSource { specifier: Some(Specifier::InlineBytes(pem.as_bytes().to_vec())), ..DataSource::default() }
}
