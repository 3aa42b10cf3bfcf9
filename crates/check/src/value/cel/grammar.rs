//! The grammar: each function reads one of its rules and says what a macro must know of what it read.

use super::{
    Wrong,
    token::{Token, Word},
};

/// How deep a rule may stand in itself, and operators in each other: cel-go's bound.
const DEEPEST: usize = 250;

const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Macros over lists that bind their first argument, with the number of arguments that makes them one.
const BINDING: &[(&str, usize)] =
    &[("all", 2), ("exists", 2), ("exists_one", 2), ("existsOne", 2), ("map", 2), ("map", 3), ("filter", 2)];

/// cel-go's own variable in what macros become.
const ACCUMULATOR: &str = "__result__";

pub(super) fn expression(tokens: Vec<Token<'_>>, source: &str) -> Result<(), Wrong> {
    let mut reader = Reader { tokens, next: 0, depth: Depth::default() };
    let read = reader.expr().and_then(|_| match reader.peek().word {
        Word::End => Ok(()),
        _ => Err(reader.unexpected("the end or an operator")),
    });
    read.map_err(|(at, message)| Wrong {
        at: source.get(..at).map_or(0, |before| before.chars().count()),
        message,
    })
}

/// A byte of the source and what is wrong there.
type Failure = (usize, String);
type Read<'a> = Result<Piece<'a>, Failure>;

/// What was read: what a macro may ask about, where it begins, and how deep its operators stand in each other.
#[derive(Clone, Copy)]
struct Piece<'a> {
    shape: Shape<'a>,
    at: usize,
    height: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape<'a> {
    Name(&'a str),
    Select,
    Other,
}

/// How often each rule that stands in itself is open.
#[derive(Default)]
struct Depth {
    expr: usize,
    relation: usize,
    calc: usize,
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    depth: Depth,
}

impl<'a> Reader<'a> {
    fn ahead(&self, by: usize) -> Token<'a> {
        // Behind the end is the end.
        let end = Token { word: Word::End, text: "", at: 0 };
        self.tokens.get(self.next + by).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn is(&self, sign: &str) -> bool {
        let token = self.peek();
        token.word == Word::Sign && token.text == sign
    }

    fn skip(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Result<(), Failure> {
        if self.skip(sign) { Ok(()) } else { Err(self.unexpected(&format!("{sign:?}"))) }
    }

    fn unexpected(&self, wanted: &str) -> Failure {
        let token = self.peek();
        let found = if token.word == Word::End { "the end".to_owned() } else { format!("{:?}", token.text) };
        (token.at, format!("expected {wanted}, found {found}"))
    }

    fn unsupported(&self, what: &str) -> Failure {
        (self.peek().at, format!("unsupported syntax {what:?}"))
    }

    fn enter(&mut self, rule: fn(&mut Depth) -> &mut usize) -> Result<(), Failure> {
        let at = self.peek().at;
        let depth = rule(&mut self.depth);
        *depth += 1;
        if *depth > DEEPEST { Err(too_deep(at)) } else { Ok(()) }
    }

    fn expr(&mut self) -> Read<'a> {
        self.enter(|depth| &mut depth.expr)?;
        let mut piece = self.or()?;
        if self.skip("?") {
            let yes = self.or()?;
            self.expect(":")?;
            let no = self.expr()?;
            piece = over(piece.at, &[piece, yes, no])?;
        }
        self.depth.expr -= 1;
        Ok(piece)
    }

