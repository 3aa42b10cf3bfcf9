//! One pass from a terminal, without a resource: Kyma's local command.
//!
//! ```text
//! --components, --value ─▶ Order ─▶ cluster-essentials ─▶ istio ─▶ istio-resources ─▶ an Outcome of each
//!                                   (backwards where everything is to go; a dry run only plans)
//! ```
//! Nothing goes before it is known that all of it may: a deletion is planned as a whole first.
//!
//! The mesh is the operator's: the same merge, the same rendering, the same list of objects, so that an operator which comes later goes on
//! from there. What is decided is decided by pure functions: `versions`, `values`, `component`, `injected`, `reset::group`, `reset::owner`.

mod component;
mod dashboards;
mod deletion;
mod domain;
mod essentials;
mod fields;
mod injected;
mod mark;
mod mesh;
mod namespace;
mod outcome;
mod removal;
mod reset;
mod resources;
mod values;
mod versions;
mod wish;

pub use component::Component;
pub use outcome::{Outcome, Status};
pub use values::Values;

use super::{MESH, NAMESPACE, installation::Wanted, observe::Observed, profile::Size, resources::NotKept};
use mizzen_cluster::{Cluster, NoInventory, Refused};
use mizzen_install::{Charts, deploy::Event};
use outcome::Done;
use std::{sync::Arc, time::Duration};

/// What somebody wants.
#[derive(Clone)]
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

/// One component after another; none is begun when one before it has failed. A sentence where nothing was begun at all.
pub async fn reconcile(pass: &Pass<'_>) -> Result<Vec<Outcome>, String> {
    let observed = Box::pin(Observed::read(pass.cluster)).await.map_err(|refused| refused.to_string())?;
    if pass.order.delete {
        return Ok(Box::pin(deletion::delete(pass)).await);
    }
    // What cannot be rendered, may not follow what is there or lacks a domain stops everything before anything is written.
    let mut wanted = mesh::wanted(pass, &observed)?;
    let told = |failed: Failed| failed.to_string();
    if pass.has(Component::Istio) {
        mesh::may(pass, &wanted, &observed.facts).await.map_err(told)?;
    }
    let domain = match pass.has(Component::IstioResources) {
        true => domain::domain(pass, &observed).await.map_err(told)?,
        false => String::new(),
    };
    Ok(pass.each(pass.order.components.clone(), &domain, Some(&mut wanted)).await)
}

impl Pass<'_> {
    async fn each(
        &self,
        components: Vec<Component>,
        domain: &str,
        mut wanted: Option<&mut Wanted>,
    ) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        let mut stopped = false;
        for component in components {
            let outcome = if stopped {
                Outcome::not_started(component)
            } else {
                (self.tell)(Told::Begins(component));
                let mut done = Done::default();
                let work = self.one(component, domain, wanted.as_deref_mut(), &outcomes, &mut done);
                let failed = Box::pin(work).await.err().map(|failed| failed.to_string());
                stopped = failed.is_some();
                Outcome::of(component, done, failed)
            };
            (self.tell)(Told::Ends(outcome.clone()));
            outcomes.push(outcome);
        }
        outcomes
    }

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
