//! Letters as Go's `unicode` package sees them: one character for one, and categories instead of derived properties.

use std::sync::LazyLock;

use regex::Regex;

/// To upper case; a letter whose upper case is several characters stays.
pub(super) fn upper(character: char) -> char {
    single(character.to_uppercase()).unwrap_or_else(|| match character {
        // Greek letters with an iota below have a capital of their own.
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => shifted(character, 8),
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => shifted(character, 9),
        other => other,
    })
}

pub(crate) fn lower(character: char) -> char {
    match character {
        'İ' => 'i',
        other => single(other.to_lowercase()).unwrap_or(other),
    }
}

/// To title case, which differs from upper case for letters that are two.
pub(super) fn title(character: char) -> char {
    match character {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        'ა'..='ჿ' => character,
        other => upper(other),
    }
}

fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next();
    if characters.next().is_none() { first } else { None }
}

fn shifted(character: char, by: u32) -> char {
    char::from_u32(u32::from(character) + by).unwrap_or(character)
}

macro_rules! category {
    ($name:ident, $pattern:literal) => {
        pub(super) fn $name(character: char) -> bool {
            static CATEGORY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());
            let mut bytes = [0; 4];
            CATEGORY.as_ref().is_some_and(|category| category.is_match(character.encode_utf8(&mut bytes)))
        }
    };
}

category!(is_upper, r"^\p{Lu}$");
category!(is_lower, r"^\p{Ll}$");
category!(is_title, r"^\p{Lt}$");
category!(is_letter, r"^\p{L}$");
category!(is_digit, r"^\p{Nd}$");
category!(is_number, r"^\p{N}$");
category!(is_punctuation, r"^\p{P}$");
