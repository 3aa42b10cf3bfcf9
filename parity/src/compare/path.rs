//! Where a leaf is: `clusters["outbound|80||cart"].transportSocketMatches[0].name`.
//!
//! In writing, `[*]` stands for any place of a list, and for any resource of a kind; nothing stands for any key.

use std::fmt;

use anyhow::{Context as _, Result, bail};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Key(String),
    Index(usize),
    /// Of a pattern only.
    Any,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Step>);

impl Path {
    pub fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Whether this, as a pattern, means that path. The second step is the resource's name, which is a place in a list, too.
    pub fn covers(&self, path: &Self) -> bool {
        self.0.len() == path.0.len()
            && self.0.iter().zip(&path.0).enumerate().all(|(number, (pattern, step))| match (pattern, step) {
                (Step::Any, Step::Index(_)) => true,
                (Step::Any, Step::Key(_)) => number == 1,
                (pattern, step) => pattern == step,
            })
    }

    pub fn parse(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = step(rest).with_context(|| format!("the path {text:?} at {rest:?}"))?;
            steps.push(step);
            rest = after;
        }
        Ok(Self(steps))
    }
}

fn step(text: &str) -> Result<(Step, &str)> {
    if let Some(rest) = text.strip_prefix("[\"") {
        let (key, rest) = rest.split_once("\"]").context("a bracket is not closed")?;
        return Ok((Step::Key(key.to_owned()), rest));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (place, rest) = rest.split_once(']').context("a bracket is not closed")?;
        let step = if place == "*" { Step::Any } else { Step::Index(place.parse()?) };
        return Ok((step, rest));
    }
    let word = text.strip_prefix('.').unwrap_or(text);
    let end = word.find(['.', '[']).unwrap_or(word.len());
    if end == 0 {
        bail!("a key is expected");
    }
    Ok((Step::Key(word[..end].to_owned()), &word[end..]))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Any => f.write_str("[*]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if number != 1 && plain(key) => {
                    let dot = if number == 0 { "" } else { "." };
                    write!(f, "{dot}{key}")?;
                }
                Step::Key(key) => write!(f, "[\"{key}\"]")?,
            }
        }
        Ok(())
    }
}

fn plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "@_-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for text in [
            r#"clusters["outbound|80||a.b"].connectTimeout"#,
            r#"listeners["0.0.0.0_80"].filterChains[0].filters[12].typedConfig.@type"#,
            r#"endpoints["x"].metadata.filterMetadata["envoy.transport_socket_match"].tlsMode"#,
            "clusters[*].transportSocketMatches[*].name",
        ] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["clusters[", "clusters[x]", "clusters..a", r#"clusters["x"#] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wildcard_stands_for_a_place_in_a_list_and_for_nothing_else() {
        let covers =
            |pattern: &str, path: &str| Path::parse(pattern).unwrap().covers(&Path::parse(path).unwrap());
        let path = r#"clusters["a"].matches[3].socket.name"#;
        assert!(covers(path, path));
        assert!(covers("clusters[*].matches[*].socket.name", path));
        assert!(covers(r#"clusters["a"].matches[3].socket.name"#, path));
        assert!(!covers(r#"clusters["b"].matches[*].socket.name"#, path));
        assert!(!covers("clusters[*].matches[*][*].name", path), "not for a key");
        assert!(!covers("clusters[*].matches[*].socket", path), "not for what is below");
        assert!(!covers("listeners[*].matches[*].socket.name", path));
    }
}
