//! Real parts for tests: Kubernetes' API server and node, Envoy, istiod, a registry, networks of namespaces.
//!
//! A test asks for a part (`ApiServer::shared()`, `Envoy::start(…)`), uses it, and forgets it. Everything that a
//! test process starts belongs to its [`run`]: one folder, one keeper that outlives the process just long enough
//! to end what is left, whether the process returned, panicked or was killed. Nothing here is a mock, and nothing
//! here may become a dependency of the product.
//!
//! ```no_run
//! use mizzen_testkit::{ApiServer, Result, needs};
//!
//! #[tokio::main] // in a test: #[tokio::test]
//! async fn main() -> Result<()> {
//!     needs!(ApiServer::NEEDS); // skipped, named and counted where something is missing
//!     let server = ApiServer::shared().await; // one for all tests of this binary
//!     let namespace = server.namespace("greeting").await?; // one for each test
//!     server.kubectl(&["-n", &namespace, "create", "configmap", "greeting", "--from-literal=say=hello"]).await?;
//!     Ok(())
//! }
//! ```

pub mod apiserver;
pub mod comparison;
pub mod control_plane;
pub mod controllers;
pub mod echo;
pub mod envoy;
pub mod error;
pub mod faults;
pub mod istiod;
pub mod kcl;
pub mod needs;
pub mod net;
pub mod netns;
pub mod node;
pub mod oracle;
pub mod part;
pub mod pki;
pub mod ports;
pub mod proxy;
pub mod registry;
pub mod run;
pub mod secrets;
mod tls;
pub mod tools;
pub mod wait;
pub mod webhook;
pub mod wire;

pub use apiserver::{ApiServer, Pods};
pub use controllers::Controllers;
pub use echo::Echo;
pub use envoy::Envoy;
pub use error::{Error, Result};
pub use faults::Faults;
pub use istiod::Istiod;
pub use kcl::Kcl;
pub use net::Net;
pub use netns::NetNs;
pub use node::Node;
pub use oracle::Oracle;
pub use part::Part;
pub use proxy::Proxy;
pub use registry::Registry;
pub use secrets::Secrets;
