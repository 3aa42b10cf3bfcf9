//! Private networks: separate from the machine's and from each other, reachable by what is meant to reach them.

use std::{fs, net::SocketAddr, process::Command};

use mizzen_testkit::{
    Result, needs,
    netns::NetNs,
    wait::{PATIENCE, Seen, until},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

fn loopback(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

/// Answers the first connection with these words.
fn answer(listener: TcpListener, words: &'static str) {
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.write_all(words.as_bytes()).await.expect("an open stream");
    });
}

async fn hear(mut stream: TcpStream) -> String {
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await.expect("an answer");
    heard
}

#[tokio::test]
async fn the_same_port_can_be_taken_in_every_namespace() -> Result<()> {
    needs!(NetNs::NEEDS);
    let (one, other) = (NetNs::new()?, NetNs::new()?);
    answer(one.listen(loopback(80))?, "one");
    answer(other.listen(loopback(80))?, "other");
    assert_eq!(hear(one.connect(loopback(80)).await?).await, "one");
    assert_eq!(hear(other.connect(loopback(80)).await?).await, "other");
    Ok(())
}

#[tokio::test]
async fn relays_lead_in_and_out_and_end_when_dropped() -> Result<()> {
    needs!(NetNs::NEEDS);
    let ns = NetNs::new()?;
    answer(ns.listen(loopback(80))?, "from inside");
    let out = ns.relay_out(loopback(80))?;
    assert_eq!(hear(TcpStream::connect(out.address()).await.unwrap()).await, "from inside");

    let outside = TcpListener::bind(loopback(0)).await.unwrap();
    let there = outside.local_addr().unwrap();
    answer(outside, "from outside");
    let inward = ns.relay_in(loopback(443), there)?;
    assert_eq!(hear(ns.connect(loopback(443)).await?).await, "from outside");

    drop(inward);
    until("the relay's end", PATIENCE, async || {
        let gone = ns.connect(loopback(443)).await.is_err();
        Seen::when(gone, || "it still listens".to_owned())
    })
    .await
}

#[tokio::test]
async fn a_process_started_inside_stays_inside_and_can_be_joined() -> Result<()> {
    needs!(NetNs::NEEDS);
    let ns = NetNs::new()?;
    let mut sleep = Command::new("sleep");
    sleep.arg("600");
    let part = ns.start("sleeper", sleep)?;
    answer(ns.listen(loopback(80))?, "joined");
    let joined = NetNs::of_pid(part.pid())?;
    assert_eq!(hear(joined.connect(loopback(80)).await?).await, "joined");
    Ok(())
}

#[test]
fn the_machines_own_network_stays_as_it_was() -> Result<()> {
    needs!(NetNs::NEEDS);
    let before = fs::read_link("/proc/thread-self/ns/net").unwrap();
    let ns = NetNs::new()?;
    let inside = ns.run(|| fs::read_link("/proc/thread-self/ns/net").unwrap())?;
    assert_ne!(inside, before);
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), before);
    assert!(ns.ip("-o link")?.lines().all(|line| line.contains(" lo:")), "{}", ns.ip("-o link")?);
    Ok(())
}

#[test]
fn a_command_that_fails_inside_says_what_it_said() -> Result<()> {
    needs!(NetNs::NEEDS);
    let refused = NetNs::new()?.ip("link set nothing up").unwrap_err().to_string();
    assert!(refused.contains("Cannot find device"), "{refused}");
    Ok(())
}

#[test]
fn a_link_can_be_moved_into_a_namespace_by_its_path() -> Result<()> {
    needs!(NetNs::NEEDS);
    let (near, far) = (NetNs::new()?, NetNs::new()?);
    near.ip(&format!("link add here type veth peer name there netns {}", far.path().display()))?;
    assert!(far.ip("-o link")?.contains(" there"));
    assert!(!near.ip("-o link")?.contains(" there"));
    Ok(())
}
