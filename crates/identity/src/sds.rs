//! Envoy's secret discovery service, whole state and incremental, for the proxy of one workload.
//!
//! A stream has a set of names. It is answered when the set changes and when the [`Source`] has something new; a name that it does not know gets
//! no answer, as from Istio's agent: the proxy goes on waiting. Who may have a key is decided by who can open the socket that this is
//! served on, not by what a client says of itself.

use crate::Holder;
use mizzen_proto::{
    envoy::{
        config::core::v3::{DataSource, data_source::Specifier},
        extensions::transport_sockets::tls::v3::{
            CertificateValidationContext, Secret as Message, TlsCertificate, secret::Type,
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
use prost::Message as _;
use std::{collections::BTreeSet, future::Future, io, pin::Pin};
use tokio::{net::UnixListener, sync::mpsc};
use tokio_stream::{
    Stream, StreamExt,
    wrappers::{ReceiverStream, UnixListenerStream},
};
use tonic::{Request, Response, Status, Streaming, transport::Server};

const TYPE: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
/// Names of one stream; Envoy asks for one.
const NAMES: usize = 64;

/// PEM.
pub enum Secret {
    /// A certificate, the leaf first, and its key.
    Own { chain: Vec<u8>, key: Vec<u8> },
    /// Whom to believe.
    Roots(Vec<u8>),
}

/// What a workload may have, as it is now.
pub trait Source: Clone + Send + Sync + 'static {
    fn secret(&self, name: &str) -> Option<Secret>;

    /// Returns when something may be different; `false` if nothing ever will.
    fn changed(&mut self) -> impl Future<Output = bool> + Send;
}

/// The names of Istio's agent: `default` and `ROOTCA`.
impl Source for Holder {
    fn secret(&self, name: &str) -> Option<Secret> {
        let certificate = self.certificate();
        match name {
            "default" => Some(Secret::Own {
                chain: certificate.chain.clone().into_bytes(),
                key: certificate.key.clone().into_bytes(),
            }),
            "ROOTCA" => Some(Secret::Roots(self.root.as_bytes().to_vec())),
            _ => None,
        }
    }

    async fn changed(&mut self) -> bool {
        self.current.changed().await.is_ok()
    }
}

/// Serves until it is dropped.
pub async fn serve(listener: UnixListener, source: impl Source) -> io::Result<()> {
    let service = SecretDiscoveryServiceServer::new(Secrets { source }).max_decoding_message_size(64 << 10);
    let served =
        Server::builder().add_service(service).serve_with_incoming(UnixListenerStream::new(listener));
    served.await.map_err(io::Error::other)
}

struct Secrets<S> {
    source: S,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
/// What a request does to the names of its stream.
type Change = Box<dyn FnOnce(&mut BTreeSet<String>) + Send>;

#[tonic::async_trait]
impl<S: Source> SecretDiscoveryService for Secrets<S> {
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

impl<S: Source> Secrets<S> {
    fn follow<T: Send + 'static>(
        &self,
        mut changes: impl Stream<Item = Result<Change, Status>> + Send + Unpin + 'static,
        answer: impl Fn(Vec<(String, Any)>, String) -> T + Send + 'static,
    ) -> Answers<T> {
        let (send, receive) = mpsc::channel(1);
        let mut source = self.source.clone();
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
                    changed = source.changed() => if !changed { return },
                    () = send.closed() => return,
                }
                version += 1;
                let secret = |name: &String| Some((name.clone(), message(name, source.secret(name)?)));
                let secrets: Vec<_> = names.iter().filter_map(secret).collect();
                if !secrets.is_empty() && send.send(Ok(answer(secrets, version.to_string()))).await.is_err() {
                    return;
                }
            }
        });
        Box::pin(ReceiverStream::new(receive))
    }
}

fn message(name: &str, secret: Secret) -> Any {
    let content = match secret {
        Secret::Own { chain, key } => Type::TlsCertificate(TlsCertificate {
            certificate_chain: Some(inline(chain)),
            private_key: Some(inline(key)),
            ..TlsCertificate::default()
        }),
        Secret::Roots(roots) => Type::ValidationContext(CertificateValidationContext {
            trusted_ca: Some(inline(roots)),
            ..CertificateValidationContext::default()
        }),
    };
    let secret = Message { name: name.to_owned(), r#type: Some(content) };
    Any { type_url: TYPE.to_owned(), value: secret.encode_to_vec() }
}

fn inline(pem: Vec<u8>) -> DataSource {
    DataSource { specifier: Some(Specifier::InlineBytes(pem)), ..DataSource::default() }
}
