//! The `Istio` resource: one object, the whole mesh of a cluster.
//!
//! ```text
//! resource, cluster ─▶ decide ─┬─▶ refused: told, nothing is done
//!                              ├─▶ bring: merge ─▶ installation ─▶ resources, each by itself ─▶ status
//!                              └─▶ remove: blockers? ─▶ uninstall ─▶ let go
//! ```
//! What is decided is decided by pure functions: `decide`, `validate`, `merge`, `version`, `size`, `provider`, `blockers`.

pub(crate) mod applied;
mod beside;
mod blockers;
mod bring;
pub mod client;
mod decide;
mod deployed;
mod event;
pub mod features;
mod follow;
mod gateway;
pub mod images;
mod inhabitant;
mod injection_selector;
mod installation;
pub mod manager;
pub mod merge;
mod mesh_namespace;
mod mesh_parts;
mod metrics;
mod monitoring;
mod namespaces;
mod network_policies;
mod observe;
mod peer_authentication;
mod policy_switch;
pub(crate) mod priority_class;
pub mod profile;
mod program;
pub mod provider;
mod proxy_protocol;
mod reason;
pub mod reconcile;
mod reconciler;
mod resources;
mod rights;
mod rollout;
mod sidecars;
pub mod size;
mod telling;
mod uninstall;
mod user_filters;
mod validate;
mod verify;
pub mod version;
mod vertical_autoscalers;
mod webhooks;

pub use deployed::{Deployed, objects, sample};
pub(crate) use reconciler::IstioReconciler;
pub use reconciler::Settings;
pub(crate) use sidecars::Counts;

/// Where resources have to be.
pub const NAMESPACE: &str = "kyma-system";
/// Where the mesh is.
const MESH: &str = "istio-system";
/// The name of the IstioOperator that a resource becomes.
const OPERATOR: &str = "default-operator";
/// Keeps a resource until its mesh is gone.
pub const FINALIZER: &str = "istios.operator.kyma-project.io/istio-installation";
/// The lock of upstream's operator: it and we never work at the same time.
pub const LOCK: &str = "76223278.kyma-project.io";
/// On everything that belongs to the module.
const MODULE: &str = "kyma-project.io/module";
const DISCLAIMER: &str = "istios.operator.kyma-project.io/managed-by-disclaimer";
const DISCLAIMED: &str = "DO NOT EDIT - This resource is managed by Kyma.\n\
    Any modifications are discarded and the resource is reverted to the original state.";
