//! Addresses of Unix domain sockets, as `unix://…`.

use super::Verdict;

const PREFIX: &str = "unix://";

/// Is it meant as one?
pub(crate) fn is_one(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// `unix://` and an absolute path to a file, or the name of an abstract socket with `@` before it.
pub(crate) fn address(text: &str) -> Verdict {
    let path = text.strip_prefix(PREFIX).unwrap_or(text);
    if path.is_empty() {
        return Err("unix address must not be empty".to_owned());
    }
    if path.starts_with('@') || (path.starts_with('/') && !path.ends_with('/')) {
        return Ok(());
    }
    Err(format!("{path} is not an absolute path to a file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_an_absolute_path_or_an_abstract_name() {
        for (text, good) in [
            ("unix:///a/b", true),
            ("unix://@a", true),
            ("unix://", false),
            ("unix://a", false),
            ("unix:///a/", false),
        ] {
            assert_eq!(address(text).is_ok(), good, "{text}");
        }
        assert!(!is_one("1.2.3.4"));
    }
}
