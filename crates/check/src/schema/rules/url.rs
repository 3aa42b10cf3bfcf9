//! Addresses as the server's `url()` reads them, which is how Go does.

use crate::value::url::{parse, parse_request};

/// `isURL`: absolute, or a path from the root.
pub(super) fn is_url(text: &str) -> bool {
    parse_request(text).is_ok()
}

/// `url(…).getScheme()`, empty for a mere path. Read twice, since a fragment counts only the second time.
pub(super) fn scheme(text: &str) -> Option<String> {
    parse_request(text).ok()?;
    parse(text).ok().map(|url| url.scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_scheme_that_go_finds() {
        let cases = [
            ("http://a.example", Some("http")),
            ("HTTPS://a.example:8443/x?y#z", Some("https")),
            ("oci://registry/x:1", Some("oci")),
            ("file:///a/b", Some("file")),
            ("mailto:x", Some("mailto")),
            ("/path", Some("")),
            ("//a/b", Some("")),
            ("*", Some("")),
            ("http://[::1]:80/", Some("http")),
            ("http://[fe80::1%25eth0]/", Some("http")),
            ("mongodb://a:1,b:2/", Some("mongodb")),
            ("", None),
            ("path", None),
            (":x", None),
            ("http://a:b", None),
            ("http://a:1:2", None),
            ("http://a b/", None),
            ("http://[1.2.3.4]/", None),
            ("http://[::1", None),
            ("http://x[::1]", None),
            ("http://a/%zz", None),
            ("http://%41/", None),
            ("http://a/#%zz", None),
            ("http://a\n/", None),
            ("http://us er@a/", None),
            ("//a:b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(scheme(text).as_deref(), expected, "{text}");
        }
        assert!(is_url("//a:b"), "one at first sight, and then no host and port");
    }
}
