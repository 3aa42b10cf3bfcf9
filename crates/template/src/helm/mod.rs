//! Charts as Helm has them: files in, rendered text out.
//!
//! ```text
//! folder, .tgz, files ─▶ Chart ─┐
//! values ─▶ coalesced, checked ─┼─▶ one root for each chart ─▶ every template, last name first ─▶ Rendered
//! release, capabilities ────────┘
//! ```
//!
//! A [`Chart`] is plain data and may be shared between threads; what templates change is made anew for each rendering.
//! Behaves as Helm 4.2's library does, which is what istioctl 1.31 links.

mod archive;
mod capabilities;
mod chart;
mod coalesce;
mod dependencies;
mod error;
mod files;
mod folder;
pub mod functions;
mod ignore;
mod manifest;
mod metadata;
mod pattern;
mod render;
mod rendered;
mod root;
mod schema;
mod structure;
mod values;
mod version;

pub use archive::{ArchiveLimits, unpack};
pub use capabilities::{Capabilities, KubeVersion};
pub use chart::{Chart, File};
pub use coalesce::effective_values;
pub use error::{ArchiveError, ChartError, HelmError};
pub use manifest::{ManifestOptions, manifest, split};
pub use metadata::{Dependency, ImportValues, Maintainer, Metadata};
pub use render::{RenderOptions, render};
pub use rendered::Rendered;
pub use root::Release;
pub use version::{Range, Version};
