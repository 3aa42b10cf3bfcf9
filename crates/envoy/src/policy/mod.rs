//! What a DestinationRule wants for one cluster. In: the rule, a port, a subset, the mesh's defaults. Out: [`Policy`]
//! (each setting from the most specific place that has it) and [`Balance`] (how requests are spread over localities).
//! Read by clusters and by endpoints, which must agree.

mod balance;
mod overlay;

pub use balance::{Balance, CLUSTER, HOSTNAME, NETWORK, REGION, SUBZONE, Wishes, ZONE, is_distributed};
pub use overlay::{Policy, tls_mode};
