//! A chart in a registry: reference → manifest → the layer with the chart, every digest checked.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use http::{StatusCode, header};
use serde_json::Value;

use super::{
    cache::{digest_of, is_digest},
    credentials,
    error::SourceError,
    http::{Answer, Ask, Client},
    place::is_loopback,
};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const MANIFEST_LIMIT: usize = 4 << 20;
const CHART_LIMIT: usize = 64 << 20;
/// Pages of tags.
const PAGES: usize = 50;

/// `HOST/PATH[:TAG][@DIGEST]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub host: String,
    pub path: String,
    pub tag: Option<String>,
    pub digest: Option<String>,
}

impl Reference {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (text, digest) = text.split_once('@').map_or((text, None), |(text, digest)| (text, Some(digest)));
        let (host, rest) = text.split_once('/')?;
        let (path, tag) = rest.split_once(':').map_or((rest, None), |(path, tag)| (path, Some(tag)));
        let path = path.trim_end_matches('/');
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let part = |part: &str| !part.is_empty() && part.chars().all(plain) && !part.starts_with('.');
        let good = part(host.trim_start_matches('[').replace([':', '[', ']'], "").as_str())
            && path.split('/').all(part)
            && tag.is_none_or(|tag| part(tag) && tag.len() <= 128)
            && digest.is_none_or(is_digest);
        good.then(|| Self {
            host: host.to_owned(),
            path: path.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }

    /// `oci://HOST/PATH`
    pub(super) fn name(&self) -> String {
        format!("oci://{}/{}", self.host, self.path)
    }
}

pub(super) struct Registry {
    client: Client,
    docker_config: Option<std::path::PathBuf>,
    /// By host and path: what the registry gave us for our name.
    tokens: Mutex<HashMap<String, String>>,
}

impl Registry {
    pub(super) fn new(client: Client, docker_config: Option<std::path::PathBuf>) -> Self {
        Self { client, docker_config, tokens: Mutex::default() }
    }

    /// Tags, as the registry lists them.
    pub(super) fn tags(&self, host: &str, path: &str) -> Result<Vec<String>, SourceError> {
        let mut url = format!("{}/{path}/tags/list", root(host));
        let mut tags = Vec::new();
        for _ in 0..PAGES {
            let answer = self.get(host, path, &url, "application/json", MANIFEST_LIMIT)?;
            if answer.status == StatusCode::NOT_FOUND {
                return Err(SourceError::NoChart { name: path.to_owned(), place: format!("oci://{host}") });
            }
            let answer = good(&url, answer)?;
            let list = json(&url, &answer.body)?;
            let found = list.get("tags").and_then(Value::as_array).into_iter().flatten();
            tags.extend(found.filter_map(Value::as_str).map(str::to_owned));
            let next = answer.headers.get(header::LINK).and_then(|link| link.to_str().ok());
            let Some(next) = next.and_then(|link| link.strip_prefix('<')?.split('>').next()) else { break };
            url = super::http::join(&url, next);
        }
        Ok(tags)
    }

    /// The digest of a tag's manifest, and the manifest. `wanted` is a tag or a digest.
    pub(super) fn manifest(
        &self,
        host: &str,
        path: &str,
        wanted: &str,
    ) -> Result<(String, Bytes), SourceError> {
        let url = format!("{}/{path}/manifests/{wanted}", root(host));
        let answer = good(&url, self.get(host, path, &url, MANIFEST, MANIFEST_LIMIT)?)?;
        let found = digest_of(&answer.body);
        let said = answer.headers.get("docker-content-digest").and_then(|digest| digest.to_str().ok());
        let wanted = if is_digest(wanted) { Some(wanted) } else { said.filter(|said| is_digest(said)) };
        matches(&url, wanted, &found)?;
        Ok((found, answer.body))
    }

    /// The digest of the layer that is the chart.
    pub(super) fn layer(place: &str, manifest: &[u8]) -> Result<String, SourceError> {
        let garbage = |why: &str| SourceError::Garbage { url: place.to_owned(), why: why.to_owned() };
        let manifest = json(place, manifest)?;
        let layers = manifest.get("layers").and_then(Value::as_array);
        let Some(layers) = layers else { return Err(garbage("its manifest has no layers")) };
        let is_chart = |layer: &&Value| layer.get("mediaType").and_then(Value::as_str) == Some(CHART);
        let Some(chart) = layers.iter().find(is_chart) else {
            return Err(garbage("it is no Helm chart, as no layer is one"));
        };
        let digest = chart.get("digest").and_then(Value::as_str).filter(|digest| is_digest(digest));
        digest.map(str::to_owned).ok_or_else(|| garbage("its chart has no sha256 digest"))
    }

    pub(super) fn blob(&self, host: &str, path: &str, digest: &str) -> Result<Bytes, SourceError> {
        let url = format!("{}/{path}/blobs/{digest}", root(host));
        let answer = good(&url, self.get(host, path, &url, "*/*", CHART_LIMIT)?)?;
        matches(&url, Some(digest), &digest_of(&answer.body))?;
        Ok(answer.body)
    }

