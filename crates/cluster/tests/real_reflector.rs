//! Reflectors against the real API server: nothing lost, nothing twice, whatever happens to the connection.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use mizzen_cluster::{Change, Client, Identity, Resource, State, Trimmed, follow};
use mizzen_testkit::{
    ApiServer, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, PATIENCE, Seen},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
};
use tokio::sync::mpsc;

/// A ConfigMap as somebody has use for it: the count in it must be a number.
#[derive(Deserialize, Debug)]
struct Counted {
    metadata: Metadata,
    #[serde(default)]
    data: Data,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    resource_version: String,
}

#[derive(Deserialize, Debug, Default)]
struct Data {
    #[serde(default)]
    count: Option<Number>,
}

#[derive(Deserialize, Debug)]
#[serde(try_from = "String")]
struct Number(u64);

impl TryFrom<String> for Number {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl Trimmed for Counted {
    fn identity(&self) -> Identity<'_> {
        let metadata = &self.metadata;
        Identity { namespace: &metadata.namespace, name: &metadata.name, version: &metadata.resource_version }
    }
}

/// A running reflector and all that it has told.
struct Reflector {
    state: Arc<State>,
    told: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Reflector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Reflector {
    fn start(client: Client, resource: Resource) -> Self {
        let (state, told) = (Arc::new(State::default()), Arc::new(Mutex::new(Vec::new())));
        // One place only: whoever is slow makes the other wait.
        let (out, mut changes) = mpsc::channel(1);
        let say = |change: Change<Counted>| {
            Some(match change {
                Change::Applied(object) => {
                    let count = object.data.count.map(|count| format!("={}", count.0)).unwrap_or_default();
                    format!("+{}{count}", object.metadata.name)
                }
                Change::Gone(key) => format!("-{}", key.name),
                Change::Broken { key, .. } => format!("!{}", key.name),
                Change::Synced => ".".to_owned(),
            })
        };
        let following = follow(client, resource, Arc::clone(&state), out, say);
        let heard = Arc::clone(&told);
        let task = tokio::spawn(async move {
            let hear = async {
                while let Some(change) = changes.recv().await {
                    heard.lock().unwrap().push(change);
                }
            };
            tokio::join!(following, hear);
        });
        Self { state, told, task }
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    async fn tells(&self, what: &str) -> Result<()> {
        wait::until(what, PATIENCE, async || {
            let told = self.told();
            Seen::when(told.iter().any(|said| said == what), || format!("{told:?}"))
        })
        .await
    }

    /// What is there, by all that was told; fails if something was told twice.
    fn there(&self) -> BTreeMap<String, String> {
        let mut there = BTreeMap::new();
        for said in self.told() {
            match said.split_at(1) {
                ("+", rest) => {
                    let (name, count) = rest.split_once('=').unwrap_or((rest, ""));
                    let before = there.insert(name.to_owned(), count.to_owned());
                    assert_ne!(before.as_deref(), Some(count), "{said} was told twice: {:?}", self.told());
                }
                ("-", name) => {
                    assert!(there.remove(name).is_some(), "{said} was not there: {:?}", self.told());
                }
                _ => {}
            }
        }
        there
    }
}

fn maps(namespace: &str) -> Resource {
    Resource::new("", &["v1"], "configmaps").namespace(namespace)
}

async fn set(server: &ApiServer, namespace: &str, name: &str, count: &str) -> Result<()> {
    let map = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"{namespace}"}},"data":{{"count":"{count}"}}}}"#
    );
    server.apply(&map).await.map(|_| ())
}

/// More than two pages.
const MANY: usize = 1_203;

async fn many(server: &ApiServer, namespace: &str) -> Result<()> {
    let item = |number: usize| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"m{number:04}","namespace":"{namespace}"}}}}"#
        )
    };
    let all: Vec<String> = (0..MANY).map(item).collect();
    server.kubectl_reading(&all.join("\n"), &["create", "-f", "-"]).await.map(|_| ())
}

async fn delete(server: &ApiServer, namespace: &str, name: &str) -> Result<()> {
    server.kubectl(&["-n", namespace, "delete", "configmap", name]).await.map(|_| ())
}

fn is(there: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(name, count)| ((*name).to_owned(), (*count).to_owned())).collect();
    assert_eq!(*there, expected);
}

#[tokio::test]
async fn everything_is_told_once_then_each_change() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("told").await?;
    set(server, &namespace, "a", "1").await?;
    set(server, &namespace, "b", "1").await?;
    let reflector = Reflector::start(server.client()?, maps(&namespace));
    reflector.tells(".").await?;
    assert_eq!(reflector.told(), ["+a=1", "+b=1", "."]);
    set(server, &namespace, "a", "2").await?;
    delete(server, &namespace, "b").await?;
    reflector.tells("-b").await?;
    is(&reflector.there(), &[("a", "2")]);
    Ok(())
}

#[tokio::test]
async fn many_objects_are_told_whole() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("pages").await?;
    many(server, &namespace).await?;
    let reflector = Reflector::start(server.client()?, maps(&namespace));
    reflector.tells(".").await?;
    assert_eq!(reflector.there().len(), MANY);
    assert_eq!(reflector.state.objects.load(Relaxed), MANY as u64);
    Ok(())
}

#[tokio::test]
async fn what_changed_during_an_outage_is_told_after_it() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let (faults, namespace) = (server.faults().await?, server.namespace("outage").await?);
    for name in ["stays", "changes", "goes"] {
        set(server, &namespace, name, "1").await?;
    }
    let reflector = Reflector::start(faults.client()?, maps(&namespace));
    reflector.tells(".").await?;
    faults.stop().await?;
    wait::until("the outage to be seen", PATIENCE, async || {
        Seen::when(reflector.state.failure().is_some(), || format!("{:?}", reflector.state.phase()))
    })
    .await?;
    set(server, &namespace, "changes", "2").await?;
    set(server, &namespace, "comes", "1").await?;
    delete(server, &namespace, "goes").await?;
    faults.resume().await?;
    reflector.tells("-goes").await?;
    is(&reflector.there(), &[("changes", "2"), ("comes", "1"), ("stays", "1")]);
    assert!(reflector.state.failure().is_none(), "it is over");
    Ok(())
}

