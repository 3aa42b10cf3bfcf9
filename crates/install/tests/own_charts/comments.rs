//! Which keys of a `values.yaml` no comment explains.

/// A key on the way down, and what is said about the keys beside it.
struct Level {
    indent: usize,
    /// What the last comment in this map, or above it, explains.
    explained: bool,
    name: String,
}

/// The keys below `defaults` that have no comment. A comment explains
/// - the key on its line;
/// - the keys under it in the same map, until an empty line;
/// - what is inside such a key, as long as no comment stands there: `requests` and `cpu` need none of their own.
///
/// The uppermost keys are sections of their own: each has its comment right above it or on its line. Items of lists are
/// values, not keys.
pub(crate) fn unexplained(text: &str) -> Vec<String> {
    let mut lacking = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    // The comment right above, if there is one, by its indent.
    let mut above = None;
    let mut inside = false;
    let mut item = None;
    for line in text.lines() {
        let rest = line.trim_start();
        let indent = line.len() - rest.len();
        if !inside {
            inside = line.starts_with("defaults:");
            continue;
        }
        if rest.is_empty() {
            above = None;
            levels.iter_mut().for_each(|level| level.explained = false);
            continue;
        }
        if rest.starts_with('#') {
            above = Some(indent);
            continue;
        }
        if rest.starts_with('-') {
            item = Some(indent);
        } else if item.is_some_and(|item| indent <= item) {
            item = None;
        }
        if item.is_some() {
            continue;
        }
        let Some((key, value)) = rest.split_once(':') else { continue };
        levels.retain(|level| level.indent <= indent);
        let parent = levels.iter().rev().find(|level| level.indent < indent);
        let inherited = parent.is_some_and(|parent| parent.explained);
        let own = above == Some(indent) || value.contains(" #");
        let before = levels.last().filter(|level| level.indent == indent);
        let explained = match before {
            _ if own => true,
            _ if indent == 2 => false,
            Some(before) => before.explained,
            None => inherited,
        };
        levels.retain(|level| level.indent < indent);
        levels.push(Level { indent, explained, name: key.to_owned() });
        if !explained {
            lacking.push(levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>().join("."));
        }
        above = None;
    }
    lacking
}
