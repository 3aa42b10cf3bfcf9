//! A parsed template. Texts and names are stretches of the file's text; functions are already found.

use std::sync::Arc;

use crate::{Function, go::Builtin, lex::Span};

/// The file that a template came from, for its texts and for places in it.
pub(crate) struct File {
    pub(crate) name: Arc<str>,
    pub(crate) text: Box<str>,
}

/// A parsed template: a file, or a `define` or `block` in one.
pub struct Template {
    pub(crate) name: Arc<str>,
    pub(crate) file: Arc<File>,
    pub(crate) nodes: Vec<Node>,
    /// How many different names its variables have; `$` is the first.
    pub(crate) variables: usize,
}

impl Template {
    /// Nothing but space: such a one does not replace another of the same name.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| match node {
            Node::Text(span) => span.of(&self.file.text).trim().is_empty(),
            _ => false,
        })
    }
}

pub(crate) enum Node {
    Text(Span),
    Action(Pipe),
    If(Branch),
    With(Branch),
    Range(Box<Range>),
    Template(Box<Invocation>),
    Break,
    Continue,
}

impl Node {
    /// Where it is, for a limit that was reached there. Texts are told by where they begin.
    pub(crate) fn at(&self) -> Span {
        match self {
            Self::Text(span) => Span { end: span.start, ..*span },
            Self::Action(pipe) => pipe.at,
            Self::If(branch) | Self::With(branch) => {
                branch.arms.first().map(|(pipe, _)| pipe.at).unwrap_or_default()
            }
            Self::Range(range) => range.pipe.at,
            Self::Template(invocation) => invocation.at,
            Self::Break | Self::Continue => Span::default(),
        }
    }
}

/// `if … else if … else`, and the same with `with`. The variables of a condition live to the end of all.
pub(crate) struct Branch {
    pub(crate) arms: Vec<(Pipe, Vec<Node>)>,
    pub(crate) otherwise: Vec<Node>,
}

pub(crate) struct Range {
    pub(crate) pipe: Pipe,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Vec<Node>,
}

/// `template "name" pipeline`
pub(crate) struct Invocation {
    pub(crate) at: Span,
    pub(crate) name: Box<str>,
    pub(crate) pipe: Option<Pipe>,
}

#[derive(Default)]
pub(crate) struct Pipe {
    pub(crate) at: Span,
    /// The variables are changed, not made.
    pub(crate) assigns: bool,
    pub(crate) variables: Vec<Variable>,
    pub(crate) commands: Vec<Command>,
}

/// A variable's number within its template, and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) number: u32,
    pub(crate) at: Span,
}

/// A function with its arguments, or a single value. Never empty.
pub(crate) struct Command {
    pub(crate) at: Span,
    pub(crate) first: Expression,
    pub(crate) arguments: Vec<Expression>,
}

pub(crate) struct Expression {
    pub(crate) at: Span,
    pub(crate) kind: ExpressionKind,
}

pub(crate) enum ExpressionKind {
    Dot,
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Fits in 64 bits only without a sign, which is too much for an `int`.
    Overflow,
    Text(Box<str>),
    /// `.a.b`
    Fields(Vec<Span>),
    /// `$x`, `$x.a.b`
    Variable(Variable, Vec<Span>),
    Function(Callee),
    /// In parentheses.
    Pipe(Box<Pipe>),
    /// `(…).a.b`
    Chain(Box<Expression>, Vec<Span>),
}

#[derive(Clone, Copy)]
pub(crate) enum Callee {
    Builtin(Builtin),
    Given(Function),
}
