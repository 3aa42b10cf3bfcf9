//! Why a request came to nothing, by what to do about it.

use http::StatusCode;
use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No such resource: not installed, or not in this version.
    #[error("the server does not serve it")]
    NotServed,
    /// What was asked for is too long ago: list again.
    #[error("the server no longer knows that version")]
    Expired,
    #[error("the page has more than {0} MiB")]
    TooLarge(usize),
    #[error("HTTP {status}: {message}")]
    Refused { status: StatusCode, message: String, retry_after: Option<u64> },
    #[error("the answer cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("no answer within {0} s")]
    Silent(u64),
    #[error("{0}")]
    Connection(String),
    /// The one who reads the changes is gone.
    #[error("nobody reads")]
    Unheard,
}

/// Of Kubernetes' `Status` what we need.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Status {
    pub(crate) message: String,
    pub(crate) code: u16,
}

impl Failure {
    pub(crate) fn of_answer(status: StatusCode, retry_after: Option<u64>, body: &[u8]) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::NotServed,
            StatusCode::GONE => Self::Expired,
            _ => {
                let told: Option<Status> = serde_json::from_slice(body).ok();
                let message = told.map(|told| told.message).filter(|message| !message.is_empty());
                let message =
                    message.unwrap_or_else(|| String::from_utf8_lossy(body).chars().take(200).collect());
                Self::Refused { status, message, retry_after }
            }
        }
    }

    pub(crate) fn of_client(error: &kube::Error) -> Self {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(next) = cause {
            let more = next.to_string();
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = next.source();
        }
        Self::Connection(text)
    }

    pub(crate) fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
