//! A cluster to work on: objects are read, applied and deleted, with patience for a server that is busy.
//!
//! Every call says what it was about when it fails, and what became of it is known: an answer that was lost is asked for again, which
//! is safe because applying and deleting twice is the same as once.

use crate::{
    backoff::Backoff,
    object::{Desired, ObjectId},
    order::has_pods,
    served::{ACCEPT, Served},
};
use http::{Method, Request, StatusCode, header};
use kube::Client;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::{sleep, timeout};

/// Attempts of one call.
const ATTEMPTS: u32 = 8;
/// For one answer.
const WAIT: Duration = Duration::from_secs(30);
/// Objects that are held at once while many are looked through.
const PAGE: usize = 250;

pub struct Cluster {
    client: Client,
    manager: String,
    served: RwLock<Arc<Served>>,
    requests: AtomicU64,
    writes: AtomicU64,
    /// Whether it has ever said anything: who has not is not waited for.
    answered: AtomicBool,
}

/// Why a call came to nothing, by what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refused {
    #[error("the server has no kind {kind} of {group:?} in version {version}")]
    NotServed { group: String, kind: String, version: String },
    #[error("{what} is not allowed: {message}")]
    Forbidden { what: String, message: String },
    #[error("the server does not accept these credentials: {0}")]
    Unauthorized(String),
    /// Somebody else changed it at the same time, or has a field of it.
    #[error("{what}: {message}")]
    Conflict { what: String, message: String },
    #[error("{id} cannot be made: there is no namespace {}", .id.namespace)]
    NoNamespace { id: ObjectId },
    /// It, or something that it refers to. Which kind is in the server's words: `clusterroles`
    #[error("{what}: {message}")]
    Absent { what: String, kind: String, message: String },
    #[error("{what} is refused: {message}")]
    Invalid { what: String, message: String },
    #[error("{what}: the server answers {status}: {message}")]
    Other { what: String, status: u16, message: String },
    #[error("{what}: no answer: {message}")]
    Unreachable { what: String, message: String },
}

/// What became of a wish to delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    Done,
    /// It is there until somebody lets it go.
    Begun,
    Absent,
}

/// How to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mode {
    /// Only say what would come of it.
    pub dry_run: bool,
    /// Take fields over from others.
    pub force: bool,
}

impl Cluster {
    /// `manager` is the name under which fields are ours.
    pub async fn new(client: Client, manager: &str) -> Result<Self, Refused> {
        let cluster = Self {
            client,
            manager: manager.to_owned(),
            served: RwLock::default(),
            requests: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            answered: AtomicBool::new(false),
        };
        cluster.look().await?;
        Ok(cluster)
    }

