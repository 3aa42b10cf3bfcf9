//! OCI images from local files, without Docker, a registry or root.
//!
//! In: files, folders, links, and programs together with the libraries they are linked against. Out: one tar with an
//! OCI image layout, which `ctr images import` and every registry client take. The same input gives the same bytes,
//! so a digest says whether anything changed. Contents go from disk to disk in one pass and are hashed on the way:
//! what an image weighs does not matter to memory.
//!
//! ```no_run
//! let written = mizzen_image::Image::new("localhost/proxy:1")
//!     .program("/usr/local/bin/envoy", "/usr/local/bin/envoy")
//!     .user("1337")
//!     .entrypoint(["/usr/local/bin/envoy"])
//!     .write("proxy.tar")?;
//! # Ok::<(), mizzen_image::Error>(())
//! ```

mod digest;
mod elf;
mod error;
mod image;
mod layer;
mod layout;
mod libraries;
mod oci;
mod path;
mod tree;

pub use crate::{digest::Digest, error::Error, image::Image, layout::Written};
