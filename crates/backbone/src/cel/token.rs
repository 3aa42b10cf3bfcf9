//! Text → tokens.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Int(i64),
    Float(f64),
    /// Operators and brackets.
    Sign(&'static str),
}

const SIGNS: [&str; 23] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", "{", "}", "?", ":", ",", ".", "+", "-",
    "*", "/", "%",
];

pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_alphabetic() || first == '_' {
            raw(rest).or_else(|| name(rest))?
        } else if first.is_ascii_digit() {
            number(rest)?
        } else if first == '"' || first == '\'' {
            quoted(rest, first)?
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else if first == '!' {
            (Token::Sign("!"), 1)
        } else {
            return None;
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

fn name(text: &str) -> Option<(Token, usize)> {
    let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    Some((Token::Name(text[..length].to_owned()), length))
}

/// `r"…"`, in which a backslash is itself.
fn raw(text: &str) -> Option<(Token, usize)> {
    let rest = text.strip_prefix(['r', 'R'])?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = &rest[1..];
    let end = inner.find(quote)?;
    Some((Token::Text(inner[..end].to_owned()), end + 3))
}

fn number(text: &str) -> Option<(Token, usize)> {
    let length = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
    let word = &text[..length];
    let token = if word.contains('.') {
        Token::Float(word.parse().ok()?)
    } else {
        Token::Int(word.strip_suffix('u').unwrap_or(word).parse().ok()?)
    };
    Some((token, length))
}

fn quoted(text: &str, quote: char) -> Option<(Token, usize)> {
    // Three of them begin another kind of text.
    if text.starts_with(&quote.to_string().repeat(3)) {
        return None;
    }
    let mut out = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            letter if letter == quote => return Some((Token::Text(out), at + 1)),
            '\\' => out.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                same @ ('\\' | '"' | '\'' | '`' | '?') => same,
                _ => return None,
            }),
            letter => out.push(letter),
        }
    }
    None
}
