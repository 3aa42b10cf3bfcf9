//! Which events are logged: a level, and other levels for single targets. Read from our spelling
//! (`info,mizzen_xds=debug`) or Istio's (`default:info,ads:debug`).

use std::fmt;
use tracing_subscriber::filter::{LevelFilter, Targets};

/// The library that speaks to API servers.
const CLIENT: &str = "kube_client";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    default: LevelFilter,
    targets: Vec<(String, LevelFilter)>,
}

/// What is wrong, and where in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadFilter {
    word: String,
    /// In characters, from 1.
    column: usize,
    expected: &'static str,
}

impl fmt::Display for BadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, column, expected } = self;
        write!(f, "`{word}` at column {column} is not {expected}")
    }
}

impl std::error::Error for BadFilter {}

/// One spelling: what stands between target and level, and the levels.
struct Spelling {
    separator: char,
    level: fn(&str) -> Option<LevelFilter>,
    levels: &'static str,
    /// Targets that mean the default.
    default: &'static [&'static str],
}

const OURS: Spelling = Spelling {
    separator: '=',
    level: |word| match word.to_ascii_lowercase().as_str() {
        "off" => Some(LevelFilter::OFF),
        "error" => Some(LevelFilter::ERROR),
        "warn" => Some(LevelFilter::WARN),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        "trace" => Some(LevelFilter::TRACE),
        _ => None,
    },
    levels: "a level (error, warn, info, debug, trace, off)",
    default: &[],
};

/// A scope is taken as the name of a target: code that stands for one of Istio's scopes logs under its name.
const ISTIO: Spelling = Spelling {
    separator: ':',
    level: |word| match word {
        "none" => Some(LevelFilter::OFF),
        // What is fatal to us is logged as an error.
        "fatal" | "error" => Some(LevelFilter::ERROR),
        "warn" => Some(LevelFilter::WARN),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        _ => None,
    },
    levels: "a level (none, fatal, error, warn, info, debug)",
    default: &["default", "all"],
};

/// No targets; a number above 0 is how much more than `info` is told.
const ZAP: Spelling = Spelling {
    separator: '\0',
    level: |word| match word {
        "error" | "panic" => Some(LevelFilter::ERROR),
        "info" => Some(LevelFilter::INFO),
        "debug" => Some(LevelFilter::DEBUG),
        _ => word.parse().ok().filter(|more: &u32| *more > 0).map(|_| LevelFilter::DEBUG),
    },
    levels: "a level (error, panic, info, debug, or a number above 0)",
    default: &[],
};

impl Default for Filter {
    fn default() -> Self {
        Self { default: LevelFilter::INFO, targets: Vec::new() }
    }
}

impl Filter {
    pub(crate) fn read(text: &str) -> Result<Self, BadFilter> {
        OURS.read(text)
    }

    pub(crate) fn read_istio(text: &str) -> Result<Self, BadFilter> {
        ISTIO.read(text)
    }

    pub(crate) fn read_zap(text: &str) -> Result<Self, BadFilter> {
        ZAP.read(text)
    }

    pub(crate) fn targets(&self) -> Targets {
        // It logs as an error what its caller tries again, or tells in better words.
        let quiet = (self.default < LevelFilter::DEBUG).then_some((CLIENT.to_owned(), LevelFilter::OFF));
        Targets::new()
            .with_default(self.default)
            .with_targets(quiet)
            .with_targets(self.targets.iter().cloned())
    }
}

impl Spelling {
    fn read(&self, text: &str) -> Result<Filter, BadFilter> {
        let mut filter = Filter::default();
        let mut column = 1;
        for part in text.split(',') {
            let (target, word) = match part.split_once(self.separator) {
                Some((target, word)) => (Some(target), word),
                None => (None, part),
            };
            let bad = |word: &str, column, expected| BadFilter { word: word.trim().into(), column, expected };
            let level_column = column + target.map_or(0, |target| target.chars().count() + 1);
            let level = (self.level)(word.trim()).ok_or_else(|| bad(word, level_column, self.levels))?;
            match target.map(str::trim) {
                None => filter.default = level,
                Some("") => return Err(bad("", column, "the name of a target")),
                Some(target) if self.default.contains(&target) => filter.default = level,
                Some(target) => filter.targets.push((target.into(), level)),
            }
            column += part.chars().count() + 1;
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::filter::LevelFilter as L;

    fn filter(default: L, targets: &[(&str, L)]) -> Filter {
        Filter { default, targets: targets.iter().map(|(name, level)| ((*name).into(), *level)).collect() }
    }

    #[test]
    fn both_spellings_give_the_same_filter() {
        let both = filter(L::WARN, &[("ads", L::DEBUG)]);
        assert_eq!(Filter::read("warn,ads=debug"), Ok(both.clone()));
        assert_eq!(Filter::read(" ads = DEBUG , Warn "), Ok(both.clone()));
        assert_eq!(Filter::read_istio("default:warn,ads:debug"), Ok(both.clone()));
        assert_eq!(Filter::read_istio("ads:debug,all:warn"), Ok(both));
        assert_eq!(Filter::read_istio("none"), Ok(filter(L::OFF, &[])));
        assert_eq!(Filter::read("ads=trace"), Ok(filter(L::INFO, &[("ads", L::TRACE)])));
    }

    #[test]
    fn a_target_has_its_own_level_and_the_others_the_default() {
        let targets = Filter::read("warn,mizzen_xds=debug").unwrap().targets();
        assert!(targets.would_enable("mizzen_xds::stream", &tracing::Level::DEBUG));
        assert!(!targets.would_enable("mizzen_xds::stream", &tracing::Level::TRACE));
        assert!(!targets.would_enable("mizzen_mesh", &tracing::Level::INFO));
        assert!(targets.would_enable("mizzen_mesh", &tracing::Level::WARN));
    }

    #[test]
    fn the_client_of_the_api_server_is_heard_by_who_asks_for_it() {
        for (text, heard) in
            [("info", false), ("debug", true), ("info,kube_client=error", true), ("trace", true)]
        {
            let targets = Filter::read(text).unwrap().targets();
            assert_eq!(targets.would_enable("kube_client::client", &tracing::Level::ERROR), heard, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let place = |text| Filter::read(text).map_err(|bad| (bad.word, bad.column)).unwrap_err();
        assert_eq!(place("loud"), ("loud".into(), 1));
        assert_eq!(place("info,mizzen_xds=loud"), ("loud".into(), 17));
        assert_eq!(place("info,,warn"), ("".into(), 6));
        assert_eq!(place("info,=warn"), ("".into(), 6));
        assert_eq!(place("é=info,x"), ("x".into(), 8));
        assert_eq!(Filter::read_istio("a:b:info").map_err(|bad| bad.word), Err("b:info".into()));
        assert!(Filter::read_istio("trace").is_err(), "Istio has no such level");
    }
}
