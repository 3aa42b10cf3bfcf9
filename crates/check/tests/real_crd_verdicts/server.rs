//! A real API server with one set of CRDs, and what it says of documents.

use std::{collections::BTreeSet, fs, sync::Arc};

use http::Request;
use kube::Client;
use mizzen_api::crd::Crd;
use mizzen_testkit::{ApiServer, Error, Result, tools};
use serde_json::{Value, json};
use tokio::{
    sync::{OnceCell, Semaphore},
    task::JoinSet,
};

use crate::documents::{NAMESPACE, Named};

/// Requests under way at once.
const AT_ONCE: usize = 16;

pub(crate) struct Server {
    client: Client,
    /// What must live as long as the client is used.
    _server: Option<ApiServer>,
}

/// What the server does with fields that the schema does not have.
#[derive(Clone, Copy)]
pub(crate) enum Unknown {
    Ignore,
    Strict,
}

/// `None` for what was accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict(pub(crate) Option<Refusal>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) message: String,
    pub(crate) causes: BTreeSet<Cause>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cause {
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Verdict {
    pub(crate) fn accepted(&self) -> bool {
        self.0.is_none()
    }
}

impl Server {
    /// With the CRDs of the installed module, for the caller alone.
    pub(crate) async fn upstream() -> Result<Self> {
        let file = tools::folder("modules/istio-api")?.join("kubernetes/customresourcedefinitions.gen.yaml");
        let crds = fs::read_to_string(&file).map_err(Error::other)?;
        let server = ApiServer::start().await?;
        install(&server, &crds).await?;
        Ok(Self { client: server.client()?, _server: Some(server) })
    }

    /// With ours, as `mizzen crd print` has them; one for all tests.
    pub(crate) async fn ours() -> Result<Self> {
        static INSTALLED: OnceCell<()> = OnceCell::const_new();
        let server = ApiServer::shared().await;
        let definitions: Vec<Value> = Crd::all().map(Crd::object).collect();
        let crds = json!({ "apiVersion": "v1", "kind": "List", "items": definitions }).to_string();
        INSTALLED.get_or_try_init(|| install(server, &crds)).await?;
        Ok(Self { client: server.client()?, _server: None })
    }

    /// Sends every document as if to create it, and nothing is.
    pub(crate) async fn verdicts(&self, documents: &[Named], unknown: Unknown) -> Result<Vec<Verdict>> {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for (index, document) in documents.iter().enumerate() {
            let (places, client, object) = (places.clone(), self.client.clone(), document.object.clone());
            tasks.spawn(async move {
                let _place = places.acquire_owned().await.map_err(Error::other)?;
                Ok::<_, Error>((index, verdict(&client, &object, unknown).await?))
            });
        }
        let mut verdicts = Vec::with_capacity(documents.len());
        while let Some(outcome) = tasks.join_next().await {
            verdicts.push(outcome.map_err(Error::other)??);
        }
        verdicts.sort_by_key(|(index, _)| *index);
        Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
    }
}

async fn install(server: &ApiServer, crds: &str) -> Result<()> {
    server.apply(crds).await?;
    server.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=90s"]).await?;
    Ok(())
}

async fn verdict(client: &Client, object: &Value, unknown: Unknown) -> Result<Verdict> {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let crd = Crd::called(object["kind"].as_str().unwrap_or_default());
    let plural = crd.map(|crd| crd.plural.as_str()).unwrap_or_default();
    let unknown = match unknown {
        Unknown::Ignore => "Ignore",
        Unknown::Strict => "Strict",
    };
    let url = format!("/apis/{version}/namespaces/{NAMESPACE}/{plural}?dryRun=All&fieldValidation={unknown}");
    let request = Request::post(url).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).map_err(Error::other)?;
    match client.request::<Value>(request).await {
        Ok(_) => Ok(Verdict(None)),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.iter().flat_map(|details| &details.causes);
            let causes =
                causes.map(|cause| Cause { field: cause.field.clone(), message: cause.message.clone() });
            let causes: BTreeSet<_> = causes.collect();
            // With causes, the message is no more than their list, in whatever order.
            let message = if causes.is_empty() { status.message.clone() } else { String::new() };
            Ok(Verdict(Some(Refusal { code: status.code, message, causes })))
        }
        Err(error) => Err(error.into()),
    }
}
