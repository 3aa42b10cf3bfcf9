//! Sockets at addresses as Go's programs write them: `:15010` is every address of the machine.

use std::io;
use tokio::net::TcpListener;

pub(crate) async fn listen(address: &str) -> io::Result<TcpListener> {
    let Some(port) = address.strip_prefix(':') else {
        let address = address.replace("localhost:", "127.0.0.1:");
        return TcpListener::bind(&address).await;
    };
    match TcpListener::bind(format!("[::]:{port}")).await {
        // A machine without IPv6.
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(format!("0.0.0.0:{port}")).await
        }
        bound => bound,
    }
}
