//! One pass from a terminal, without a resource: Kyma's local command.
//!
//! ```text
//! --components, --value ─▶ Order ─▶ cluster-essentials ─▶ istio ─▶ istio-resources ─▶ an Outcome of each
//!                                   (backwards where everything is to go; a dry run only plans)
//! ```
//! The mesh is the operator's: the same merge, the same rendering, the same list of objects, so that an operator which comes later goes on
//! from there. What is decided is decided by pure functions: `versions`, `values`, `component`, `injected`, `reset::group`, `reset::owner`.

mod component;
mod dashboards;
mod domain;
mod essentials;
mod injected;
mod mark;
mod mesh;
mod namespace;
mod removal;
mod reset;
mod resources;
mod values;
mod versions;
mod wish;

pub use component::Component;
pub use values::Values;

use super::{MESH, NAMESPACE, installation::Wanted, observe::Observed, profile::Size, resources::NotKept};
use mizzen_cluster::{Cluster, NoInventory, Refused, Step};
use mizzen_install::{Charts, deploy::Event};
use serde::Serialize;
use std::{sync::Arc, time::Duration};

/// What somebody wants.
pub struct Order {
    /// In the order of the work.
    pub components: Vec<Component>,
    pub values: Values,
    /// Without a word by the size of the cluster.
    pub size: Option<Size>,
    /// Of Kyma: a label of what is made.
    pub kyma: String,
    /// Everything goes.
    pub delete: bool,
    /// Nothing is written.
    pub dry_run: bool,
    /// Back to an older version, and on where parts have different ones.
    pub force: bool,
    /// For each component of the mesh to become ready.
    pub patience: Duration,
}

/// The cluster, and what is brought to it.
pub struct Pass<'a> {
    pub cluster: &'a Arc<Cluster>,
    pub charts: &'a dyn Charts,
    /// Of this program.
    pub version: &'a str,
    pub order: &'a Order,
    pub tell: Arc<dyn Fn(Told) + Send + Sync>,
}

/// What is told on the way.
pub enum Told {
    Begins(Component),
    Event(Event),
    Ends(Outcome),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Success,
    Error,
    NotStarted,
}

/// What became of a component; or would become of it.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    #[serde(serialize_with = "named")]
    pub component: Component,
    pub status: Status,
    /// Objects that change.
    #[serde(rename = "objects")]
    pub steps: Vec<Step>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn named<S: serde::Serializer>(component: &Component, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(component.name())
}

/// Why a component is not what it should be.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Inventory(#[from] NoInventory),
    #[error(transparent)]
    Object(Box<NotKept>),
    #[error("{0}")]
    Said(String),
}

impl From<NotKept> for Failed {
    fn from(error: NotKept) -> Self {
        Self::Object(Box::new(error))
    }
}

/// What a component has done so far.
#[derive(Default)]
struct Done {
    steps: Vec<Step>,
    notes: Vec<String>,
}

/// One component after another; none is begun when one before it has failed. A sentence where nothing was begun at all.
pub async fn reconcile(pass: &Pass<'_>) -> Result<Vec<Outcome>, String> {
    let observed = Box::pin(Observed::read(pass.cluster)).await.map_err(|refused| refused.to_string())?;
    // What cannot be rendered, or lacks a domain, stops everything before anything is written.
    let mut wanted = match pass.order.delete {
        true => None,
        false => Some(mesh::wanted(pass, &observed)?),
    };
    let domain = match pass.has(Component::IstioResources) && !pass.order.delete {
        true => domain::domain(pass, &observed).await.map_err(|failed| failed.to_string())?,
        false => String::new(),
    };
    let mut components = pass.order.components.clone();
    if pass.order.delete {
        components.reverse();
    }
    let mut outcomes: Vec<Outcome> = Vec::new();
    for component in components {
        let outcome = if outcomes.iter().any(|outcome| outcome.status != Status::Success) {
            Outcome {
                component,
                status: Status::NotStarted,
                steps: Vec::new(),
                notes: Vec::new(),
                error: None,
            }
        } else {
            (pass.tell)(Told::Begins(component));
            let mut done = Done::default();
            let result = Box::pin(pass.one(component, &domain, wanted.as_mut(), &outcomes, &mut done)).await;
            let error = result.err().map(|failed| failed.to_string());
            let status = if error.is_some() { Status::Error } else { Status::Success };
            Outcome { component, status, steps: done.steps, notes: done.notes, error }
        };
        (pass.tell)(Told::Ends(outcome.clone()));
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

impl Pass<'_> {
    async fn one(
        &self,
        component: Component,
        domain: &str,
        wanted: Option<&mut Wanted>,
        before: &[Outcome],
        done: &mut Done,
    ) -> Result<(), Failed> {
        // There may be kinds now that there were not before.
        self.cluster.look().await?;
        match (component, wanted) {
            (Component::ClusterEssentials, Some(wanted)) => essentials::bring(self, wanted, done).await,
            (Component::Istio, Some(wanted)) => mesh::bring(self, wanted, done).await,
            (Component::IstioResources, Some(_)) => resources::bring(self, domain, done).await,
            (Component::ClusterEssentials, None) => essentials::remove(self, before, done).await,
            (Component::Istio, None) => removal::remove(self, before, done).await,
            (Component::IstioResources, None) => resources::remove(self, done).await,
        }
    }

    /// Whether a component is part of this pass, too.
    fn has(&self, component: Component) -> bool {
        self.order.components.contains(&component)
    }
}
