//! From what a program printed to a sentence that says what to do.

/// What went wrong, and what to do about it.
pub(crate) struct Failure {
    pub(crate) reason: String,
}

/// Marks that programs leave in their output, with the advice for each; the first that fits is taken.
const MARKS: &[(&[&str], &str)] = &[
    (
        &["no space left on device", "disk quota exceeded", "os error 28"],
        "the disk is full: the tools need about 2 GB, Go's caches 9 GB more while building; free some and run the command again, it goes on where it stopped",
    ),
    (
        &[
            "sha256 mismatch",
            "hashes are required",
            "do not match the hashes",
            "checksum mismatch",
            "security error",
        ],
        "what was downloaded is not what tools.toml pins: nothing was installed; if the network is honest, the pin must be changed in a commit",
    ),
    (
        &[
            "temporary failure in name resolution",
            "name or service not known",
            "no such host",
            "network is unreachable",
            "connection refused",
            "connection timed out",
            "i/o timeout",
            "connection reset",
            "failed to establish a new connection",
            "could not resolve",
            "tls handshake timeout",
            "proxyconnect",
            "newconnectionerror",
            "max retries exceeded",
            "connection error",
            "eai_again",
        ],
        "the package registry cannot be reached: check the network and the client's own configuration, then run the command again, it goes on where it stopped",
    ),
    (
        &["no matching distribution", "could not find a version"],
        "the package index does not have this version for this machine (platform or Python version)",
    ),
    (&["permission denied", "are you root"], "no permission: see which path in the log"),
    (&["requires go >=", "go.mod requires go"], "this Go is too old: install a newer one"),
];

/// Reads a program's output for its cause.
pub(crate) fn advice(output: &str) -> Option<&'static str> {
    let output = output.to_lowercase();
    MARKS.iter().find(|(marks, _)| marks.iter().any(|mark| output.contains(mark))).map(|(_, advice)| *advice)
}

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let text = error.to_string();
        Self::new(advice(&text).map_or_else(|| text.clone(), |advice| format!("{advice} ({text})")))
    }
}

#[cfg(test)]
mod tests {
    use super::advice;

    #[test]
    fn a_full_disk_is_recognised_whoever_reports_it() {
        for line in [
            "write /tmp/x: no space left on device",
            "OSError: [Errno 28] No space left on device",
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        ] {
            assert!(advice(line).is_some_and(|advice| advice.starts_with("the disk is full")), "{line}");
        }
    }

    #[test]
    fn a_wrong_checksum_is_not_mistaken_for_a_network_fault() {
        let advice = advice("verifying x: checksum mismatch\nconnection refused").unwrap();
        assert!(advice.contains("pins"), "{advice}");
    }

    #[test]
    fn an_unknown_cause_gets_no_invented_advice() {
        assert_eq!(advice("undefined: foo"), None);
    }
}
