//! Who has a port, for a person who wants it. Of other users' processes the kernel does not tell.

use std::{fs, path::Path};

/// `node (process 4711)`
pub(crate) fn who_has(port: u16) -> Option<String> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .into_iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().skip(1).filter_map(|line| listening(line, port)).collect::<Vec<_>>())
        .collect();
    let wanted: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if has_one(&entry.path().join("fd"), &wanted) {
            let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {pid})", command.trim()));
        }
    }
    None
}

/// The socket's number, if the line is about one that listens on the port.
fn listening(line: &str, port: u16) -> Option<String> {
    const LISTENS: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (address, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let number = u16::from_str_radix(address.rsplit(':').next()?, 16).ok()?;
    (number == port && *state == LISTENS).then(|| (*inode).to_owned())
}

fn has_one(descriptors: &Path, wanted: &[String]) -> bool {
    let Ok(entries) = fs::read_dir(descriptors) else { return false };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.into_iter().any(|link| link.to_str().is_some_and(|link| wanted.iter().any(|one| one == link)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_port_of_our_own_is_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let who = who_has(port).unwrap();
        assert!(who.contains(&format!("process {}", std::process::id())), "{who}");
        drop(listener);
        assert_eq!(who_has(port), None);
    }
}