    /// For reflectors.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    pub fn manager(&self) -> &str {
        &self.manager
    }

    /// Requests so far, and how many of them were to change something.
    pub fn requests(&self) -> (u64, u64) {
        (self.requests.load(Relaxed), self.writes.load(Relaxed))
    }

    /// Asks again which kinds there are: after definitions were applied there are more.
    pub async fn look(&self) -> Result<(), Refused> {
        let mut served = Served::default();
        for path in ["/api", "/apis"] {
            let request = Request::get(path).header(header::ACCEPT, ACCEPT);
            let answer = self.call("reading which kinds there are", request, &Value::Null).await?;
            let groups = answer.map(serde_json::from_value).transpose();
            let groups = groups.map_err(|error| Refused::Unreachable {
                what: "reading which kinds there are".to_owned(),
                message: error.to_string(),
            })?;
            if let Some(groups) = groups {
                served.add(groups);
            }
        }
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
        Ok(())
    }

    pub fn served(&self) -> Arc<Served> {
        Arc::clone(&self.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn path(&self, id: &ObjectId, version: Option<&str>) -> Result<String, Refused> {
        self.served().path(id, version).ok_or_else(|| Refused::NotServed {
            group: id.group.clone(),
            kind: id.kind.clone(),
            version: version.unwrap_or("any").to_owned(),
        })
    }

    /// Nothing if it is not there, or its kind is not.
    pub async fn get(&self, id: &ObjectId, version: Option<&str>) -> Result<Option<Value>, Refused> {
        match self.path(id, version) {
            Ok(path) => self.call(&format!("reading {id}"), Request::get(path), &Value::Null).await,
            Err(_) => Ok(None),
        }
    }

    /// As the server has it then.
    pub async fn apply(&self, desired: &Desired, mode: Mode) -> Result<Value, Refused> {
        self.apply_as(&self.manager, desired, mode).await
    }

    /// The same under another name.
    pub(crate) async fn apply_as(
        &self,
        manager: &str,
        desired: &Desired,
        mode: Mode,
    ) -> Result<Value, Refused> {
        let what = format!("applying {}", desired.id);
        let mut path = self.path(&desired.id, Some(&desired.version))?;
        path.push_str(&format!("?fieldManager={}&force={}", escaped(manager), mode.force));
        if mode.dry_run {
            path.push_str("&dryRun=All");
        }
        let request = Request::patch(path).header(header::CONTENT_TYPE, "application/apply-patch+yaml");
        self.answer(&what, request, &desired.value).await.map_err(|refused| match refused {
            Refused::Absent { kind, .. } if kind == "namespaces" => {
                Refused::NoNamespace { id: desired.id.clone() }
            }
            refused => refused,
        })
    }

    /// The status of an object, applied under a manager's own name, so that it is nobody else's. Nothing if it is not there.
    pub async fn apply_status(&self, manager: &str, desired: &Desired) -> Result<Option<Value>, Refused> {
        let mut path = self.path(&desired.id, Some(&desired.version))?;
        path.push_str(&format!("/status?fieldManager={}&force=true", escaped(manager)));
        let request = Request::patch(path).header(header::CONTENT_TYPE, "application/apply-patch+yaml");
        self.call(&format!("writing the status of {}", desired.id), request, &desired.value).await
    }

    /// The whole object, whoever has its fields, in the place of the very version that it names. Nothing if it is not there.
    pub async fn replace(&self, id: &ObjectId, object: &Value) -> Result<Option<Value>, Refused> {
        let path = format!("{}?fieldManager={}", self.path(id, None)?, escaped(&self.manager));
        let request = Request::put(path).header(header::CONTENT_TYPE, "application/json");
        self.call(&format!("replacing {id}"), request, object).await
    }

    /// A new object; a conflict if there is one of its name. Nothing if its namespace is not there.
    pub async fn create(&self, desired: &Desired) -> Result<Option<Value>, Refused> {
        let id = &desired.id;
        let kind = self.served().find(&id.group, &id.kind, Some(&desired.version)).cloned();
        let kind = kind.ok_or_else(|| Refused::NotServed {
            group: id.group.clone(),
            kind: id.kind.clone(),
            version: desired.version.clone(),
        })?;
        let path =
            format!("{}?fieldManager={}", kind.collection(&id.group, &id.namespace), escaped(&self.manager));
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.writes.fetch_add(1, Relaxed);
        self.call(&format!("making {id}"), request, &desired.value).await
    }

    /// Lays fields over an object. As the server has it then; nothing if it is not there.
    pub(crate) async fn merge(&self, id: &ObjectId, fields: Value) -> Result<Option<Value>, Refused> {
        let path = self.path(id, None)?;
        let request = Request::patch(path).header(header::CONTENT_TYPE, "application/merge-patch+json");
        self.call(&format!("changing {id}"), request, &fields).await
    }

    /// A JSON patch. As the server has it then; nothing if it is not there.
    pub async fn patch(&self, id: &ObjectId, patch: Value) -> Result<Option<Value>, Refused> {
        let path = self.path(id, None)?;
        let request = Request::patch(path).header(header::CONTENT_TYPE, "application/json-patch+json");
        self.call(&format!("changing {id}"), request, &patch).await
    }

    /// With what depends on it. Only this very one, if its `uid` is given.
    pub async fn delete(&self, id: &ObjectId, uid: Option<&str>) -> Result<Deletion, Refused> {
        let Ok(path) = self.path(id, None) else { return Ok(Deletion::Absent) };
        // Who has pods is there until they are gone; nothing depends on the others, and they are gone at once.
        let propagation = if has_pods(&id.kind) { "Foreground" } else { "Background" };
        let mut options =
            json!({ "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation });
        if let Some(uid) = uid {
            options["preconditions"] = json!({ "uid": uid });
        }
        let request = Request::delete(path).header(header::CONTENT_TYPE, "application/json");
        let answer: Option<Value> = self.call(&format!("deleting {id}"), request, &options).await?;
        Ok(match answer {
            None => Deletion::Absent,
            // What is still there is sent back as it is.
            Some(object) if object["metadata"]["deletionTimestamp"].is_string() => Deletion::Begun,
            Some(_) => Deletion::Done,
        })
    }

    /// Everything of a kind with these labels, in all namespaces.
    pub async fn list(&self, group: &str, kind: &str, labels: &str) -> Result<Vec<Value>, Refused> {
        self.list_in(group, kind, "", labels).await
    }

    /// In one namespace, which takes fewer rights.
    pub async fn list_in(
        &self,
        group: &str,
        kind: &str,
        namespace: &str,
        labels: &str,
    ) -> Result<Vec<Value>, Refused> {
        self.find(group, kind, namespace, &format!("labelSelector={}", escaped(labels))).await
    }

    /// By any query. Nothing where the kind is not served.
    pub(crate) async fn find(
        &self,
        group: &str,
        kind: &str,
        namespace: &str,
        query: &str,
    ) -> Result<Vec<Value>, Refused> {
        let served = self.served();
        let Some(found) = served.find(group, kind, None) else { return Ok(Vec::new()) };
        let path = format!("{}?{query}", found.collection(group, namespace));
        let answer = self.call(&format!("listing {kind}"), Request::get(path), &Value::Null).await?;
        let items = answer.and_then(|mut list: Value| list.get_mut("items").map(Value::take));
        let mut items = match items {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        // A list leaves out what all of its items have in common.
        let api_version =
            if group.is_empty() { found.version.clone() } else { format!("{group}/{}", found.version) };
        for item in &mut items {
            item["apiVersion"] = api_version.as_str().into();
            item["kind"] = kind.into();
        }
        Ok(items)
    }

    /// Everything of a kind in all namespaces that a query finds, a page at a time, so that only what `take` keeps is kept.
    pub async fn each(
        &self,
        group: &str,
        kind: &str,
        query: &str,
        mut take: impl FnMut(Value),
    ) -> Result<(), Refused> {
        let served = self.served();
        let Some(found) = served.find(group, kind, None) else { return Ok(()) };
        let mut token = String::new();
        loop {
            let page = format!("limit={PAGE}&continue={}", escaped(&token));
            let path = format!("{}?{page}&{query}", found.collection(group, ""));
            let answer = self.call(&format!("listing {kind}"), Request::get(path), &Value::Null).await?;
            let Some(Page { items, metadata }) = answer else { return Ok(()) };
            for item in items {
                // An object takes many times its text: one at a time.
                let item = serde_json::from_str(item.get());
                take(item.map_err(|error| Refused::Invalid {
                    what: format!("listing {kind}"),
                    message: error.to_string(),
                })?);
            }
            match metadata.token {
                token if token.is_empty() => return Ok(()),
                next => token = next,
            }
        }
    }

    /// Whatever a path of the server's answers; nothing for 404.
    pub async fn read(&self, what: &str, path: &str) -> Result<Option<Value>, Refused> {
        self.call(what, Request::get(path), &Value::Null).await
    }

    /// The answer as it is, from a path that does not speak JSON, such as a pod's behind the server's proxy. Asked once.
    pub async fn read_text(&self, what: &str, path: &str) -> Result<String, Refused> {
        let request = Request::get(path).body(Vec::new());
        let request = request
            .map_err(|error| Refused::Invalid { what: what.to_owned(), message: error.to_string() })?;
        self.requests.fetch_add(1, Relaxed);
        match timeout(WAIT, self.client.request_text(request)).await {
            Ok(answer) => answer.map_err(|error| told(what, &error).refused),
            Err(_) => Err(unreachable(what, format!("within {} s", WAIT.as_secs()))),
        }
    }

    /// A question that is put as an object, such as a review of rights: nothing is kept of it.
    pub async fn ask(&self, what: &str, path: &str, question: Value) -> Result<Option<Value>, Refused> {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.call(what, request, &question).await
    }

    /// A wish that is put as an object, and once: what the server answers to it is the answer, however busy it is.
    pub(crate) async fn post_once(&self, what: &str, path: &str, wish: Value) -> Result<Value, Refused> {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        let request = request
            .body(wish.to_string().into_bytes())
            .map_err(|error| Refused::Invalid { what: what.to_owned(), message: error.to_string() })?;
        self.requests.fetch_add(1, Relaxed);
        self.writes.fetch_add(1, Relaxed);
        match timeout(WAIT, self.client.request::<Value>(request)).await {
            Ok(answer) => answer.map_err(|error| told(what, &error).refused),
            Err(_) => Err(unreachable(what, format!("within {} s", WAIT.as_secs()))),
        }
    }

    /// Nothing for what is not there.
    async fn call<T: DeserializeOwned>(
        &self,
        what: &str,
        request: http::request::Builder,
        body: &Value,
    ) -> Result<Option<T>, Refused> {
        match self.answer(what, request, body).await {
            Err(Refused::Absent { .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        what: &str,
        request: http::request::Builder,
        body: &Value,
    ) -> Result<T, Refused> {
        let invalid =
            |error: http::Error| Refused::Invalid { what: what.to_owned(), message: error.to_string() };
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = request.body(bytes).map_err(invalid)?;
        // A question that is put by POST, and what only would be done, change nothing.
        let rehearsed = request.uri().query().is_some_and(|query| query.contains("dryRun="));
        let is_write =
            matches!(*request.method(), Method::PATCH | Method::PUT | Method::DELETE) && !rehearsed;
        let mut backoff = Backoff::default();
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.requests.fetch_add(1, Relaxed);
            self.writes.fetch_add(u64::from(is_write), Relaxed);
            let mut is_late = false;
            let failed = match timeout(WAIT, self.client.request::<T>(request.clone())).await {
                Ok(Ok(value)) => {
                    self.answered.store(true, Relaxed);
                    return Ok(value);
                }
                Ok(Err(error)) => told(what, &error),
                Err(_) => {
                    is_late = true;
                    let refused = unreachable(what, format!("within {} s", WAIT.as_secs()));
                    Failed { refused, after: None, again: true }
                }
            };
            // One that has never answered may not be there at all: it is asked once more, in case that only an answer was lost.
            let silent =
                matches!(failed.refused, Refused::Unreachable { .. }) && !self.answered.load(Relaxed);
            let failed = Failed { again: failed.again && !(silent && (is_late || attempt > 1)), ..failed };
            if !failed.again || attempt == ATTEMPTS {
                return Err(failed.refused);
            }
            let wait = failed.after.map_or_else(|| backoff.next(), Duration::from_secs);
            if attempt == 1 && !silent && matches!(failed.refused, Refused::Unreachable { .. }) {
                tracing::warn!("{}; it is tried again", failed.refused);
            }
            tracing::debug!(what, attempt, reason = %failed.refused, "again in {} ms", wait.as_millis());
            sleep(wait).await;
        }
    }
}

/// Of a list, its objects as the server wrote them.
#[derive(Deserialize)]
struct Page {
    items: Vec<Box<RawValue>>,
    metadata: PageMetadata,
}

#[derive(Deserialize)]
struct PageMetadata {
    /// Where the next page begins; empty at the end.
    #[serde(default, rename = "continue")]
    token: String,
}

struct Failed {
    refused: Refused,
    /// Seconds, as the server says.
    after: Option<u64>,
    again: bool,
}

fn unreachable(what: &str, message: String) -> Refused {
    Refused::Unreachable { what: what.to_owned(), message }
}

fn told(what: &str, error: &kube::Error) -> Failed {
    let kube::Error::Api(status) = error else {
        return Failed { refused: unreachable(what, innermost(error)), after: None, again: true };
    };
    let (what, message) = (what.to_owned(), status.message.clone());
    // What does not fit the schema of its kind is called a failure of the server, and would be so again.
    let misfit = status.code == 500 && message.starts_with("failed to create typed patch object");
    let busy = matches!(status.code, 429 | 500 | 502 | 503 | 504) && !misfit;
    let after = status
        .details
        .as_ref()
        .map(|details| u64::from(details.retry_after_seconds))
        .filter(|&after| after > 0);
    let refused = match StatusCode::from_u16(status.code) {
        Ok(StatusCode::UNAUTHORIZED) => Refused::Unauthorized(message),
        Ok(StatusCode::FORBIDDEN) => Refused::Forbidden { what, message },
        Ok(StatusCode::NOT_FOUND) => {
            let kind = status.details.as_ref().map(|details| details.kind.clone()).unwrap_or_default();
            Refused::Absent { what, kind, message }
        }
        Ok(StatusCode::CONFLICT) => Refused::Conflict { what, message },
        Ok(StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) => Refused::Invalid { what, message },
        _ if misfit => Refused::Invalid { what, message },
        _ => Refused::Other { what, status: status.code, message },
    };
    Failed { refused, after: after.filter(|_| busy), again: busy }
}

/// What it comes down to, and what that stands in: `tcp connect error: Connection refused`. What is around it only says that a
/// client has failed.
fn innermost(error: &kube::Error) -> String {
    let causes: Vec<String> =
        std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
            .map(ToString::to_string)
            .collect();
    causes[causes.len().saturating_sub(2)..].join(": ")
}

pub(crate) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
