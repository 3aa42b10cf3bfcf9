//! The two pattern languages of Helm: Go's `filepath.Match` for `.helmignore`, and the globs of `.Files.Glob`.

/// A pattern that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadPattern;

enum Token {
    One(char),
    AnyOne,
    /// `*`: as many as there are, not over a `/`.
    Many,
    /// `**`: as many as there are.
    All,
    Class {
        not: bool,
        ranges: Vec<(char, char)>,
    },
    /// `{a,b}`
    Either(Vec<Vec<Token>>),
}

/// Whether the whole of `name` matches, as Go's `filepath.Match` has it.
pub(super) fn shell(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    Ok(matches(&Reader::new(pattern, false).sequence(0)?, name))
}

/// As `.Files.Glob` matches: additionally `**` over folders and `{a,b}`. A pattern that cannot be read matches all.
pub(super) struct Glob(Vec<Token>);

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        Self(Reader::new(pattern, true).sequence(0).unwrap_or_else(|BadPattern| vec![Token::All]))
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        matches(&self.0, name)
    }
}

/// Braces in each other.
const DEPTH: usize = 16;

struct Reader<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    glob: bool,
}

impl<'p> Reader<'p> {
    fn new(pattern: &'p str, glob: bool) -> Self {
        Self { rest: pattern.chars().peekable(), glob }
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Token>, BadPattern> {
        let mut tokens = Vec::new();
        while let Some(next) = self.rest.peek().copied() {
            if depth > 0 && matches!(next, ',' | '}') {
                return Ok(tokens);
            }
            self.rest.next();
            tokens.push(match next {
                '?' => Token::AnyOne,
                '*' if self.glob && self.rest.next_if_eq(&'*').is_some() => {
                    while self.rest.next_if_eq(&'*').is_some() {}
                    Token::All
                }
                '*' => {
                    while !self.glob && self.rest.next_if_eq(&'*').is_some() {}
                    Token::Many
                }
                '[' => self.class()?,
                '{' if self.glob => self.either(depth)?,
                '\\' => Token::One(self.rest.next().ok_or(BadPattern)?),
                other => Token::One(other),
            });
        }
        if depth > 0 { Err(BadPattern) } else { Ok(tokens) }
    }

    fn class(&mut self) -> Result<Token, BadPattern> {
        let not = self.rest.next_if(|next| *next == '^' || self.glob && *next == '!').is_some();
        let mut ranges = Vec::new();
        loop {
            if !ranges.is_empty() && self.rest.next_if_eq(&']').is_some() {
                return Ok(Token::Class { not, ranges });
            }
            let from = self.member()?;
            let to = if self.rest.next_if_eq(&'-').is_some() { self.member()? } else { from };
            ranges.push((from, to));
        }
    }

    fn member(&mut self) -> Result<char, BadPattern> {
        match self.rest.next() {
            Some('\\') => self.rest.next().ok_or(BadPattern),
            None | Some('-' | ']') => Err(BadPattern),
            Some(member) => Ok(member),
        }
    }

    fn either(&mut self, depth: usize) -> Result<Token, BadPattern> {
        if depth == DEPTH {
            return Err(BadPattern);
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.sequence(depth + 1)?);
            match self.rest.next() {
                Some(',') => {}
                Some('}') => return Ok(Token::Either(choices)),
                _ => return Err(BadPattern),
            }
        }
    }
}

/// Every place in the name that can be reached is kept, so that no pattern takes more than length times length.
fn matches(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    step(tokens, &name, reached)[name.len()]
}

fn step(tokens: &[Token], name: &[char], mut reached: Vec<bool>) -> Vec<bool> {
    for token in tokens {
        let mut next = vec![false; reached.len()];
        for at in 0..reached.len() {
            match token {
                Token::Many | Token::All => {
                    let over = |c: char| matches!(token, Token::All) || c != '/';
                    next[at] = reached[at] || at > 0 && next[at - 1] && over(name[at - 1]);
                }
                _ if !reached[at] || at == name.len() => {}
                Token::One(one) => next[at + 1] |= *one == name[at],
                Token::AnyOne => next[at + 1] |= name[at] != '/',
                Token::Class { not, ranges } => {
                    let within = ranges.iter().any(|(from, to)| (*from..=*to).contains(&name[at]));
                    next[at + 1] |= within != *not && name[at] != '/';
                }
                Token::Either(_) => {}
            }
        }
        if let Token::Either(choices) = token {
            for choice in choices {
                let ends = step(choice, name, reached.clone());
                next.iter_mut().zip(ends).for_each(|(next, end)| *next |= end);
            }
        }
        reached = next;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignore_patterns_match_as_go_matches_paths() {
        for (pattern, name, wanted) in [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*/b", "a/c/b", Ok(false)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[b-d]", "abc", Ok(true)),
            ("ab[^c]", "abc", Ok(false)),
            ("a?b", "a/b", Ok(false)),
            ("a[^a]b", "a☺b", Ok(true)),
            ("a\\*", "a*", Ok(true)),
            ("[]a]", "]", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("a\\", "a", Err(BadPattern)),
            ("a{b,c}", "ab", Ok(false)),
            ("a{b,c}", "a{b,c}", Ok(true)),
            ("", "", Ok(true)),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Ok(false)),
        ] {
            assert_eq!(shell(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn globs_go_over_folders_only_with_two_stars() {
        for (pattern, name, wanted) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("**.yaml", "a/b.yaml", true),
            ("a/**", "a/b/c", true),
            ("a/*", "a/b/c", false),
            ("{a,b}/*.txt", "b/c.txt", true),
            ("{a,b/{c,d}}.txt", "b/d.txt", true),
            ("{a,b}/*.txt", "c/c.txt", false),
            ("[!a]", "b", true),
            ("[!a]", "a", false),
            ("{a", "anything/at all", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), wanted, "{pattern} {name}");
        }
    }
}
