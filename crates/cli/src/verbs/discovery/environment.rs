//! The environment variables of istiod's charts that mean something here.

use super::wrong;
use anyhow::Result;
use std::{path::PathBuf, thread};

#[derive(Debug)]
pub(super) struct Environment {
    pub(super) pod: String,
    pub(super) namespace: Option<String>,
    pub(super) revision: String,
    pub(super) cluster: Option<String>,
    /// Whether it is there or not.
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) alpn: bool,
    pub(super) metadata_exchange: bool,
    pub(super) new_streams_per_second: Option<u32>,
    pub(super) threads: usize,
    pub(super) verify: bool,
    /// Variables that are set in vain, with the reason.
    pub(super) idle: Vec<String>,
}

/// Known to istiod's users, and of no use here.
const IDLE: [(&str, &str); 5] = [
    ("PILOT_DEBOUNCE_AFTER", "changes go out at once"),
    ("PILOT_DEBOUNCE_MAX", "changes go out at once"),
    ("PILOT_ENABLE_EDS_DEBOUNCE", "changes go out at once"),
    ("PILOT_PUSH_THROTTLE", "every proxy has its own pace"),
    ("PILOT_XDS_CACHE_SIZE", "what is built is shared and dropped when nobody has it"),
];

impl Environment {
    /// An empty variable counts as not set.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let flag = |name: &str, default: bool| match text(name).as_deref() {
            None => Ok(default),
            // As Go's ParseBool.
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => Err(wrong(format!("{name} is {other:?}, which is neither true nor false"))),
        };
        let number = |name: &str| match text(name) {
            None => Ok(None),
            // Istio has `25.0` here, too.
            Some(value) => match value.parse::<f64>() {
                Ok(number) if (0.0..1e9).contains(&number) => Ok(Some(number)),
                _ => Err(wrong(format!("{name} is {value:?}, which is no number"))),
            },
        };
        let threads = match number("GOMAXPROCS")? {
            Some(count) if count >= 1.0 => count as usize,
            _ => thread::available_parallelism().map_or(1, Into::into),
        };
        let idle = IDLE.iter().filter(|(name, _)| text(name).is_some());
        Ok(Self {
            pod: text("POD_NAME").unwrap_or_else(|| "istiod".into()),
            namespace: text("POD_NAMESPACE"),
            revision: text("REVISION").unwrap_or_default(),
            cluster: text("CLUSTER_ID"),
            kubeconfig: text("KUBECONFIG").map(PathBuf::from),
            alpn: flag("PILOT_ENABLE_ALPN_FILTER", true)?,
            metadata_exchange: flag("PILOT_ENABLE_METADATA_EXCHANGE", true)?,
            new_streams_per_second: number("PILOT_MAX_REQUESTS_PER_SECOND")?
                .filter(|rate| *rate > 0.0)
                .map(|rate| rate.ceil() as u32),
            threads: threads.min(256),
            verify: flag("MIZZEN_VERIFY_VIEWS", false)?,
            idle: idle.map(|(name, reason)| format!("{name} ({reason})")).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Environment::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_are_istiods() {
        let environment = read(&[
            ("POD_NAMESPACE", "mesh"),
            ("REVISION", "blue"),
            ("PILOT_ENABLE_ALPN_FILTER", "false"),
            ("PILOT_MAX_REQUESTS_PER_SECOND", "25.0"),
            ("GOMAXPROCS", "2"),
            ("PILOT_DEBOUNCE_AFTER", "1ms"),
        ])
        .unwrap();
        assert_eq!((environment.namespace.as_deref(), environment.revision.as_str()), (Some("mesh"), "blue"));
        assert!(!environment.alpn && environment.metadata_exchange && !environment.verify);
        assert_eq!((environment.new_streams_per_second, environment.threads), (Some(25), 2));
        assert_eq!(environment.idle.len(), 1);
    }

    #[test]
    fn nothing_set_is_the_default_and_nonsense_is_wrong_usage() {
        let environment = read(&[("GOMAXPROCS", "")]).unwrap();
        assert!(environment.threads >= 1 && environment.alpn && environment.revision.is_empty());
        for (name, value) in [("PILOT_ENABLE_ALPN_FILTER", "maybe"), ("GOMAXPROCS", "many")] {
            assert!(read(&[(name, value)]).unwrap_err().to_string().contains(name));
        }
    }
}
