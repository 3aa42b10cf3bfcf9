//! A name server inside a workload's network, at the address where this machine's resolver configuration has one.
//!
//! Every name has the same address. Without it a cluster whose endpoints are names would wait for a server that nobody can
//! reach, as long as the resolver's patience lasts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use anyhow::{Context as _, Result};
use mizzen_testkit::{net::Workload, run::run};
use tokio::task::AbortHandle;

/// Where resolvers look if nobody tells them.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const ANSWER: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
const HEAD: usize = 12;

pub(super) struct Names(Vec<AbortHandle>);

impl Names {
    pub(super) fn serve(workload: &Workload) -> Result<Self> {
        let configured = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let mut names = Self(Vec::new());
        for address in servers(&configured) {
            if !address.is_loopback() {
                workload.netns().ip(&format!("addr add {address} dev lo"))?;
            }
            let socket = workload.netns().run(|| UdpSocket::bind(SocketAddr::new(address, 53)))?;
            let socket = socket.with_context(|| format!("serve names at {address}"))?;
            socket.set_nonblocking(true)?;
            let _context = run().runtime().enter();
            let socket = tokio::net::UdpSocket::from_std(socket)?;
            names.0.push(run().runtime().spawn(answer_all(socket)).abort_handle());
        }
        Ok(names)
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

async fn answer_all(socket: tokio::net::UdpSocket) {
    let mut buffer = [0; 1_500];
    while let Ok((length, asker)) = socket.recv_from(&mut buffer).await {
        if let Some(reply) = buffer.get(..length).and_then(answer) {
            let _ = socket.send_to(&reply, asker).await;
        }
    }
}

/// The servers of a resolver configuration; an IPv6 one that nobody serves is at once known to be out of reach.
fn servers(configuration: &str) -> Vec<IpAddr> {
    let lines = configuration.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    let found: Vec<IpAddr> =
        lines.filter_map(|address| address.trim().parse().ok()).filter(IpAddr::is_ipv4).collect();
    if found.is_empty() { vec![LOCAL] } else { found }
}

/// The reply to a query: the address if one is asked for, and otherwise that there is nothing of that kind.
fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let mut end = HEAD;
    while *query.get(end)? != 0 {
        end += usize::from(query[end]) + 1;
    }
    // Behind the name: its end, the type and the class.
    let question = query.get(HEAD..end + 5)?;
    let wants_address = question.ends_with(&[0, 1, 0, 1]);
    let mut reply = query.get(..2)?.to_vec();
    // A reply without an error, of one who may recurse; one question, one answer or none.
    reply.extend([0x81, 0x80, 0, 1, 0, u8::from(wants_address), 0, 0, 0, 0]);
    reply.extend(question);
    if wants_address {
        // The name of the question, type and class as there, a minute to live, four bytes.
        reply.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        reply.extend(ANSWER.octets());
    }
    Some(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(kind: u8) -> Vec<u8> {
        let mut query = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend(b"\x01a\x07example\x00\x00");
        query.extend([kind, 0, 1]);
        query
    }

    #[test]
    fn an_address_is_answered_with_the_only_one() {
        let reply = answer(&query(1)).unwrap();
        assert_eq!(reply[..8], [7, 9, 0x81, 0x80, 0, 1, 0, 1]);
        assert!(reply.ends_with(&[0, 4, 10, 99, 0, 1]));
    }

    #[test]
    fn there_is_nothing_of_another_kind() {
        let reply = answer(&query(28)).unwrap();
        assert_eq!(reply[6..8], [0, 0]);
        assert_eq!(reply.len(), query(28).len());
    }

    #[test]
    fn what_is_no_query_is_not_answered() {
        for end in 0..query(1).len() {
            assert_eq!(answer(&query(1)[..end]), None, "{end} bytes");
        }
    }

    #[test]
    fn the_servers_of_this_machine_are_read() {
        let text =
            "# comment\nsearch a.example\nnameserver 10.0.0.53\nnameserver  ::1\nnameserver 10.0.0.54\n";
        assert_eq!(servers(text), [IpAddr::from([10, 0, 0, 53]), IpAddr::from([10, 0, 0, 54])]);
        assert_eq!(servers(""), [LOCAL]);
    }
}
