//! Envoy's secret discovery service for one identity, whole state and incremental.
//!
//! A stream has a set of names. It is answered when the set changes and when certificates are replaced. A name
//! that cannot be served gets no answer, as from Istio's agent: the proxy goes on waiting.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use envoy_types::{
    pb::{
        envoy::{
            config::core::v3::{DataSource, data_source::Specifier},
            extensions::transport_sockets::tls::v3::{
                CertificateValidationContext, Secret, TlsCertificate, secret::Type,
            },
            service::{
                discovery::v3::{
                    DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse,
                    Resource,
                },
                secret::v3::secret_discovery_service_server::SecretDiscoveryService,
            },
        },
        google::protobuf::Any,
    },
    util::pack_any,
};
use tokio::sync::mpsc;
use tokio_stream::{Stream, StreamExt, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, Streaming};

use super::Shared;
use crate::{error::Result, pki::Pair, run::run};

const TYPE: &str = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

#[derive(Clone)]
pub(super) struct Service {
    shared: Arc<Shared>,
    identity: String,
    /// The certificate of a generation: all streams of a proxy must be told the same.
    current: Arc<Mutex<(u64, Pair)>>,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl SecretDiscoveryService for Service {
    type StreamSecretsStream = Answers<DiscoveryResponse>;
    type DeltaSecretsStream = Answers<DeltaDiscoveryResponse>;

    async fn stream_secrets(
        &self,
        request: Request<Streaming<DiscoveryRequest>>,
    ) -> Result<Response<Self::StreamSecretsStream>, Status> {
        // Every request repeats the whole set; an acknowledgement does so too and changes nothing.
        let asks = request.into_inner().map(|request| {
            request.map(|request| {
                Box::new(move |names: &mut BTreeSet<String>| {
                    *names = request.resource_names.into_iter().collect();
                }) as Change
            })
        });
        Ok(Response::new(self.serve(asks, |secrets, generation| DiscoveryResponse {
            version_info: generation.to_string(),
            nonce: generation.to_string(),
            type_url: TYPE.to_owned(),
            resources: secrets.into_iter().map(|(_, secret)| secret).collect(),
            ..Default::default()
        })))
    }

    async fn delta_secrets(
        &self,
        request: Request<Streaming<DeltaDiscoveryRequest>>,
    ) -> Result<Response<Self::DeltaSecretsStream>, Status> {
        let asks = request.into_inner().map(|request| {
            request.map(|request| {
                Box::new(move |names: &mut BTreeSet<String>| {
                    names.extend(request.resource_names_subscribe);
                    names.retain(|name| !request.resource_names_unsubscribe.contains(name));
                }) as Change
            })
        });
        Ok(Response::new(self.serve(asks, |secrets, generation| {
            DeltaDiscoveryResponse {
                system_version_info: generation.to_string(),
                nonce: generation.to_string(),
                type_url: TYPE.to_owned(),
                resources: secrets
                    .into_iter()
                    .map(|(name, secret)| Resource {
                        name,
                        version: generation.to_string(),
                        resource: Some(secret),
                        ..Default::default()
                    })
                    .collect(),
                ..Default::default()
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

/// What a request does to the names of its stream.
type Change = Box<dyn FnOnce(&mut BTreeSet<String>) + Send>;

impl Service {
    pub(super) fn new(shared: Arc<Shared>, identity: &str) -> Result<Self> {
        let current = (*shared.generation.borrow(), shared.pair(identity)?);
        Ok(Self { shared, identity: identity.to_owned(), current: Arc::new(Mutex::new(current)) })
    }

    fn serve<T: Send + 'static>(
        &self,
        mut asks: impl Stream<Item = Result<Change, Status>> + Send + Unpin + 'static,
        answer: impl Fn(Vec<(String, Any)>, u64) -> T + Send + 'static,
    ) -> Answers<T> {
        let (send, receive) = mpsc::channel(4);
        let service = self.clone();
        let mut generations = self.shared.generation.subscribe();
        run().runtime().spawn(async move {
            let mut names = BTreeSet::new();
            loop {
                tokio::select! {
                    ask = asks.next() => {
                        let Some(Ok(change)) = ask else { break };
                        let before = names.clone();
                        change(&mut names);
                        if names == before {
                            continue;
                        }
                    }
                    changed = generations.changed() => if changed.is_err() { break },
                }
                let generation = *generations.borrow_and_update();
                let secrets: Vec<_> = names
                    .iter()
                    .filter_map(|name| Some((name.clone(), service.secret(name, generation)?)))
                    .collect();
                if !secrets.is_empty() && send.send(Ok(answer(secrets, generation))).await.is_err() {
                    break;
                }
            }
        });
        Box::pin(ReceiverStream::new(receive))
    }

    /// The secret of that name, if there is one.
    fn secret(&self, name: &str, generation: u64) -> Option<Any> {
        self.shared.note(name);
        // Nobody else is trusted here, so that the roots of the operating system are the mesh's own.
        let content = if name == "ROOTCA" || name == "file-root:system" {
            trusted(self.shared.authority.certificate().into_bytes())
        } else if name == "default" {
            let pair = self.pair(generation)?;
            certificate(pair.certificate.into_bytes(), pair.key.into_bytes())
        } else if let Some(files) = name.strip_prefix("file-cert:") {
            let (chain, key) = files.split_once('~')?;
            certificate(self.shared.file(chain)?, self.shared.file(key)?)
        } else {
            trusted(self.shared.file(name.strip_prefix("file-root:")?)?)
        };
        Some(pack_any(Secret { name: name.to_owned(), r#type: Some(content) }))
    }

    fn pair(&self, generation: u64) -> Option<Pair> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // A stream that is late must not bring back what others have given up.
        if current.0 < generation {
            *current = (generation, self.shared.pair(&self.identity).ok()?);
        }
        Some(current.1.clone())
    }
}

fn certificate(chain: Vec<u8>, key: Vec<u8>) -> Type {
    Type::TlsCertificate(TlsCertificate {
        certificate_chain: Some(inline(chain)),
        private_key: Some(inline(key)),
        ..Default::default()
    })
}

fn trusted(roots: Vec<u8>) -> Type {
    Type::ValidationContext(CertificateValidationContext {
        trusted_ca: Some(inline(roots)),
        ..Default::default()
    })
}

fn inline(bytes: Vec<u8>) -> DataSource {
    DataSource { specifier: Some(Specifier::InlineBytes(bytes)), ..Default::default() }
}
