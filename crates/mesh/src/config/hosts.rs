//! Values by host name, found by a name that they cover.
//!
//! In: host names with values, whole (`a.com`) or with a star in front (`*.com`, `*`). Out: the value of the most
//! specific name over another, or of every name that overlaps with it. A question costs one hash lookup and one more
//! for each different length of a wildcard, however many names there are.

use crate::Host;
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

#[derive(Clone)]
pub struct HostMap<T> {
    whole: HashMap<Arc<str>, T>,
    /// By what stands after the star.
    suffixes: HashMap<Arc<str>, T>,
    /// Of the suffixes, the longest first, each once.
    lengths: Vec<usize>,
    /// Names without their star, last byte first and sorted, so that all that end alike stand together. Only a question about a wildcard
    /// needs it.
    backwards: OnceLock<Vec<Backwards>>,
}

#[derive(Clone)]
struct Backwards {
    bytes: Vec<u8>,
    name: Arc<str>,
    wildcard: bool,
}

impl<T> Default for HostMap<T> {
    fn default() -> Self {
        Self {
            whole: HashMap::new(),
            suffixes: HashMap::new(),
            lengths: Vec::new(),
            backwards: OnceLock::new(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for HostMap<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HostMap").field("whole", &self.whole).field("suffixes", &self.suffixes).finish()
    }
}

impl<T> HostMap<T> {
    /// The value of this very name; made if there is none.
    pub(crate) fn entry(&mut self, name: &str, make: impl FnOnce() -> T) -> &mut T {
        self.backwards = OnceLock::new();
        match name.strip_prefix('*') {
            None => self.whole.entry(name.into()).or_insert_with(make),
            Some(suffix) => {
                if let Err(at) = self.lengths.binary_search_by(|length| suffix.len().cmp(length)) {
                    self.lengths.insert(at, suffix.len());
                }
                self.suffixes.entry(suffix.into()).or_insert_with(make)
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.suffixes.is_empty()
    }

    /// The wildcards over `rest`, the most specific first.
    fn over<'a, 'b>(&'a self, rest: &'b str) -> impl Iterator<Item = &'a T> + use<'a, 'b, T> {
        self.lengths
            .iter()
            .filter_map(move |length| self.suffixes.get(rest.get(rest.len().checked_sub(*length)?..)?))
    }

    /// The value of the most specific name that covers `host`, which may have a star itself.
    pub fn most_specific(&self, host: &str) -> Option<&T> {
        match host.strip_prefix('*') {
            None => self.whole.get(host).or_else(|| self.over(host).next()),
            Some(suffix) => self.over(suffix).next(),
        }
    }

    /// The values of all names that overlap with `host`: equal, over it, or under it (see [`Host::matches`]).
    pub fn overlapping(&self, host: &str) -> Vec<&T> {
        let Some(suffix) = Host(host).suffix() else {
            return self.whole.get(host).into_iter().chain(self.over(host)).collect();
        };
        let backwards = self.backwards.get_or_init(|| self.backwards());
        let wanted: Vec<u8> = suffix.bytes().rev().collect();
        let start = backwards.partition_point(|name| name.bytes < wanted);
        let under =
            backwards[start..].iter().take_while(|name| name.bytes.starts_with(&wanted)).filter_map(|name| {
                if name.wildcard { self.suffixes.get(&name.name) } else { self.whole.get(&name.name) }
            });
        // The equal wildcard is among those under it.
        let over = self
            .lengths
            .iter()
            .filter(|length| **length < suffix.len())
            .filter_map(|length| self.suffixes.get(suffix.get(suffix.len() - length..)?));
        under.chain(over).collect()
    }

    fn backwards(&self) -> Vec<Backwards> {
        let name = |name: &Arc<str>, wildcard| Backwards {
            bytes: name.bytes().rev().collect(),
            name: Arc::clone(name),
            wildcard,
        };
        let mut all: Vec<Backwards> = self.whole.keys().map(|whole| name(whole, false)).collect();
        all.extend(self.suffixes.keys().map(|suffix| name(suffix, true)));
        all.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::HostMap;
    use crate::Host;

    const NAMES: &[&str] = &[
        "a.com",
        "b.a.com",
        "*.com",
        "*.a.com",
        "*",
        "a.net",
        "*.b.a.com",
        "*com",
        "",
        "*.ü.com",
        "x.ü.com",
    ];

    fn map() -> HostMap<&'static str> {
        let mut map = HostMap::default();
        for name in NAMES {
            map.entry(name, || *name);
        }
        map
    }

    #[test]
    fn the_whole_name_goes_before_wildcards_and_the_longest_wildcard_before_others() {
        for (host, found) in [
            ("a.com", "a.com"),
            ("c.a.com", "*.a.com"),
            ("c.b.a.com", "*.b.a.com"),
            ("com", "*com"),
            ("c.com", "*.com"),
            ("c.net", "*"),
            ("*.a.com", "*.a.com"),
            ("*.c.com", "*.com"),
            ("*.net", "*"),
            ("y.ü.com", "*.ü.com"),
        ] {
            assert_eq!(map().most_specific(host), Some(&found), "{host}");
        }
        assert_eq!(HostMap::<()>::default().most_specific("a.com"), None);
    }

    #[test]
    fn all_names_that_overlap_are_found_as_by_comparing_each() {
        let map = map();
        for host in NAMES.iter().chain(&["*.net", "*.c.com", "c.b.a.com", "*m", "ü.com", "*ü.com"]) {
            let mut found = map.overlapping(host).into_iter().copied().collect::<Vec<_>>();
            found.sort_unstable();
            let mut wanted: Vec<&str> =
                NAMES.iter().copied().filter(|name| Host(name).matches(Host(host))).collect();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{host}");
        }
    }
}
