//! The cluster half: a rendered mesh in, a running one out, and out again.
//!
//! ```text
//! Generated + Facts ─▶ Mesh (labels, default tag) ─▶ checks ─▶ Plan ─▶ carry out: namespace ─▶ inventory ─▶ components, each applied
//!                                                                       and waited for ─▶ prune ─▶ inventory
//! ```
//!
//! `install`, `diff`, `--dry-run` and the operator are the same way, left at different points.

mod checks;
mod facts;
mod labels;
mod mesh;
mod plan;
mod progress;
mod removal;
mod rights;
mod run;
mod shared;

pub use checks::{Problem, problems};
pub use facts::{Facts, kubernetes};
pub use mesh::{Mesh, NoMesh, Part};
pub use plan::{Plan, PlannedPart, plan};
pub use progress::{Event, Progress};
pub use removal::{Removal, Removed, Which, plan_removal, remove};
pub use rights::missing_rights;
pub use run::{Failure, Report, Settings, carry_out};
pub use shared::{Claimed, share};

/// Managers of objects that other installers of Istio leave: istioctl's two, and Helm's.
pub const OTHER_INSTALLERS: [&str; 3] = ["istio-operator", "istioctl", "helm"];