    /// Asks, and asks again as somebody where the registry wants to know who.
    fn get(
        &self,
        host: &str,
        path: &str,
        url: &str,
        accept: &str,
        limit: usize,
    ) -> Result<Answer, SourceError> {
        let key = format!("{host}/{path}");
        let known = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let ask = Ask { url, accept, authorization: known, limit };
        let answer = self.client.get(&ask)?;
        let challenge = answer.headers.get(header::WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let Some(challenge) = challenge.filter(|_| answer.status == StatusCode::UNAUTHORIZED) else {
            return Ok(answer);
        };
        let Some(authorization) = self.authorize(host, path, challenge)? else { return Ok(answer) };
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(key, authorization.clone());
        self.client.get(&Ask { authorization: Some(authorization), ..ask })
    }

    fn authorize(&self, host: &str, path: &str, challenge: &str) -> Result<Option<String>, SourceError> {
        let own = credentials::basic(host, self.docker_config.as_deref());
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Ok(own);
        }
        let parameters = parameters(rest);
        let Some(realm) = parameters.get("realm").filter(|_| scheme.eq_ignore_ascii_case("bearer")) else {
            return Ok(None);
        };
        let mut url = format!("{realm}{}", if realm.contains('?') { '&' } else { '?' });
        let scope = parameters.get("scope").cloned().unwrap_or_else(|| format!("repository:{path}:pull"));
        if let Some(service) = parameters.get("service") {
            url.push_str(&format!("service={}&", encoded(service)));
        }
        url.push_str(&format!("scope={}", encoded(&scope)));
        let ask = Ask { url: &url, accept: "application/json", authorization: own, limit: 1 << 20 };
        let answer = good(&url, self.client.get(&ask)?)?;
        let token = json(&url, &answer.body)?;
        let token = ["token", "access_token"].iter().find_map(|key| token.get(key)?.as_str());
        match token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic())) {
            Some(token) => Ok(Some(format!("Bearer {token}"))),
            None => Err(SourceError::Garbage { url, why: "it gives no token".to_owned() }),
        }
    }
}

fn root(host: &str) -> String {
    let scheme = if is_loopback(host) { "http" } else { "https" };
    format!("{scheme}://{host}/v2")
}

pub(super) fn good(url: &str, answer: Answer) -> Result<Answer, SourceError> {
    if answer.status == StatusCode::OK {
        Ok(answer)
    } else {
        Err(SourceError::Status { url: url.to_owned(), status: answer.status.as_u16() })
    }
}

pub(super) fn matches(url: &str, wanted: Option<&str>, found: &str) -> Result<(), SourceError> {
    match wanted.filter(|wanted| *wanted != found) {
        None => Ok(()),
        Some(wanted) => Err(SourceError::Digest {
            url: url.to_owned(),
            wanted: wanted.to_owned(),
            found: found.to_owned(),
        }),
    }
}

fn json(url: &str, bytes: &[u8]) -> Result<Value, SourceError> {
    serde_json::from_slice(bytes).map_err(|error| SourceError::Garbage {
        url: url.to_owned(),
        why: format!("it is no JSON ({error})"),
    })
}

/// `realm="https://…",service="…"`
fn parameters(text: &str) -> HashMap<String, String> {
    let mut all = HashMap::new();
    let mut rest = text.trim();
    while let Some((key, after)) = rest.split_once('=') {
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        all.insert(key.trim().to_ascii_lowercase(), value.to_owned());
        rest = next.trim_start_matches([',', ' ']);
    }
    all
}

/// For a query.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_host_a_path_and_maybe_more() {
        let digest = format!("sha256:{}", "a".repeat(64));
        for (text, host, path, tag, pinned) in [
            ("r.example/charts", "r.example", "charts", None, None),
            ("r.example:5000/a/b:1.0", "r.example:5000", "a/b", Some("1.0"), None),
            (&format!("[::1]:5000/a@{digest}"), "[::1]:5000", "a", None, Some(digest.as_str())),
            (&format!("r.example/a:1@{digest}"), "r.example", "a", Some("1"), Some(digest.as_str())),
        ] {
            let found = Reference::parse(text).unwrap();
            assert_eq!((found.host.as_str(), found.path.as_str()), (host, path));
            assert_eq!((found.tag.as_deref(), found.digest.as_deref()), (tag, pinned));
        }
    }

    #[test]
    fn a_challenge_is_read() {
        let read = parameters(
            r#"realm="https://auth.example/token?a=b",service="r.example",scope="repository:x:pull""#,
        );
        assert_eq!(read["realm"], "https://auth.example/token?a=b");
        assert_eq!(read["scope"], "repository:x:pull");
        assert_eq!(encoded("a b:c"), "a%20b:c");
    }
}
