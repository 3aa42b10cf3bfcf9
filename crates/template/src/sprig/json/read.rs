//! JSON as Go reads it into an `interface {}`: all numbers are floats, of two equal keys the last one counts.

use std::{iter::Peekable, str::CharIndices};

use crate::{Failure, Host, List, Map, Value, sprig::budget::below};

pub(crate) fn read(text: &str, host: &mut dyn Host) -> Result<Value, Failure> {
    // A value takes several times its text.
    host.spend(text.len().saturating_mul(4))?;
    let depth = host.depth();
    let mut reader = Reader { text, rest: text.char_indices().peekable() };
    let value = reader.value(depth, "looking for beginning of value")?;
    reader.blanks();
    match reader.rest.next() {
        None => Ok(value),
        Some((_, character)) => Err(invalid(Some(character), "after top-level value")),
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
}

fn invalid(character: Option<char>, context: &str) -> Failure {
    Failure::new(match character {
        None => "unexpected end of JSON input".into(),
        Some('\'') => format!("invalid character '\\'' {context}"),
        Some(character) => format!("invalid character '{}' {context}", character.escape_debug()),
    })
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, character)| *character)
    }

    fn next(&mut self) -> Option<char> {
        self.rest.next().map(|(_, character)| character)
    }

    fn blanks(&mut self) {
        while self.rest.next_if(|(_, character)| matches!(character, ' ' | '\t' | '\r' | '\n')).is_some() {}
    }

    fn value(&mut self, depth: usize, context: &str) -> Result<Value, Failure> {
        let below = below(depth)?;
        self.blanks();
        match self.peek() {
            Some('{') => self.map(below),
            Some('[') => self.list(below),
            Some('"') => Ok(Value::from(self.string()?)),
            Some('-' | '0'..='9') => self.number(),
            Some('t') => self.word("true", Value::Bool(true)),
            Some('f') => self.word("false", Value::Bool(false)),
            Some('n') => self.word("null", Value::Nil),
            other => Err(invalid(other, context)),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Failure> {
        for expected in word.chars() {
            match self.next() {
                Some(character) if character == expected => {}
                other => return Err(invalid(other, &format!("in literal {word} (expecting '{expected}')"))),
            }
        }
        Ok(value)
    }

    fn map(&mut self, depth: usize) -> Result<Value, Failure> {
        let map = Map::new();
        self.next();
        self.blanks();
        if self.peek() == Some('}') {
            self.next();
            return Ok(map.into());
        }
        loop {
            self.blanks();
            if self.peek() != Some('"') {
                return Err(invalid(self.next(), "looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.blanks();
            match self.next() {
                Some(':') => {}
                other => return Err(invalid(other, "after object key")),
            }
            map.insert(key, self.value(depth, "looking for beginning of value")?);
            self.blanks();
            match self.next() {
                Some(',') => {}
                Some('}') => return Ok(map.into()),
                other => return Err(invalid(other, "after object key:value pair")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Failure> {
        let mut items = Vec::new();
        self.next();
        self.blanks();
        if self.peek() == Some(']') {
            self.next();
            return Ok(List::new(items).into());
        }
        loop {
            items.push(self.value(depth, "looking for beginning of value")?);
            self.blanks();
            match self.next() {
                Some(',') => {}
                Some(']') => return Ok(List::new(items).into()),
                other => return Err(invalid(other, "after array element")),
            }
        }
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        let digits = |reader: &mut Self, context: &str| {
            if !reader.peek().is_some_and(|digit| digit.is_ascii_digit()) {
                return Err(invalid(reader.next(), context));
            }
            while reader.rest.next_if(|(_, digit)| digit.is_ascii_digit()).is_some() {}
            Ok(())
        };
        self.rest.next_if(|(_, sign)| *sign == '-');
        if self.rest.next_if(|(_, digit)| *digit == '0').is_none() {
            digits(self, "in numeric literal")?;
        }
        if self.rest.next_if(|(_, point)| *point == '.').is_some() {
            digits(self, "after decimal point in numeric literal")?;
        }
        if self.rest.next_if(|(_, e)| matches!(e, 'e' | 'E')).is_some() {
            self.rest.next_if(|(_, sign)| matches!(sign, '+' | '-'));
            digits(self, "in exponent of numeric literal")?;
        }
        let end = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
        let text = &self.text[start..end];
        match text.parse() {
            Ok(float) if f64::is_finite(float) => Ok(Value::Float(float)),
            _ => Err(Failure::new(format!(
                "json: cannot unmarshal number {text} into Go value of type float64"
            ))),
        }
    }

    fn string(&mut self) -> Result<String, Failure> {
        let mut out = String::new();
        self.next();
        loop {
            match self.next() {
                Some('"') => return Ok(out),
                Some('\\') => self.escape(&mut out)?,
                Some(character) if character >= ' ' => out.push(character),
                other => return Err(invalid(other, "in string literal")),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Failure> {
        out.push(match self.next() {
            Some(character @ ('"' | '\\' | '/')) => character,
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode(out),
            other => return Err(invalid(other, "in string escape code")),
        });
        Ok(())
    }

    /// Half of a pair without its other half is the replacement character.
    fn unicode(&mut self, out: &mut String) -> Result<(), Failure> {
        let mut code = self.four_digits()?;
        while (0xd800..0xdc00).contains(&code) {
            let mut ahead = self.rest.clone();
            if ahead.next().map(|(_, c)| c) != Some('\\') || ahead.next().map(|(_, c)| c) != Some('u') {
                break;
            }
            self.rest = ahead;
            let low = self.four_digits()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(());
            }
            out.push(char::REPLACEMENT_CHARACTER);
            code = low;
        }
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn four_digits(&mut self) -> Result<u32, Failure> {
        let mut code = 0;
        for _ in 0..4 {
            let character = self.next();
            match character.and_then(|character| character.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return Err(invalid(character, "in \\u hexadecimal character escape")),
            }
        }
        Ok(code)
    }
}
