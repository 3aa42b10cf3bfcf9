//! Pipelines: declarations, commands, operands.

use super::{
    Callee, Command, Expression, ExpressionKind as Is, Parsed, Parser, Pipe, Variable, hint, number, wrong,
};
use crate::{
    go::Builtin,
    lex::{Kind, Span, Token},
};

impl<'p> Parser<'p> {
    /// `declarations? command ('|' command)*`, and its end.
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let mut pipe = Pipe { at: self.peek()?.span, ..Pipe::default() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.peek()?;
            if token.kind == end {
                self.next()?;
                break;
            }
            if !starts_operand(token.kind) {
                return self.unexpected(token, context);
            }
            let command = self.command()?;
            pipe.at = pipe.at.to(command.at);
            if !pipe.commands.is_empty() && is_constant(&command.first.kind) {
                let stage = pipe.commands.len() + 1;
                return wrong(command.at, format!("non executable command in pipeline stage {stage}"));
            }
            pipe.commands.push(command);
        }
        if pipe.commands.is_empty() {
            return wrong(pipe.at, format!("missing value for {context}"));
        }
        Ok(pipe)
    }

    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<()> {
        while self.peek()?.kind == Kind::Variable {
            let kind = self.peek_second()?.kind;
            if !matches!(kind, Kind::Declare | Kind::Assign | Kind::Comma) {
                break;
            }
            let token = self.next()?;
            self.next()?;
            let number = self.scope.declare(self.source(token.span));
            pipe.variables.push(Variable { number, at: token.span });
            if kind != Kind::Comma {
                pipe.assigns = kind == Kind::Assign;
                break;
            }
            if context != "range" || pipe.variables.len() > 1 {
                return wrong(token.span, format!("too many declarations in {context}"));
            }
            if self.peek()?.kind != Kind::Variable {
                return wrong(token.span, "range can only initialize variables");
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Parsed<Command> {
        let first = self.operand()?;
        let mut command = Command { at: first.at, first, arguments: Vec::new() };
        loop {
            let token = self.peek()?;
            match token.kind {
                Kind::Close | Kind::RightParenthesis => return Ok(command),
                Kind::Pipe => {
                    self.next()?;
                    return Ok(command);
                }
                kind if token.spaced && starts_operand(kind) => {
                    let operand = self.operand()?;
                    command.at = command.at.to(operand.at);
                    command.arguments.push(operand);
                }
                _ => return self.unexpected(token, "operand"),
            }
        }
    }

    /// A term and the fields that touch it.
    fn operand(&mut self) -> Parsed<Expression> {
        let mut term = self.term()?;
        let alone = term.at;
        let mut fields = Vec::new();
        while let Token { kind: Kind::Field, spaced: false, span } = self.peek()? {
            self.next()?;
            term.at = term.at.to(span);
            fields.push(without_dot(span));
        }
        if fields.is_empty() {
            return Ok(term);
        }
        match &mut term.kind {
            Is::Fields(before) | Is::Variable(_, before) => before.append(&mut fields),
            kind if is_constant(kind) => {
                let text = self.source(alone);
                return wrong(term.at, format!("unexpected . after term {text:?}"));
            }
            _ => {
                let at = term.at;
                term = Expression { at, kind: Is::Chain(Box::new(term), fields) };
            }
        }
        Ok(term)
    }

    fn term(&mut self) -> Parsed<Expression> {
        let token = self.next()?;
        let text = self.source(token.span);
        let mut at = token.span;
        let kind = match token.kind {
            Kind::Identifier => Is::Function(self.function(token)?),
            Kind::Dot => Is::Dot,
            Kind::Nil => Is::Nil,
            Kind::Bool(bool) => Is::Bool(bool),
            Kind::Variable => match self.scope.find(text) {
                Some(number) => Is::Variable(Variable { number, at: token.span }, Vec::new()),
                None => {
                    let known =
                        self.scope.numbers.keys().copied().filter(|name| self.scope.find(name).is_some());
                    let hint = hint(text, known);
                    return wrong(at, format!("undefined variable {text:?}{hint}"));
                }
            },
            Kind::Field => Is::Fields(vec![without_dot(token.span)]),
            Kind::Number => number::read(text).map_err(|message| super::Wrong { at: at.start, message })?,
            Kind::Character => self.character(token)?,
            Kind::Quoted | Kind::Raw => Is::Text(self.unquote(token)?.into()),
            Kind::LeftParenthesis => {
                let pipe = self
                    .deeper(at, |parser| parser.pipeline("parenthesized pipeline", Kind::RightParenthesis))?;
                at = at.to(Span { start: pipe.at.end, end: self.closed(pipe.at.end) });
                Is::Pipe(Box::new(pipe))
            }
            _ => return self.unexpected(token, "operand"),
        };
        Ok(Expression { at, kind })
    }

    /// The parenthesis that was just passed.
    fn closed(&self, from: u32) -> u32 {
        let rest = self.text.get(from as usize..).unwrap_or_default();
        let length = rest.find(')').map_or(0, |length| length + 1);
        from + u32::try_from(length).unwrap_or_default()
    }

    fn function(&self, token: Token) -> Parsed<Callee> {
        let name = self.source(token.span);
        if let Some(function) = self.functions.get(name) {
            return Ok(Callee::Given(function));
        }
        if let Some(builtin) = Builtin::of(name) {
            return Ok(Callee::Builtin(builtin));
        }
        let known = self.functions.names().chain(Builtin::NAMES.iter().map(|(name, _)| *name));
        let hint = hint(name, known);
        wrong(token.span, format!("function {name:?} not defined{hint}"))
    }
}

fn without_dot(span: Span) -> Span {
    Span { start: span.start + 1, ..span }
}

fn starts_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool(_)
            | Kind::Character
            | Kind::Dot
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::Nil
            | Kind::Raw
            | Kind::Quoted
            | Kind::Variable
            | Kind::LeftParenthesis
    )
}

/// What cannot take arguments, and has no fields.
fn is_constant(kind: &Is) -> bool {
    matches!(kind, Is::Bool(_) | Is::Dot | Is::Nil | Is::Int(_) | Is::Float(_) | Is::Overflow | Is::Text(_))
}