#[tokio::test]
async fn a_cut_watch_goes_on_where_it_was() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let (faults, namespace) = (server.faults().await?, server.namespace("cut").await?);
    set(server, &namespace, "a", "1").await?;
    let reflector = Reflector::start(faults.client()?, maps(&namespace));
    reflector.tells(".").await?;
    for count in 2..12 {
        wait::until("a watch", PATIENCE, async || {
            Seen::when(faults.open_watches() == 1, || "none".to_owned())
        })
        .await?;
        faults.cut_watches();
        set(server, &namespace, "a", &count.to_string()).await?;
        reflector.tells(&format!("+a={count}")).await?;
    }
    is(&reflector.there(), &[("a", "11")]);
    assert_eq!(reflector.state.lists.load(Relaxed), 1, "a watch that was cut needs no new list");
    Ok(())
}

#[tokio::test]
async fn an_api_server_that_restarts_loses_nothing() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    let namespace = server.namespace("restart").await?;
    set(&server, &namespace, "a", "1").await?;
    set(&server, &namespace, "b", "1").await?;
    let reflector = Reflector::start(server.client()?, maps(&namespace));
    reflector.tells(".").await?;
    // Others write so much that, after its restart, the server no longer knows where this reflector was (410).
    let other = server.namespace("other").await?;
    for count in 0..5 {
        set(&server, &other, "noise", &count.to_string()).await?;
    }
    server.restart().await?;
    set(&server, &namespace, "a", "2").await?;
    delete(&server, &namespace, "b").await?;
    reflector.tells("-b").await?;
    reflector.tells("+a=2").await?;
    is(&reflector.there(), &[("a", "2")]);
    Ok(())
}

#[tokio::test]
async fn a_place_that_the_server_has_forgotten_is_a_new_list() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::start().await?;
    let (faults, namespace) = (server.faults().await?, server.namespace("gone").await?);
    set(&server, &namespace, "a", "1").await?;
    set(&server, &namespace, "b", "1").await?;
    let reflector = Reflector::start(faults.client()?, maps(&namespace));
    reflector.tells(".").await?;
    // While nobody can look, the server restarts with a history that starts after these changes.
    faults.stop().await?;
    delete(&server, &namespace, "b").await?;
    many(&server, &namespace).await?;
    for count in 0..20 {
        set(&server, &namespace, "noise", &count.to_string()).await?;
    }
    server.restart().await?;
    faults.resume().await?;
    reflector.tells("-b").await?;
    let there = reflector.there();
    assert_eq!((there.len(), &*there["a"], &*there["noise"]), (MANY + 2, "1", "19"));
    assert!(reflector.state.lists.load(Relaxed) > 1, "it was 410, and everything was listed again");
    Ok(())
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_again() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let (faults, namespace) = (server.faults().await?, server.namespace("trouble").await?);
    set(server, &namespace, "a", "1").await?;
    faults.inject(Fault::internal_error().on(Verb::Read).next(2));
    faults.inject(Fault::too_many_requests(1).on(Verb::Watch).next(1));
    faults.inject(Fault::lose_answer().on(Verb::Watch).next(1));
    let reflector = Reflector::start(faults.client()?, maps(&namespace));
    reflector.tells(".").await?;
    set(server, &namespace, "a", "2").await?;
    reflector.tells("+a=2").await?;
    is(&reflector.there(), &[("a", "2")]);
    assert!(reflector.state.failures.load(Relaxed) >= 3);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_is_broken_and_the_others_go_on() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("broken").await?;
    set(server, &namespace, "bad", "many").await?;
    set(server, &namespace, "good", "1").await?;
    let reflector = Reflector::start(server.client()?, maps(&namespace));
    reflector.tells(".").await?;
    assert_eq!(reflector.told(), ["!bad", "+good=1", "."]);
    set(server, &namespace, "bad", "7").await?;
    reflector.tells("+bad=7").await?;
    set(server, &namespace, "bad", "none").await?;
    set(server, &namespace, "good", "2").await?;
    reflector.tells("+good=2").await?;
    assert_eq!(reflector.told().iter().filter(|said| *said == "!bad").count(), 2);
    delete(server, &namespace, "bad").await?;
    reflector.tells("-bad").await?;
    Ok(())
}

#[tokio::test]
async fn a_kind_that_is_not_installed_is_waited_for_and_may_go_again() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let widgets = Resource::new("example.com", &["v2", "v1"], "widgets");
    let reflector = Reflector::start(server.client()?, widgets);
    reflector.tells(".").await?;
    assert_eq!(reflector.state.phase(), mizzen_cluster::Phase::Absent);
    let kind = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
        "spec":{"group":"example.com","scope":"Cluster","names":{"kind":"Widget","plural":"widgets","singular":"widget"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
        "x-kubernetes-preserve-unknown-fields":true}}}]}}"#;
    server.apply(kind).await?;
    server.kubectl(&["wait", "--for=condition=Established", "crd/widgets.example.com"]).await?;
    let widget = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}"#;
    wait::until("a widget", PATIENCE, async || Seen::from_result(server.apply(widget).await)).await?;
    reflector.tells("+w").await?;
    server.kubectl(&["delete", "crd", "widgets.example.com", "--wait=false"]).await?;
    reflector.tells("-w").await?;
    Ok(())
}
