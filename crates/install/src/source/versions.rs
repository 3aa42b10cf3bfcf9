//! Which of the versions that there are is meant.

use mizzen_template::helm::{Range, Version};

use super::error::SourceError;

/// How many versions a message names.
const NAMED: usize = 5;

/// The version that was asked for: by its name, else the newest that the range allows; the newest release where nothing
/// was asked for.
pub(super) fn choose<'v>(
    known: &'v [String],
    wanted: Option<&str>,
    name: &str,
    place: &str,
) -> Result<&'v str, SourceError> {
    let same = |one: &str, other: &str| one.trim_start_matches('v') == other.trim_start_matches('v');
    if let Some(wanted) = wanted
        && let Some(exact) = known.iter().find(|version| same(version, wanted))
    {
        return Ok(exact);
    }
    let range = wanted.unwrap_or("*");
    let Some(allowed) = Range::parse(range) else {
        return Err(SourceError::BadVersion { wanted: range.to_owned() });
    };
    let parsed = known.iter().filter_map(|text| Some((Version::parse(text)?, text)));
    let fitting = parsed.filter(|(version, _)| allowed.allows(version));
    let newest = fitting.max_by(|(one, _), (other, _)| one.cmp(other));
    newest.map(|(_, text)| text.as_str()).ok_or_else(|| SourceError::NoVersion {
        name: name.to_owned(),
        wanted: range.to_owned(),
        place: place.to_owned(),
        near: near(known, range),
    })
}

/// The nearest by name first, then the newest.
fn near(known: &[String], wanted: &str) -> Vec<String> {
    let mut newest: Vec<(Version, &String)> =
        known.iter().filter_map(|text| Some((Version::parse(text)?, text))).collect();
    newest.sort_by(|(one, _), (other, _)| other.cmp(one));
    let minor =
        |text: &str| text.trim_start_matches('v').splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let minor_wanted = minor(wanted);
    let mut near: Vec<String> = Vec::new();
    let same_minor = newest.iter().filter(|(_, text)| minor(text) == minor_wanted);
    for text in same_minor.chain(&newest).map(|(_, text)| (*text).clone()) {
        if near.len() < NAMED && !near.contains(&text) {
            near.push(text);
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        let texts = ["1.26.0", "1.26.2", "1.27.0-rc.1", "1.25.4", "1.26.10", "latest", "v1.24.1"];
        texts.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_version_is_chosen_by_name_or_range_and_else_the_newest_release() {
        for (wanted, chosen) in [
            (None, "1.26.10"),
            (Some("1.26.0"), "1.26.0"),
            (Some("v1.26.0"), "1.26.0"),
            (Some("1.24.1"), "v1.24.1"),
            (Some("1.26"), "1.26.10"),
            (Some("<1.26"), "1.25.4"),
            (Some(">=1.27.0-0"), "1.27.0-rc.1"),
            (Some("latest"), "latest"),
        ] {
            assert_eq!(choose(&known(), wanted, "base", "here").unwrap(), chosen, "{wanted:?}");
        }
    }

    #[test]
    fn an_unknown_version_is_told_with_the_nearest_and_newest() {
        let error = choose(&known(), Some("1.26.7"), "base", "https://x.example").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no version 1.26.7 of chart base in https://x.example; there are 1.26.10, 1.26.2, 1.26.0, \
             1.27.0-rc.1, 1.25.4"
        );
        let error = choose(&known(), Some("newest"), "base", "here").unwrap_err().to_string();
        assert!(error.contains("\"newest\" is neither a version nor a range"), "{error}");
        let error = choose(&[], None, "base", "here").unwrap_err().to_string();
        assert!(error.ends_with("it has none"), "{error}");
    }
}
