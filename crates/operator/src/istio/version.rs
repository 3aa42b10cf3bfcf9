//! Whether the version that is installed may become the one that is to be. The flavour of an image does not count.

use mizzen_install::Version;

/// A sentence where it may not; `current` and `target` are tags such as `1.31.0-distroless`.
pub fn update(current: &str, target: &str) -> Result<(), String> {
    if current == target {
        return Ok(());
    }
    let read = |tag: &str| {
        // A hash or a word would pass for anything.
        Version::of_tag(tag).ok_or_else(|| format!("{tag:?} is no version, such as 1.31.0"))
    };
    let (from, to) = (read(current)?, read(target)?);
    let number = |version: &Version| (version.major, version.minor, version.patch);
    let refused = |than: &str, why: &str| {
        Err(format!("target Istio version ({target}) is {than} current version ({current}) - {why}"))
    };
    if from.major != to.major {
        return refused("of another major version than", "major version upgrade is not supported");
    }
    if number(&to) < number(&from) {
        return refused("lower than", "downgrade not supported");
    }
    if to.minor > from.minor + 1 {
        return refused("higher than", "the difference between versions exceed one minor version");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_go_forward_by_at_most_one_minor() {
        let cases = [
            ("1.30.2-distroless", "1.30.2-distroless", None),
            ("1.30.2-distroless", "1.30.2", None),
            ("1.30.2", "1.30.9", None),
            ("1.30.2", "1.31.0", None),
            ("1.9.0", "1.10.0", None),
            ("latest", "latest", None),
            ("1.31.0", "1.30.9", Some("downgrade not supported")),
            ("1.31.2", "1.31.1", Some("downgrade not supported")),
            ("1.31.0", "2.0.0", Some("major version upgrade is not supported")),
            ("2.0.0", "1.31.0", Some("major version upgrade is not supported")),
            ("1.29.0", "1.31.0", Some("the difference between versions exceed one minor version")),
            ("latest", "1.31.0", Some("\"latest\" is no version")),
            ("1.31.0", "", Some("\"\" is no version")),
        ];
        for (current, target, expected) in cases {
            let found = update(current, target);
            match expected {
                None => assert_eq!(found, Ok(()), "{current} → {target}"),
                Some(words) => {
                    assert!(
                        found.as_ref().is_err_and(|text| text.contains(words)),
                        "{current} → {target}: {found:?}"
                    );
                }
            }
        }
        let words =
            "target Istio version (1.30.0) is lower than current version (1.31.0) - downgrade not supported";
        assert_eq!(update("1.31.0", "1.30.0"), Err(words.to_owned()));
    }
}
