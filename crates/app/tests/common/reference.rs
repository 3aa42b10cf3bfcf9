//! The attributes that the reference asks for, read from its own text: what stands in the first columns of its tables, and before the
//! arrows of its sentences.

use std::collections::BTreeSet;

/// An attribute of a kind, as far as the text says where it stands: its names, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    pub(crate) kind: String,
    pub(crate) names: Vec<String>,
}

/// The section of what all kinds have in common.
pub(crate) const ALL_KINDS: &str = "";

/// Sections whose heading names the kind; what the first asks of one kind, the others ask of the others.
pub(crate) fn asked(text: &str) -> BTreeSet<Asked> {
    let mut found = BTreeSet::new();
    let mut kind: Option<String> = None;
    let mut block = String::new();
    for line in text.lines() {
        if line.starts_with('#') {
            kind = section(line);
            block.clear();
            continue;
        }
        let Some(kind) = &kind else { continue };
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let mut add = |names: Vec<String>| {
            found.insert(Asked { kind: kind.clone(), names });
        };
        match (line.starts_with('|'), cells.as_slice()) {
            (true, [id, convention, ..]) if kind == ALL_KINDS => {
                let known = ["C1", "C2", "C3", "C4", "C5", "C9", "C10"].contains(id);
                names(convention).filter(|_| known).for_each(|name| add(vec![name]));
            }
            // The table whose first column is the block that the attribute is in.
            (true, [of, attribute, _, _, _, _]) if attribute.starts_with('`') => {
                if !of.is_empty() {
                    (*of).clone_into(&mut block);
                }
                let around = block.split('.').map(str::to_owned);
                names(attribute).for_each(|name| add(around.clone().chain([name]).collect()));
            }
            (true, [attributes, about, ..]) if attributes.starts_with('`') => {
                let mut first: Vec<String> = Vec::new();
                for path in ticked(attributes) {
                    let beside = path.starts_with('.');
                    let path = path.trim_start_matches(['.', '…']).split(':').next().unwrap_or_default();
                    let inner = path.split('.').map(|name| name.replace("[]", ""));
                    // `.scheme` stands where the one before it does.
                    let around =
                        if beside { first[..first.len().saturating_sub(1)].to_vec() } else { Vec::new() };
                    let inner: Vec<String> = around.into_iter().chain(inner).collect();
                    if inner.iter().all(|name| is_name(name)) {
                        add(inner.clone());
                        first = inner;
                    }
                }
                let mut below: Vec<String> = names(about).collect();
                // Every one of them can be turned round.
                if about.contains("`not…`") {
                    let turned = |name: &String| format!("not{}{}", name[..1].to_uppercase(), &name[1..]);
                    below.extend(below.clone().iter().map(turned));
                }
                below.into_iter().for_each(|name| add(first.iter().cloned().chain([name]).collect()));
            }
            (true, _) => {}
            (false, _) => sentence(line).into_iter().for_each(add),
        }
    }
    found
}

/// The kind of a section; nothing for one that is about something else.
fn section(heading: &str) -> Option<String> {
    let heading = heading.trim_start_matches('#').trim();
    let (number, title) = heading.split_once(' ')?;
    let kind = title.split([':', ' ']).next()?;
    match number.split_once('.')? {
        ("1", "4") => Some(kind.to_owned()),
        ("2", "0") => Some(ALL_KINDS.to_owned()),
        ("2", "13") => None,
        ("2", _) => Some(kind.to_owned()),
        _ => None,
    }
}

/// ``**subset**: `name` (string) -> `subsets[].name`; `labels` …``: what stands before each arrow. What is in brackets explains it,
/// unless it is a list of something.
fn sentence(line: &str) -> Vec<Vec<String>> {
    let (around, line) = match line.split_once(": ") {
        Some((what, rest)) if what.starts_with("**subset") => (Some("subsets"), rest),
        Some((what, rest)) if what.starts_with("**trafficPolicy") => (Some("trafficPolicy"), rest),
        Some(("tlsRoute", rest)) => (Some("tlsRoutes"), rest),
        _ if line.starts_with('`') => (None, line),
        _ => return Vec::new(),
    };
    let mut all = Vec::new();
    for part in outside(line).split("; ") {
        let (asked, _) = part.split_once(" -> ").unwrap_or((part, ""));
        for name in names(&asked.replace("[]", "")) {
            all.push(around.map(str::to_owned).into_iter().chain([name]).collect());
        }
    }
    all
}

/// A text without its brackets.
fn outside(text: &str) -> String {
    let mut depth = 0_usize;
    let keep = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return (depth == 0).then_some(letter),
        }
        None
    };
    text.chars().filter_map(keep).collect()
}

/// What stands between backticks; a word that is a value is said to be one.
fn ticked(text: &str) -> impl Iterator<Item = &str> {
    let parts: Vec<&str> = text.split('`').collect();
    let is_value =
        |before: &str| ["the word ", "default ", "the CR's "].iter().any(|words| before.ends_with(words));
    let ticked: Vec<&str> = parts
        .windows(2)
        .enumerate()
        .filter(|(place, pair)| place % 2 == 0 && !is_value(pair[0]))
        .map(|(_, pair)| pair[1])
        .collect();
    ticked.into_iter()
}

fn names(text: &str) -> impl Iterator<Item = String> {
    let ticked: Vec<String> = ticked(text).map(str::to_owned).collect();
    ticked.into_iter().filter(|name| is_name(name))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}
