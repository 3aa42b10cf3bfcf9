//! IstioOperator files, flags and charts in; the objects of a mesh out, as istioctl makes them.
//!
//! ```text
//! files, --set ─▶ user tree ─┐
//! profile ───────▶ base tree ┴─▶ merged ─▶ translated ─▶ validated ─▶ values per component ─▶ charts ─▶ objects ─▶ patched
//! ```

mod charts;
pub mod compare;
mod component;
pub mod deploy;
mod effective;
mod folder;
mod generate;
mod input;
mod manifest;
mod merge;
mod origin;
pub mod patch;
pub mod precheck;
mod print;
mod refused;
pub mod running;
mod set;
mod settings;
mod shapes;
pub mod source;
pub mod tag;
mod translate;
mod tree;
mod user;
pub mod validation;
pub mod verify;
mod version;

pub use charts::{Charts, ChartsError};
pub use component::{COMPONENTS, Component, Entry};
pub use effective::{effective, flags};
pub use folder::Folder;
pub use generate::{ComponentManifests, Generated, generate};
pub use input::{Images, Input};
pub use manifest::Manifest;
pub use merge::{Merged, merge, package_path, profile};
pub use origin::Origins;
pub use print::{print, printed, sorted};
pub use refused::Refused;
pub use set::{Assignment, SetError, get_path, set_path, typed};
pub use tree::merge as merge_trees;
pub use version::Version;
