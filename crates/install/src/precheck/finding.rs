//! One thing that was found.

use std::{cmp::Reverse, fmt};

use serde::{Serialize, Serializer, ser::SerializeMap};

/// Where codes are explained.
pub const DOCUMENTATION: &str = "https://istio.io/v1.31/docs/reference/config/analysis";
/// What is about no object.
pub(super) const CLUSTER: &str = "Cluster";

/// How bad it is, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Info => "Info",
            Self::Warning => "Warning",
            Self::Error => "Error",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    /// `IST0141`
    pub code: &'static str,
    /// The object: `Service shop/web`
    pub origin: String,
    pub message: String,
}

impl Finding {
    /// What is about an object stands before what is about the whole cluster; then the worst first.
    pub(super) fn order(&self) -> (bool, Reverse<Level>, &'static str, String, String) {
        let (kind, name) = self.origin.split_once(' ').unwrap_or((&self.origin, ""));
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let origin = format!("{kind}/{name}/{namespace}");
        (self.origin == CLUSTER, Reverse(self.level), self.code, origin, self.message.clone())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, code, origin, message } = self;
        write!(out, "{level} [{code}] ({origin}) {message}")
    }
}

/// istioctl's fields in istioctl's order.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("code", self.code)?;
        map.serialize_entry("documentationUrl", &format!("{DOCUMENTATION}/{}/", self.code.to_lowercase()))?;
        map.serialize_entry("level", &self.level.to_string())?;
        map.serialize_entry("message", &self.message)?;
        map.serialize_entry("origin", &self.origin)?;
        map.end()
    }
}
