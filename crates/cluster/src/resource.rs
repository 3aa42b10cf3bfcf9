//! Which objects to follow, and how to ask for them.

use std::fmt::Write;

#[derive(Clone, Debug)]
pub struct Resource {
    /// Empty for the core group.
    pub group: &'static str,
    /// The first one that the server serves is used.
    pub versions: &'static [&'static str],
    pub plural: &'static str,
    /// Only there.
    pub namespace: Option<String>,
    /// A field selector, such as `metadata.name=istio`.
    pub fields: Option<String>,
    /// A label selector, such as `app=istiod`.
    pub labels: Option<String>,
}

impl Resource {
    pub fn new(group: &'static str, versions: &'static [&'static str], plural: &'static str) -> Self {
        Self { group, versions, plural, namespace: None, fields: None, labels: None }
    }

    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into());
        self
    }

    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into());
        self
    }

    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// `services`, `virtualservices.networking.istio.io`
    pub fn name(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }

    fn path(&self, version: &str) -> String {
        let mut path = match self.group {
            "" => format!("/api/{version}/"),
            group => format!("/apis/{group}/{version}/"),
        };
        if let Some(namespace) = &self.namespace {
            path.push_str("namespaces/");
            escape(&mut path, namespace);
            path.push('/');
        }
        path.push_str(self.plural);
        path
    }

    /// All of it, of whatever age.
    pub(crate) fn list_any(&self, version: &str) -> String {
        self.select(format!("{}?resourceVersion=0", self.path(version)))
    }

    pub(crate) fn list(&self, version: &str, page: usize, token: Option<&str>) -> String {
        let mut path = self.path(version);
        // Writing to a String cannot fail.
        let _ = write!(path, "?limit={page}");
        if let Some(token) = token {
            path.push_str("&continue=");
            escape(&mut path, token);
        }
        self.select(path)
    }

    pub(crate) fn watch(&self, version: &str, from: &str, seconds: u64) -> String {
        let mut path = self.path(version);
        let _ =
            write!(path, "?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion=");
        escape(&mut path, from);
        self.select(path)
    }

    fn select(&self, mut path: String) -> String {
        for (key, selector) in [("&fieldSelector=", &self.fields), ("&labelSelector=", &self.labels)] {
            if let Some(selector) = selector {
                path.push_str(key);
                escape(&mut path, selector);
            }
        }
        path
    }
}

/// Percent-encoding of everything that is not plain.
fn escape(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api_server() {
        let pods = Resource::new("", &["v1"], "pods").fields("status.phase!=Failed");
        assert_eq!(
            pods.list("v1", 500, None),
            "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DFailed"
        );
        let gateways = Resource::new("networking.istio.io", &["v1", "v1beta1"], "gateways").namespace("a");
        assert_eq!(
            gateways.list("v1beta1", 2, Some("e=/")),
            "/apis/networking.istio.io/v1beta1/namespaces/a/gateways?limit=2&continue=e%3D%2F"
        );
        assert_eq!(
            gateways.watch("v1", "7", 30),
            "/apis/networking.istio.io/v1/namespaces/a/gateways?watch=true&allowWatchBookmarks=true\
             &timeoutSeconds=30&resourceVersion=7"
        );
        let owned = Resource::new("", &["v1"], "services").labels("a/b");
        assert_eq!(owned.list_any("v1"), "/api/v1/services?resourceVersion=0&labelSelector=a%2Fb");
        assert_eq!(gateways.name(), "gateways.networking.istio.io");
    }
}