    fn or(&mut self) -> Read<'a> {
        let mut piece = self.and()?;
        while self.skip("||") {
            piece = beside(piece, self.and()?);
        }
        Ok(piece)
    }

    fn and(&mut self) -> Read<'a> {
        let mut piece = self.relation(true)?;
        while self.skip("&&") {
            piece = beside(piece, self.relation(true)?);
        }
        Ok(piece)
    }

    /// The right side of a comparison does not compare: `a == b == c` is `(a == b) == c`.
    fn relation(&mut self, compares: bool) -> Read<'a> {
        self.enter(|depth| &mut depth.relation)?;
        let mut piece = self.calc(0)?;
        while compares && ["<", "<=", ">=", ">", "==", "!=", "in"].iter().any(|sign| self.is(sign)) {
            self.take();
            let right = self.relation(false)?;
            piece = over(piece.at, &[piece, right])?;
        }
        self.depth.relation -= 1;
        Ok(piece)
    }

    /// Sums (1) of products (2): only operators that bind at least as strong as `least` are taken.
    fn calc(&mut self, least: u8) -> Read<'a> {
        self.enter(|depth| &mut depth.calc)?;
        let mut piece = self.unary()?;
        loop {
            let strength = match self.peek() {
                Token { word: Word::Sign, text: "*" | "/" | "%", .. } => 2,
                Token { word: Word::Sign, text: "+" | "-", .. } => 1,
                _ => break,
            };
            if strength < least {
                break;
            }
            self.take();
            let right = self.calc(strength + 1)?;
            piece = over(piece.at, &[piece, right])?;
        }
        self.depth.calc -= 1;
        Ok(piece)
    }

    fn unary(&mut self) -> Read<'a> {
        let at = self.peek().at;
        for sign in ["!", "-"] {
            let number = matches!(self.ahead(1).word, Word::Int | Word::Double);
            if !self.is(sign) || (sign == "-" && number) {
                continue;
            }
            let mut signs = 0_usize;
            while self.skip(sign) {
                signs += 1;
            }
            let piece = self.member()?;
            // Two of them are none.
            return Ok(if signs.is_multiple_of(2) {
                piece
            } else {
                Piece { shape: Shape::Other, at, ..piece }
            });
        }
        self.member()
    }

    fn member(&mut self) -> Read<'a> {
        let mut piece = self.primary()?;
        loop {
            if self.skip(".") {
                piece = self.select(piece)?;
            } else if self.skip("[") {
                if self.is("?") {
                    return Err(self.unsupported("[?"));
                }
                let index = self.expr()?;
                self.expect("]")?;
                piece = over(piece.at, &[piece, index])?;
            } else {
                return Ok(piece);
            }
        }
    }

    /// What follows a dot: a field, or a call of a method.
    fn select(&mut self, target: Piece<'a>) -> Read<'a> {
        if self.is("?") {
            return Err(self.unsupported(".?"));
        }
        let name = self.peek();
        if !matches!(name.word, Word::Identifier | Word::Quoted) {
            return Err(self.unexpected("the name of a field"));
        }
        self.take();
        if name.word == Word::Quoted || !self.skip("(") {
            return Ok(Piece { shape: Shape::Select, ..over(target.at, &[target])? });
        }
        let arguments = self.arguments()?;
        if let Some(first) = arguments.first()
            && BINDING.contains(&(name.text, arguments.len()))
        {
            match first.shape {
                Shape::Name(ACCUMULATOR) => {
                    return Err((
                        first.at,
                        format!("{ACCUMULATOR} cannot be the variable of {}()", name.text),
                    ));
                }
                Shape::Name(_) => {}
                _ => {
                    return Err((
                        first.at,
                        format!("the first argument of {}() must be a simple name", name.text),
                    ));
                }
            }
        }
        let height = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
        over(target.at, &[target, Piece { shape: Shape::Other, at: target.at, height }])
    }

    fn arguments(&mut self) -> Result<Vec<Piece<'a>>, Failure> {
        let mut arguments = Vec::new();
        if self.skip(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr()?);
            if !self.skip(",") {
                self.expect(")")?;
                return Ok(arguments);
            }
        }
    }

    fn primary(&mut self) -> Read<'a> {
        let at = self.peek().at;
        let other = |height| Piece { shape: Shape::Other, at, height };
        if self.skip("(") {
            let piece = self.expr()?;
            self.expect(")")?;
            return Ok(piece);
        }
        if self.skip("[") {
            return self.entries("]", Self::element).map(other);
        }
        if self.skip("{") {
            return self.entries("}", Self::pair).map(other);
        }
        let dotted = self.is(".");
        if dotted || self.peek().word == Word::Identifier {
            return self.named(dotted);
        }
        self.literal().map(|()| other(0))
    }

    /// A name, a call of a function or a message with its fields.
    fn named(&mut self, dotted: bool) -> Read<'a> {
        let at = self.peek().at;
        self.next += usize::from(dotted);
        let name = self.peek();
        if name.word != Word::Identifier {
            return Err(self.unexpected("a name"));
        }
        if let Some(brace) = self.message() {
            self.next = brace + 1;
            let height = self.entries("}", Self::field)?;
            return Ok(Piece { shape: Shape::Other, at, height });
        }
        if RESERVED.contains(&name.text) {
            return Err((name.at, format!("reserved identifier: {}", name.text)));
        }
        self.take();
        if !self.skip("(") {
            // With the dot it is a name, too, but never the accumulator's.
            let text = if dotted { "." } else { name.text };
            return Ok(Piece { shape: Shape::Name(text), at, height: 0 });
        }
        let arguments = self.arguments()?;
        if let [argument] = arguments.as_slice()
            && !dotted
            && name.text == "has"
            && argument.shape != Shape::Select
        {
            return Err((argument.at, "invalid argument to has(): it takes a field, has(a.b)".to_owned()));
        }
        let height = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
        Ok(Piece { shape: Shape::Other, at, height })
    }

    /// Where the brace is if the names that follow are a message's.
    fn message(&self) -> Option<usize> {
        let sign = |token: Token<'_>, text| token.word == Word::Sign && token.text == text;
        let mut by = 1;
        while sign(self.ahead(by), ".") && self.ahead(by + 1).word == Word::Identifier {
            by += 2;
        }
        sign(self.ahead(by), "{").then_some(self.next + by)
    }

    /// Entries with commas between them, perhaps one after the last, up to the closing sign; also a lone comma.
    fn entries(
        &mut self,
        close: &str,
        entry: fn(&mut Self) -> Result<usize, Failure>,
    ) -> Result<usize, Failure> {
        let mut height = 0;
        if !self.is(close) && !self.is(",") {
            height = entry(self)?;
            while self.is(",") && !(self.ahead(1).word == Word::Sign && self.ahead(1).text == close) {
                self.take();
                height = height.max(entry(self)?);
            }
        }
        self.skip(",");
        self.expect(close)?;
        Ok(height)
    }

    fn element(&mut self) -> Result<usize, Failure> {
        if self.is("?") {
            return Err(self.unsupported("?"));
        }
        Ok(self.expr()?.height)
    }

    fn pair(&mut self) -> Result<usize, Failure> {
        let key = self.element()?;
        self.expect(":")?;
        Ok(key.max(self.expr()?.height))
    }

    fn field(&mut self) -> Result<usize, Failure> {
        if !matches!(self.peek().word, Word::Identifier | Word::Quoted) {
            return Err(self.unexpected("the name of a field"));
        }
        self.take();
        self.expect(":")?;
        Ok(self.expr()?.height)
    }

    fn literal(&mut self) -> Result<(), Failure> {
        let minus = self.is("-") && matches!(self.ahead(1).word, Word::Int | Word::Double);
        let at = self.peek().at;
        self.next += usize::from(minus);
        let Token { word, text, .. } = self.peek();
        let fits = match word {
            Word::Int => {
                let most = u64::try_from(i64::MAX).unwrap_or(u64::MAX) + u64::from(minus);
                unsigned(text).is_some_and(|number| number <= most)
            }
            Word::Uint => unsigned(text.trim_end_matches(['u', 'U'])).is_some(),
            Word::Double => text.parse::<f64>().is_ok_and(f64::is_finite),
            Word::Text => escapes_are_characters(text),
            // Bytes have no characters to name.
            Word::Bytes => !has_escape(text, &['u', 'U']),
            Word::Sign if matches!(text, "true" | "false" | "null") => true,
            Word::Sign | Word::Identifier | Word::Quoted | Word::End => {
                return Err(self.unexpected("an expression"));
            }
        };
        if !fits {
            let shown: String = text.chars().take(40).collect();
            return Err((at, format!("invalid literal {shown}")));
        }
        self.take();
        Ok(())
    }
}

