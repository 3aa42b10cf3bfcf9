//! Which objects are compared, and under which names: `KIND:NAMESPACE:NAME`, where a part may be empty or have `*` in it.

use thiserror::Error;

/// Kind, namespace and name.
type Name = [String; 3];

#[derive(Clone, Debug, Default)]
pub struct Choice {
    select: Vec<Pattern>,
    ignore: Vec<Pattern>,
    renames: Vec<Rename>,
}

#[derive(Clone, Debug)]
pub struct Pattern([String; 3]);

#[derive(Clone, Debug)]
pub struct Rename {
    from: Pattern,
    to: Pattern,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not KIND:NAMESPACE:NAME, for instance `Service:*:istiod`")]
pub struct WrongPattern(String);

impl Choice {
    /// Only what one of these patterns, separated by commas, has; `::` has everything.
    pub fn selecting(mut self, patterns: &str) -> Result<Self, WrongPattern> {
        self.select.extend(Pattern::all(patterns)?);
        Ok(self)
    }

    /// Not what one of these patterns has.
    pub fn ignoring(mut self, patterns: &str) -> Result<Self, WrongPattern> {
        self.ignore.extend(Pattern::all(patterns)?);
        Ok(self)
    }

    /// `OLD->NEW`, separated by commas; a part that is empty or `*` in NEW stays as it was.
    pub fn renaming(mut self, renames: &str) -> Result<Self, WrongPattern> {
        for rename in renames.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let (from, to) = rename.split_once("->").ok_or_else(|| WrongPattern(rename.to_owned()))?;
            self.renames.push(Rename { from: Pattern::read(from)?, to: Pattern::read(to)? });
        }
        Ok(self)
    }

    pub(super) fn takes(&self, name: &Name) -> bool {
        let has = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.has(name));
        (self.select.is_empty() || has(&self.select)) && !has(&self.ignore)
    }

    pub(super) fn rename(&self, name: &mut Name) {
        if let Some(rename) = self.renames.iter().find(|rename| rename.from.has(name)) {
            for (part, new) in name.iter_mut().zip(&rename.to.0) {
                if !new.is_empty() && new != "*" {
                    part.clone_from(new);
                }
            }
        }
    }
}

impl Pattern {
    fn all(texts: &str) -> Result<Vec<Self>, WrongPattern> {
        texts.split(',').map(str::trim).filter(|text| !text.is_empty()).map(Self::read).collect()
    }

    fn read(text: &str) -> Result<Self, WrongPattern> {
        let parts: Vec<String> = text.trim().split(':').map(|part| part.trim().to_owned()).collect();
        let parts = <[String; 3]>::try_from(parts).map_err(|_| WrongPattern(text.trim().to_owned()))?;
        Ok(Self(parts))
    }

    fn has(&self, name: &Name) -> bool {
        self.0.iter().zip(name).all(|(pattern, part)| pattern.is_empty() || glob(pattern, part))
    }
}

/// `*` stands for anything.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, has) in [
            ("*", "", true),
            ("istio*", "istiod", true),
            ("*gateway*", "istio-ingressgateway-sds", true),
            ("a*b*c", "axxbxxc", true),
            ("a*b*c", "axxc", false),
            ("ab*b", "ab", false),
            ("istiod", "istiod-canary", false),
        ] {
            assert_eq!(glob(pattern, text), has, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_has_three_parts() {
        assert!(Choice::default().selecting("Service:a").is_err());
        assert!(Choice::default().renaming("Service:a:b").is_err());
        assert!(Choice::default().selecting("::").unwrap().takes(&["a".into(), String::new(), "b".into()]));
    }
}
