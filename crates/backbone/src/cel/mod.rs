//! Rules of definitions as trees: as much of the Common Expression Language as such rules are made of. What is not
//! understood is `None`, and the rule is then carried along as text.

mod parse;
mod token;

pub(crate) use parse::parse;

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Literal(Value),
    Name(String),
    /// `a.b`
    Select(Box<Expr>, String),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `has(a.b)`, its argument taken apart.
    Has(Box<Expr>, String),
    /// `f(a)` or `a.f(b)`.
    Call {
        on: Option<Box<Expr>>,
        name: String,
        arguments: Vec<Expr>,
    },
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

impl Operator {
    pub(crate) fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::In
        )
    }
}
