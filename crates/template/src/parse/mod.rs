//! Tokens in, templates out. Refuses what Go refuses, with the line and the column.

mod action;
mod number;
mod pipeline;
mod quoted;
mod tree;

use std::{collections::HashMap, sync::Arc};

pub use tree::Template;
pub(crate) use tree::{
    Branch, Callee, Command, Expression, ExpressionKind, File, Invocation, Node, Pipe, Range, Variable,
};

use crate::{
    Failure, Functions, Place,
    go::quote,
    lex::{Kind, Lexer, Span, Token, Wrong},
};

/// Parentheses and control structures in each other: the parser, and later the execution, recurse for each.
const DEPTH: usize = 200;

/// All templates of a file: the file itself is the last one.
pub(crate) fn parse(name: &str, text: &str, functions: &Functions) -> Result<Vec<Template>, Failure> {
    let file = Arc::new(File { name: name.into(), text: text.into() });
    if u32::try_from(text.len()).is_err() {
        return Err(Failure::new(format!("{name} is too long for a template")));
    }
    let mut parser = Parser {
        file: &file,
        text: &file.text,
        lexer: Lexer::new(&file.text),
        ahead: [None, None],
        functions,
        done: Vec::new(),
        known: HashMap::new(),
        scope: Scope::default(),
        depth: 0,
    };
    let result = parser.file();
    let done = parser.done;
    result.map(|()| done).map_err(|wrong| {
        let span = Span { start: wrong.at, end: wrong.at };
        Failure::new(wrong.message).at(file.place(span))
    })
}

impl File {
    /// With the text of the action as context, on one line.
    pub(crate) fn place(&self, span: Span) -> Place {
        let before = self.text.get(..span.start as usize).unwrap_or(&self.text);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
        let words: Vec<_> = span.of(&self.text).split_whitespace().collect();
        let mut context = words.join(" ");
        if let Some((end, _)) = context.char_indices().nth(100) {
            context.truncate(end);
            context.push('…');
        }
        Place { template: Arc::clone(&self.name), line, column, context }
    }
}

struct Parser<'p> {
    file: &'p Arc<File>,
    text: &'p str,
    lexer: Lexer<'p>,
    ahead: [Option<Token>; 2],
    functions: &'p Functions,
    done: Vec<Template>,
    known: HashMap<Arc<str>, usize>,
    scope: Scope<'p>,
    depth: usize,
}

/// The variables of one template.
#[derive(Default)]
struct Scope<'p> {
    numbers: HashMap<&'p str, u32>,
    /// How often each number is visible here, and in which order that happened.
    visible: Vec<usize>,
    order: Vec<u32>,
    /// `range`s around: `break` needs one.
    ranges: usize,
}

impl<'p> Scope<'p> {
    fn new() -> Self {
        let mut scope = Self::default();
        scope.declare("$");
        scope
    }

    fn declare(&mut self, name: &'p str) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(name).or_insert(next);
        self.visible.resize(self.numbers.len(), 0);
        self.visible[number as usize] += 1;
        self.order.push(number);
        number
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied().filter(|&number| self.visible[number as usize] > 0)
    }

    fn forget(&mut self, mark: usize) {
        for number in self.order.drain(mark..) {
            self.visible[number as usize] -= 1;
        }
    }
}

type Parsed<T> = Result<T, Wrong>;

impl<'p> Parser<'p> {
    fn peek(&mut self) -> Parsed<Token> {
        if let Some(token) = self.ahead[0] {
            return Ok(token);
        }
        let token = self.lexer.next()?;
        self.ahead[0] = Some(token);
        Ok(token)
    }

    fn peek_second(&mut self) -> Parsed<Token> {
        self.peek()?;
        if let Some(token) = self.ahead[1] {
            return Ok(token);
        }
        let token = self.lexer.next()?;
        self.ahead[1] = Some(token);
        Ok(token)
    }

    fn next(&mut self) -> Parsed<Token> {
        let token = self.peek()?;
        self.ahead = [self.ahead[1], None];
        Ok(token)
    }

    fn source(&self, span: Span) -> &'p str {
        span.of(self.text)
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next()?;
        if token.kind == kind { Ok(token) } else { self.unexpected(token, context) }
    }

    fn unexpected<T>(&self, token: Token, context: &str) -> Parsed<T> {
        let what = match token.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Keyword(_) | Kind::Dot | Kind::Nil => format!("<{}>", self.source(token.span)),
            _ => match self.source(token.span).char_indices().nth(10) {
                Some((end, _)) => format!("{}...", quote(&self.source(token.span)[..end])),
                None => quote(self.source(token.span)),
            },
        };
        wrong(token.span, format!("unexpected {what} in {context}"))
    }

    /// Runs something one level deeper.
    fn deeper<T>(&mut self, at: Span, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return wrong(at, format!("nested deeper than {DEPTH} levels"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// The nearest of the names; of two that are equally near always the same.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    mizzen_text::nearest(name, known).map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

fn wrong<T>(at: Span, message: impl Into<String>) -> Parsed<T> {
    Err(Wrong { at: at.start, message: message.into() })
}
