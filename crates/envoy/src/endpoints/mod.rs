//! Endpoints of one cluster. In: a service's endpoints, the rule that holds, and of the client only what the rule
//! makes matter. Out: an assignment, grouped by locality.

mod assignment;
mod client;
mod lb_endpoint;
mod spread;

pub(crate) use assignment::PERSISTENT_SESSION;
pub use assignment::{Assignment, EndpointAddress, Group, Holder, LbEndpoint};
pub use client::Client;

use crate::{
    Context, Resource,
    memo::Table,
    names,
    policy::{Balance, Policy},
};
use mizzen_mesh::{
    Authentication, ByPointer, Resolution, Service, ServiceEndpoints, Visible, config::DestinationRule,
};
use mizzen_proto::istio::{mesh::v1alpha1::MeshConfig, networking::v1alpha3::Subset};
use std::sync::Arc;

/// Everything that one assignment is built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inputs {
    pub holder: Holder,
    pub service: ByPointer<Service>,
    /// The service's.
    pub port: u32,
    /// Which one of the rule's.
    pub subset: Option<usize>,
    pub endpoints: Option<ByPointer<ServiceEndpoints>>,
    pub rule: Option<ByPointer<DestinationRule>>,
    pub mesh: ByPointer<MeshConfig>,
    pub authentication: ByPointer<Authentication>,
    pub client: Client,
}

pub type Built = Table<Inputs, Arc<Resource>>;

/// The endpoints of the cluster `name`; nothing if there is no such cluster for this proxy, or if it needs none.
pub fn build(context: &Context<'_>, name: &str) -> Option<Arc<Resource>> {
    let wanted = names::parse_outbound(name)?;
    let scope = context.scope();
    let visible = scope.service(wanted.host)?;
    if !matches!(visible.service.resolution, Resolution::Endpoints | Resolution::Passthrough) {
        return None;
    }
    visible.service.port(wanted.port)?;
    let rule = visible.rule(context.proxy);
    let subset = match wanted.subset {
        "" => None,
        subset => Some(rule?.spec.subsets.iter().position(|known| known.name == subset)?),
    };
    let inputs = Inputs::of(context, Holder::Assignment, visible, rule, (wanted.port, subset));
    Some(context.memo.endpoints.get(&inputs, |inputs| Resource::encode(name, &inputs.assignment(name))))
}

impl Inputs {
    /// Asks of the client what matters here.
    pub(crate) fn of(
        context: &Context<'_>,
        holder: Holder,
        visible: &Visible,
        rule: Option<&Arc<DestinationRule>>,
        (port, subset): (u32, Option<usize>),
    ) -> Self {
        let mut inputs = Self {
            holder,
            service: ByPointer::from(&visible.service),
            port,
            subset,
            endpoints: match holder {
                Holder::Assignment => context.snapshot.endpoints_of(&visible.service.key),
                Holder::Cluster => context.snapshot.named_endpoints_of(&visible.service.key),
            }
            .map(ByPointer::from),
            rule: rule.map(ByPointer::from),
            mesh: ByPointer::from(&context.settings().mesh),
            authentication: ByPointer::from(context.snapshot.authentication()),
            client: Client::default(),
        };
        let (policy, balance) = (inputs.policy(), inputs.balance());
        inputs.client = Client::ask(context.proxy, &inputs.service, &balance, policy.outlier.is_some());
        inputs
    }

    fn subset(&self) -> Option<&Subset> {
        self.rule.as_ref()?.spec.subsets.get(self.subset?)
    }

    fn policy(&self) -> Policy<'_> {
        let policy = Policy::of_destination(self.rule.as_ref().map(|rule| &rule.spec), self.port);
        let policy = match self.holder {
            Holder::Assignment => policy,
            // The mesh's outlier detection is known to those alone that are built with their cluster.
            Holder::Cluster => policy.or_mesh(&self.mesh),
        };
        self.subset().map_or(policy, |subset| policy.under(subset, self.port))
    }

    fn balance(&self) -> Balance<'_> {
        let balance = Balance::of(&self.mesh, self.policy().balancer, &self.service);
        match balance {
            // Istio sorts by labels the whole of a service that is resolved by clients, not its subsets.
            Balance::Locality(wishes) if self.holder == Holder::Cluster && self.subset.is_some() => {
                wishes.without_priorities()
            }
            other => other,
        }
    }
}
