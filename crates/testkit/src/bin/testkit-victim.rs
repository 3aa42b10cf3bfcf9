//! What tests of the run kill: it brings something up, names its run's folder on standard output, waits until its standard
//! input ends, and then ends in the way it was told.
//!   testkit-victim part|api-server|node return|panic|error
//! With `skip` as the first word it is a test that needs what no machine has.

use std::{
    io::{Read, Write},
    process::Command,
};

use mizzen_testkit::{ApiServer, Error, Node, Part, Result, error::During, needs, run::run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let [_, what, end] = words.as_slice() else { return Err(Error::other("WHAT END")) };
    if what == "skip" {
        needs!(&["no-such-tool"]);
        return Err(Error::other("it was not skipped"));
    }
    // Each lives until this function ends, if it comes to that.
    let (_part, _server, _node);
    match what.as_str() {
        "part" => _part = talker()?,
        "api-server" => _server = ApiServer::start().await?,
        "node" => _node = Node::start().await?,
        other => return Err(Error::other(format_args!("there is no {other:?}"))),
    }
    let mut out = std::io::stdout();
    writeln!(out, "{}", run().folder().display()).during("say where the run is")?;
    // Whoever started this has seen enough, or is gone.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    match end.as_str() {
        "panic" => panic!("as it was told"),
        "error" => Err(Error::other("as it was told")),
        _ => Ok(()),
    }
}

/// A process with a child that has left its session and group; the child is a part of the run as well.
fn talker() -> Result<Part> {
    let mut command = Command::new("sh");
    command.args(["-c", "setsid sleep 600 & echo speaking; exec sleep 600"]);
    let part = Part::start("talker", command)?;
    while !part.log().contains("speaking") {
        std::thread::yield_now();
    }
    Ok(part)
}
