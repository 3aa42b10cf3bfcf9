//! Who is at work, for others to read, and whether a process of this machine is still there.

use mizzen_app::release::Person;
use std::{env, fs, process};

pub(super) fn here() -> Person {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let user = variable("USER").or_else(|| variable("LOGNAME"));
    let user = user.unwrap_or_else(|| format!("user {}", nix::unistd::getuid()));
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| variable("HOSTNAME"));
    let host = host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
    let who = match host {
        Some(host) => format!("{user}@{host}"),
        None => user,
    };
    Person { who, process: own(), is_gone }
}

/// The machine as it was started, the numbering of its processes, the number, and when it was given.
fn own() -> String {
    let pid = process::id();
    let start = start(&pid.to_string()).unwrap_or_default();
    format!("{} {pid} {start}", machine().unwrap_or_default())
}

fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let numbers = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), numbers.display()))
}

/// When a process was started; nothing if it is not there, or only its end has not been heard of.
fn start(pid: &str) -> Option<String> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name, which may have blanks, is in brackets.
    let (_, fields) = line.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18).map(str::to_owned) }
}

/// Only of this very machine can it be said.
fn is_gone(process: &str) -> bool {
    let mut words = process.rsplitn(3, ' ');
    let (Some(begun), Some(pid), Some(place)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    !begun.is_empty() && machine().is_some_and(|here| here == place) && start(pid).as_deref() != Some(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_this_machine_is_known_to_be_there_or_gone() {
        let me = here();
        assert!(!is_gone(&me.process), "{}", me.process);
        let mut other = process::Command::new("true").spawn().unwrap();
        let pid = other.id().to_string();
        other.wait().unwrap();
        assert!(is_gone(&format!("{} {pid} 1", machine().unwrap())));
        // Of another machine, or of one that was started again, nothing is known.
        assert!(!is_gone("elsewhere pid:[1] 1 1"));
        assert!(!is_gone(""));
    }
}