fn too_deep(at: usize) -> Failure {
    (at, format!("it is nested deeper than {DEEPEST}"))
}

/// An operator over its operands.
fn over<'a>(at: usize, operands: &[Piece<'a>]) -> Read<'a> {
    let height = 1 + operands.iter().map(|operand| operand.height).max().unwrap_or(0);
    if height > DEEPEST { Err(too_deep(at)) } else { Ok(Piece { shape: Shape::Other, at, height }) }
}

/// Terms of `&&` and `||`, which cel-go does not nest.
fn beside<'a>(left: Piece<'a>, right: Piece<'a>) -> Piece<'a> {
    Piece { shape: Shape::Other, at: left.at, height: left.height.max(right.height) }
}

fn unsigned(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Where escapes begin in a text that may have them; the token's own rules have seen to their form.
fn escapes(text: &str) -> impl Iterator<Item = &str> {
    let raw = text.trim_start_matches(['b', 'B']).starts_with(['r', 'R']);
    let mut rest = if raw { "" } else { text };
    std::iter::from_fn(move || {
        let at = rest.find('\\')?;
        let escape = &rest[at..];
        rest = escape.get(2..).unwrap_or_default();
        Some(escape)
    })
}

fn has_escape(text: &str, letters: &[char]) -> bool {
    escapes(text).any(|escape| escape[1..].starts_with(letters))
}

fn escapes_are_characters(text: &str) -> bool {
    escapes(text).all(|escape| {
        let digits = match escape.as_bytes().get(1) {
            Some(b'u') => escape.get(2..6),
            Some(b'U') => escape.get(2..10),
            _ => return true,
        };
        digits.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32).is_some()
    })
}
