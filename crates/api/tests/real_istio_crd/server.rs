//! A real API server with one definition, and what it says of specs.

use http::Request;
use kube::Client;
use mizzen_testkit::{ApiServer, Error, Result};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};
use tokio::{sync::Semaphore, task::JoinSet};

/// Requests under way at once.
const AT_ONCE: usize = 16;

pub(crate) struct Server {
    pub(crate) server: ApiServer,
    client: Client,
}

/// What is wrong, field by field, without the name of the version; nothing for what was accepted.
pub(crate) type Verdict = Option<BTreeSet<String>>;

impl Server {
    pub(crate) async fn with(definition: &str) -> Result<Self> {
        let server = ApiServer::start().await?;
        server.apply(definition).await?;
        server.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=90s"]).await?;
        Ok(Self { client: server.client()?, server })
    }

    /// Sends each as if to create it, and nothing is. Unknown fields are refused.
    pub(crate) async fn verdicts(&self, version: &str, specs: &[Value]) -> Result<Vec<Verdict>> {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for (index, spec) in specs.iter().enumerate() {
            let (places, client, version) = (Arc::clone(&places), self.client.clone(), version.to_owned());
            let spec = spec.clone();
            tasks.spawn(async move {
                let _place = places.acquire_owned().await.map_err(Error::other)?;
                Ok::<_, Error>((index, verdict(&client, &version, &spec).await?))
            });
        }
        let mut verdicts = Vec::with_capacity(specs.len());
        while let Some(outcome) = tasks.join_next().await {
            verdicts.push(outcome.map_err(Error::other)??);
        }
        verdicts.sort_by_key(|(index, _)| *index);
        Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
    }
}

async fn verdict(client: &Client, version: &str, spec: &Value) -> Result<Verdict> {
    let object = json!({
        "apiVersion": format!("operator.kyma-project.io/{version}"), "kind": "Istio",
        "metadata": { "name": "default", "namespace": "default" }, "spec": spec,
    });
    let url = format!(
        "/apis/operator.kyma-project.io/{version}/namespaces/default/istios?dryRun=All&fieldValidation=Strict"
    );
    let request = Request::post(url).header("content-type", "application/json");
    let request = request.body(object.to_string().into_bytes()).map_err(Error::other)?;
    match client.request::<Value>(request).await {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) => {
            let causes = status.details.iter().flat_map(|details| &details.causes);
            let mut told: BTreeSet<String> =
                causes.map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
            if told.is_empty() {
                told.insert(status.message.replace(version, "VERSION"));
            }
            Ok(Some(told))
        }
        Err(error) => Err(error.into()),
    }
}
