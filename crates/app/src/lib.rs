//! The app model: an application says what it wants from the mesh in one file.
//!
//! In: `app.yaml`, the overlay of a stack, the platform's file. Out: a [`Spec`] of objects, or everything that is wrong,
//! each at the line where it was written. No cluster is asked, and files come through [`Files`] only.
//!
//! The way: files are merged (`layers`), read along tables (`front`), rendered (`render`), checked by the rules of the
//! object's own kind (`blame` takes what they say back to the line), compared with each other (`cross`), and put in
//! order (`depends`).

mod blame;
mod build;
mod cross;
mod depends;
mod files;
mod front;
mod given;
mod index;
mod kcl;
mod layers;
mod links;
mod made;
mod manifests;
mod merge;
mod naming;
mod platform;
mod problem;
mod project;
pub mod release;
mod render;
mod schema;
mod secret;
mod setting;
mod spec;
mod starter;
mod whereabouts;
mod workload;

pub use build::{Built, Choice, build};
pub use files::Files;
pub use front::syntax::{label as name_of_namespace, name as name_of_owner};
pub use given::given;
pub use kcl::kcl;
pub use platform::PLATFORM;
pub use project::{APP, ONLY_STACK, overlay};
pub use schema::{File, schema};
pub use spec::{Resource, Spec};
pub use starter::{SCHEMA, name_of, starter};
pub use whereabouts::Whereabouts;
pub use workload::is_shared;
