//! What the lexer hands to the parser. A token is a stretch of the text; nothing is copied.

/// A stretch of a template's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    pub(crate) fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.end) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Outside of actions.
    Text,
    Open,
    Close,
    End,
    Keyword(Keyword),
    /// A function's name.
    Identifier,
    Bool(bool),
    Nil,
    Dot,
    /// With its dot.
    Field,
    /// With its dollar sign; only the dollar sign for the root.
    Variable,
    Number,
    Character,
    Quoted,
    Raw,
    Declare,
    Assign,
    Comma,
    Pipe,
    LeftParenthesis,
    RightParenthesis,
    /// A character that has no meaning in an action.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

impl Keyword {
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "block" => Self::Block,
            "break" => Self::Break,
            "continue" => Self::Continue,
            "define" => Self::Define,
            "else" => Self::Else,
            "end" => Self::End,
            "if" => Self::If,
            "range" => Self::Range,
            "template" => Self::Template,
            "with" => Self::With,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// There is space before it: `.a .b` is two things, `.a.b` is one.
    pub(crate) spaced: bool,
}

/// What is wrong, and where.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) at: u32,
    pub(crate) message: String,
}
