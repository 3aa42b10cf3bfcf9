//! Who we are to a registry: what `docker login` and `helm registry login` have written down.

use std::{fs, path::Path, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The value of `Authorization` for a host, if there is one. `folder` is where to look instead of the user's own places.
pub(super) fn basic(host: &str, folder: Option<&Path>) -> Option<String> {
    let places = folder.map_or_else(usual, |folder| vec![folder.join("config.json")]);
    places.iter().find_map(|place| {
        let config: Value = serde_json::from_slice(&fs::read(place).ok()?).ok()?;
        entry(&config, host)
    })
}

fn usual() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME");
    let docker = set("DOCKER_CONFIG").or_else(|| Some(home.clone()?.join(".docker")));
    let helm = set("HELM_REGISTRY_CONFIG").or_else(|| {
        Some(
            set("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")))?.join("helm/registry/config.json"),
        )
    });
    [docker.map(|folder| folder.join("config.json")), helm].into_iter().flatten().collect()
}

fn entry(config: &Value, host: &str) -> Option<String> {
    let auths = config.get("auths")?.as_object()?;
    // Docker has written hosts as URLs, too.
    let bare = |key: &str| {
        let key = key.trim_start_matches("https://").trim_start_matches("http://");
        key.split('/').next() == Some(host)
    };
    let entry =
        auths.get(host).or_else(|| auths.iter().find(|(key, _)| bare(key)).map(|(_, entry)| entry))?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let pair = match (text("auth"), text("username"), text("password")) {
        (Some(auth), ..) => auth.to_owned(),
        (None, Some(name), Some(password)) => STANDARD.encode(format!("{name}:{password}")),
        _ => return None,
    };
    // Whatever cannot stand in a header is no password of ours.
    pair.bytes().all(|byte| byte.is_ascii_graphic()).then(|| format!("Basic {pair}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_host_is_found_however_docker_wrote_it() {
        let config = json!({"auths": {
            "plain.example:5000": {"auth": "bWU6cHc="},
            "https://index.example/v1/": {"username": "me", "password": "pw"},
            "empty.example": {},
        }});
        assert_eq!(entry(&config, "plain.example:5000").as_deref(), Some("Basic bWU6cHc="));
        assert_eq!(entry(&config, "index.example").as_deref(), Some("Basic bWU6cHc="));
        assert_eq!(entry(&config, "empty.example"), None);
        assert_eq!(entry(&config, "other.example"), None);
    }
}
