//! Where charts and profiles come from, as far as rendering wants to know.

use mizzen_template::helm::Chart;
use mizzen_text::Source;

/// A set of charts and the profiles that belong to them.
pub trait Charts: Sync {
    /// The file of a profile, by its name.
    fn profile(&self, name: &str) -> Result<Source, ChartsError>;

    /// The names of all profiles, sorted.
    fn profiles(&self) -> Vec<String>;

    /// A chart by its folder, for instance `istio-control/istio-discovery`.
    fn chart(&self, folder: &str) -> Result<Chart, ChartsError>;

    /// What it is, for a sentence: `the charts in DIR`.
    fn describe(&self) -> String;
}

#[derive(Debug, thiserror::Error)]
pub enum ChartsError {
    #[error("there is no profile `{name}` in {source_name}{}", meant(.nearest.as_deref(), known))]
    NoProfile { name: String, source_name: String, nearest: Option<String>, known: Vec<String> },
    #[error("there is no chart `{folder}` in {source_name}")]
    NoChart { folder: String, source_name: String },
    #[error("{0}")]
    Unreadable(String),
}

impl ChartsError {
    /// Names the profiles that there are.
    pub fn no_profile(name: &str, charts: &dyn Charts) -> Self {
        let known = charts.profiles();
        let nearest = mizzen_text::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Self::NoProfile { name: name.to_owned(), source_name: charts.describe(), nearest, known }
    }
}

fn meant(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => "; it has none".to_owned(),
        None => format!("; there are {}", known.join(", ")),
    }
}
