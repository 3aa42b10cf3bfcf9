//! What behaves otherwise since a release.

use super::{Facts, Finding, Level};

/// The release that somebody comes from: the N of `1.N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since(u32);

/// Why a text names no release; istioctl's sentences.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAVersion {
    #[error("invalid version {0}, expected format like '1.0'")]
    Format(String),
    #[error("expected major version 1, got {0}")]
    Major(String),
    #[error("minor version is not a number: {0}")]
    Minor(String),
}

impl Since {
    pub fn read(text: &str) -> Result<Self, NotAVersion> {
        let (major, minor) = text.split_once('.').ok_or_else(|| NotAVersion::Format(text.to_owned()))?;
        if major != "1" {
            return Err(NotAVersion::Major(text.to_owned()));
        }
        minor.parse().map(Self).map_err(|_| NotAVersion::Minor(minor.to_owned()))
    }

    /// Through 1.21 traces went to a Service without being told to.
    pub(super) fn had_tracing(self) -> bool {
        self.0 <= 21
    }
}

pub(super) fn tracing(facts: &Facts) -> Option<Finding> {
    facts.zipkin.as_ref()?;
    let message = "The configuration \"meshConfig.defaultConfig.tracer\" changed in release 1.21: tracing is no longer \
                   by default enabled to send to 'zipkin.istio-system.svc'; follow \
                   https://istio.io/latest/docs/tasks/observability/distributed-tracing/telemetry-api/. Or, install with \
                   `--set compatibilityVersion=1.21` to retain the old default.";
    Some(Finding {
        level: Level::Warning,
        code: "IST0169",
        origin: "Service istio-system/zipkin".to_owned(),
        message: message.to_owned(),
    })
}
