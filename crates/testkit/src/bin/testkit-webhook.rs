//! The webhook of [`mizzen_testkit::webhook`] as the program of a pod.
//!   testkit-webhook FOLDER VALUE: `certificate` and `key` are read from the folder; objects are labelled with the value

use std::{fs, net::Ipv4Addr, path::Path};

use mizzen_testkit::{Error, Result, error::During, pki::Pair, webhook};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, folder, value] = words.as_slice() else { return Err(Error::other("FOLDER VALUE")) };
    let read = |name: &str| fs::read_to_string(Path::new(folder).join(name)).during(name);
    let pair = Pair { certificate: read("certificate")?, key: read("key")? };
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, 8443)).await.during("listen")?;
    webhook::serve(listener, &pair, value.clone().leak()).await
}
