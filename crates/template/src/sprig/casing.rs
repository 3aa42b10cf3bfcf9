//! `snakecase`, `kebabcase` and `camelcase`: where a word ends inside of a name.

use super::{letters, strings::is_space};

fn connects(character: char) -> bool {
    character == '-' || character == '_' || is_space(character)
}

/// `some_words`, `HTTP server` → `SomeWords`, `HttpServer`. Connectors in front stay, and all but one in a row.
pub(super) fn pascal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut last = '\0';
    let mut shouting = false;
    let mut started = false;
    for character in characters.by_ref() {
        last = character;
        if !connects(character) {
            shouting = letters::is_upper(character);
            last = letters::upper(character);
            started = true;
            break;
        }
        out.push(character);
    }
    if !started {
        // The original writes the last of a text of connectors twice.
        if let Some(last) = text.chars().last() {
            out.push(last);
        }
        return out;
    }
    for character in characters {
        let before = std::mem::replace(&mut last, character);
        if connects(before) && connects(character) {
            out.push(before);
        } else if connects(before) {
            shouting = letters::is_upper(character);
            last = letters::upper(character);
        } else {
            if shouting && letters::is_upper(character) {
                last = letters::lower(character);
            } else {
                shouting = false;
            }
            out.push(before);
        }
    }
    out.push(last);
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Behind the end.
    None,
    Number,
    /// Begins with a capital.
    Capital,
    Letters,
    Connector,
    Punctuation,
    Other,
}

struct Words<'t> {
    rest: &'t str,
}

/// Letters, without the ideographs that are words of their own.
fn is_alphabetic(character: char) -> bool {
    letters::is_letter(character)
        && !matches!(character, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}')
}

impl<'t> Words<'t> {
    /// The next word and its kind.
    fn take(&mut self) -> (Word, &'t str) {
        let Some(first) = self.rest.chars().next() else { return (Word::None, "") };
        let (kind, length) = match first {
            c if connects(c) => (Word::Connector, self.run(0, connects)),
            c if letters::is_punctuation(c) => (Word::Punctuation, self.run(0, letters::is_punctuation)),
            c if letters::is_upper(c) => (Word::Capital, self.capital(c)),
            c if is_alphabetic(c) => {
                (Word::Letters, self.run(0, |c| is_alphabetic(c) && !letters::is_upper(c)))
            }
            c if letters::is_number(c) => (Word::Number, self.run(0, letters::is_number)),
            _ => {
                let other = |c| {
                    !(connects(c) || is_alphabetic(c) || letters::is_number(c) || letters::is_punctuation(c))
                };
                (Word::Other, self.run(0, other))
            }
        };
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        (kind, word)
    }

    /// How far the characters from `start` on are of a kind.
    fn run(&self, start: usize, kind: impl Fn(char) -> bool) -> usize {
        self.rest[start..].find(|character| !kind(character)).map_or(self.rest.len(), |length| start + length)
    }

    /// `HTTP` in front of `Status` ends before the `S`.
    fn capital(&self, first: char) -> usize {
        let start = first.len_utf8();
        let Some(second) = self.rest[start..].chars().next() else { return start };
        if letters::is_upper(second) {
            let end = self.run(start, letters::is_upper);
            return match self.rest[end..].chars().next() {
                Some(next) if is_alphabetic(next) => {
                    end - self.rest[..end].chars().next_back().map_or(0, char::len_utf8)
                }
                _ => end,
            };
        }
        if is_alphabetic(second) {
            return self.run(start, |c| is_alphabetic(c) && !letters::is_upper(c));
        }
        start
    }
}

/// `HTTPServer2xx` → `http_server_2xx`
pub(super) fn joined_by(text: &str, connector: char) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut words = Words { rest: text };
    let (mut kind, mut word) = words.take();
    let joins = |kind: Word| !matches!(kind, Word::Connector | Word::Punctuation);
    while !words.rest.is_empty() {
        if kind != Word::Connector {
            write(&mut out, kind, word, connector);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.take();
        match before {
            Word::Number => {
                (kind, word) = letters_and_numbers(&mut out, &mut words, kind, word, connector);
                if kind != Word::None && joins(kind) {
                    out.push(connector);
                }
            }
            Word::Connector => write(&mut out, before, last, connector),
            Word::Punctuation => {}
            _ if kind != Word::Number => {
                if joins(kind) {
                    out.push(connector);
                }
            }
            _ if words.rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word) = words.take();
                if kind == Word::Letters {
                    // Small letters belong to the number: `http_2xx`.
                    out.push(connector);
                    write(&mut out, Word::Number, number, connector);
                    (kind, word) = letters_and_numbers(&mut out, &mut words, kind, word, connector);
                    if kind != Word::None && joins(kind) {
                        out.push(connector);
                    }
                } else {
                    // The number belongs to the word in front: `bld4_floor`.
                    write(&mut out, Word::Number, number, connector);
                    if joins(kind) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    write(&mut out, kind, word, connector);
    out
}

fn letters_and_numbers<'t>(
    out: &mut String,
    words: &mut Words<'t>,
    mut kind: Word,
    mut word: &'t str,
    connector: char,
) -> (Word, &'t str) {
    while matches!(kind, Word::Letters | Word::Number) {
        write(out, kind, word, connector);
        (kind, word) = words.take();
    }
    (kind, word)
}

fn write(out: &mut String, kind: Word, word: &str, connector: char) {
    if !matches!(kind, Word::Capital | Word::Connector) {
        out.push_str(word);
        return;
    }
    for character in word.chars() {
        out.push(match character {
            c if connects(c) => connector,
            c if letters::is_upper(c) => letters::lower(c),
            other => other,
        });
    }
}
