//! Names that Rust takes.

use crate::words::{pascal, snake};

const KEYWORDS: [&str; 38] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true",
];
const MORE_KEYWORDS: [&str; 11] =
    ["try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union"];
/// Those that cannot even be written raw.
const NEVER: [&str; 4] = ["crate", "self", "super", "_"];

/// A field's name.
pub(super) fn field(name: &str) -> String {
    let name = snake(name);
    if KEYWORDS.contains(&name.as_str()) || MORE_KEYWORDS.contains(&name.as_str()) {
        format!("r#{name}")
    } else if NEVER.contains(&name.as_str()) {
        format!("{name}_")
    } else if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.is_ascii() {
        name
    } else {
        format!("field_{}", name.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
    }
}

/// A variant for one of the words that a text may be.
pub(super) fn variant(word: &str) -> String {
    let name = if word.chars().any(|letter| letter.is_ascii_lowercase()) {
        pascal(word)
    } else {
        // ROUND_ROBIN is two words.
        pascal(&word.to_lowercase())
    };
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match name.as_str() {
        "" => "Empty".to_owned(),
        "Self" => "Self_".to_owned(),
        _ => name,
    }
}
