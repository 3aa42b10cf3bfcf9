//! Texts and actions: control structures, definitions, and plain pipelines.

use std::sync::Arc;

use super::{Branch, Invocation, Node, Parsed, Parser, Pipe, Range, Scope, Template, wrong};
use crate::lex::{Keyword, Kind, Span, Token};

/// What ended a list of nodes.
enum Stop {
    End,
    /// Where it stands. A keyword behind it, as in `else if`, is not read yet.
    Else(Span),
}

impl Parser<'_> {
    /// The whole file; it becomes the last template.
    pub(super) fn file(&mut self) -> Parsed<()> {
        self.scope = Scope::new();
        let mut nodes = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::End => break,
                Kind::Open if self.peek()?.kind == Kind::Keyword(Keyword::Define) => {
                    self.next()?;
                    self.definition(token)?;
                }
                _ => match self.item(token)? {
                    Ok(node) => nodes.push(node),
                    Err(Stop::End) => return wrong(token.span, "unexpected {{end}}"),
                    Err(Stop::Else(_)) => return wrong(token.span, "unexpected {{else}}"),
                },
            }
        }
        self.finish(Arc::clone(&self.file.name), nodes, Span::default())
    }

    /// Adds a template; a second one of the same name in one file is a mistake, unless one of them is empty.
    fn finish(&mut self, name: Arc<str>, nodes: Vec<Node>, at: Span) -> Parsed<()> {
        let variables = self.scope.numbers.len();
        let template = Template { name, file: Arc::clone(self.file), nodes, variables };
        match self.known.get(&template.name).copied() {
            None => {
                self.known.insert(Arc::clone(&template.name), self.done.len());
                self.done.push(template);
            }
            Some(index) if self.done[index].is_empty() => self.done[index] = template,
            Some(_) if template.is_empty() => {}
            Some(_) => return wrong(at, format!("multiple definition of template {:?}", template.name)),
        }
        Ok(())
    }

    fn definition(&mut self, open: Token) -> Parsed<()> {
        let name = self.template_name("define clause")?;
        self.expect(Kind::Close, "define clause")?;
        self.body(open, &name, "define clause")
    }

    /// The rest of a `define` or `block`, which has variables of its own.
    fn body(&mut self, open: Token, name: &str, context: &str) -> Parsed<()> {
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let (nodes, stop) = self.deeper(open.span, |parser| parser.list(open.span, context))?;
        if let Stop::Else(at) = stop {
            return wrong(at, format!("unexpected {{{{else}}}} in {context}"));
        }
        self.finish(name.into(), nodes, open.span)?;
        self.scope = outer;
        Ok(())
    }

    fn template_name(&mut self, context: &str) -> Parsed<String> {
        let token = self.next()?;
        match token.kind {
            Kind::Quoted | Kind::Raw => self.unquote(token),
            _ => self.unexpected(token, context),
        }
    }

    /// Up to `end` or `else`.
    fn list(&mut self, open: Span, what: &str) -> Parsed<(Vec<Node>, Stop)> {
        let mut nodes = Vec::new();
        loop {
            let token = self.next()?;
            if token.kind == Kind::End {
                return wrong(open, format!("unexpected EOF: this {what} has no {{{{end}}}}"));
            }
            match self.item(token)? {
                Ok(node) => nodes.push(node),
                Err(stop) => return Ok((nodes, stop)),
            }
        }
    }

    fn item(&mut self, token: Token) -> Parsed<Result<Node, Stop>> {
        match token.kind {
            Kind::Text => Ok(Ok(Node::Text(token.span))),
            Kind::Open => self.action(token),
            _ => self.unexpected(token, "input"),
        }
    }

    fn action(&mut self, open: Token) -> Parsed<Result<Node, Stop>> {
        let Kind::Keyword(keyword) = self.peek()?.kind else {
            return Ok(Ok(Node::Action(self.pipeline("command", Kind::Close)?)));
        };
        if keyword == Keyword::Define {
            let token = self.next()?;
            return self.unexpected(token, "command");
        }
        let word = self.next()?;
        Ok(Ok(match keyword {
            Keyword::If => Node::If(self.deeper(open.span, |parser| parser.branch(open, "if", Keyword::If))?),
            Keyword::With => {
                Node::With(self.deeper(open.span, |parser| parser.branch(open, "with", Keyword::With))?)
            }
            Keyword::Range => Node::Range(Box::new(self.deeper(open.span, |parser| parser.range(open))?)),
            Keyword::Template => self.invocation(word)?,
            Keyword::Block => self.block(open, word)?,
            Keyword::Break | Keyword::Continue => self.leave(word, keyword)?,
            Keyword::End => {
                self.expect(Kind::Close, "end")?;
                return Ok(Err(Stop::End));
            }
            Keyword::Else => {
                let next = self.peek()?;
                if !matches!(next.kind, Kind::Keyword(Keyword::If | Keyword::With)) {
                    self.expect(Kind::Close, "else")?;
                }
                return Ok(Err(Stop::Else(open.span)));
            }
            Keyword::Define => return self.unexpected(word, "command"),
        }))
    }

    fn leave(&mut self, word: Token, keyword: Keyword) -> Parsed<Node> {
        let name = self.source(word.span);
        self.expect(Kind::Close, &format!("{{{{{name}}}}}"))?;
        if self.scope.ranges == 0 {
            return wrong(word.span, format!("{{{{{name}}}}} outside {{{{range}}}}"));
        }
        Ok(if keyword == Keyword::Break { Node::Break } else { Node::Continue })
    }

    /// A chain of `else if` is one structure, however long: it must not cost a level each.
    fn branch(&mut self, open: Token, context: &str, keyword: Keyword) -> Parsed<Branch> {
        let mark = self.scope.order.len();
        let mut branch = Branch { arms: Vec::new(), otherwise: Vec::new() };
        loop {
            let pipe = self.pipeline(context, Kind::Close)?;
            let (nodes, stop) = self.list(open.span, context)?;
            branch.arms.push((pipe, nodes));
            if let Stop::Else(_) = stop {
                // Another keyword behind `else` is refused by the list.
                if self.peek()?.kind == Kind::Keyword(keyword) {
                    self.next()?;
                    continue;
                }
                branch.otherwise = self.otherwise(open, context)?;
            }
            break;
        }
        self.scope.forget(mark);
        Ok(branch)
    }

    fn range(&mut self, open: Token) -> Parsed<Range> {
        let mark = self.scope.order.len();
        let pipe = self.pipeline("range", Kind::Close)?;
        self.scope.ranges += 1;
        let (body, stop) = self.list(open.span, "range")?;
        self.scope.ranges -= 1;
        let otherwise = match stop {
            Stop::End => Vec::new(),
            Stop::Else(_) => self.otherwise(open, "range")?,
        };
        self.scope.forget(mark);
        Ok(Range { pipe, body, otherwise })
    }

    fn otherwise(&mut self, open: Token, context: &str) -> Parsed<Vec<Node>> {
        match self.list(open.span, context)? {
            (nodes, Stop::End) => Ok(nodes),
            (_, Stop::Else(at)) => wrong(at, "expected end; found {{else}}"),
        }
    }

    fn invocation(&mut self, word: Token) -> Parsed<Node> {
        let at = word.span.to(self.peek()?.span);
        let name = self.template_name("template clause")?;
        let pipe = if self.peek()?.kind == Kind::Close {
            self.next()?;
            None
        } else {
            Some(self.pipeline("template clause", Kind::Close)?)
        };
        Ok(invocation(at, &name, pipe))
    }

    fn block(&mut self, open: Token, word: Token) -> Parsed<Node> {
        let at = word.span.to(self.peek()?.span);
        let name = self.template_name("block clause")?;
        let pipe = self.pipeline("block clause", Kind::Close)?;
        self.body(open, &name, "block clause")?;
        Ok(invocation(at, &name, Some(pipe)))
    }
}

fn invocation(at: Span, name: &str, pipe: Option<Pipe>) -> Node {
    let at = pipe.as_ref().map_or(at, |pipe| at.to(pipe.at));
    Node::Template(Box::new(Invocation { at, name: name.into(), pipe }))
}
