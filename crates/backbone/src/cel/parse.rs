//! Tokens → a tree, by the language's precedences.

use super::{
    Expr, Operator,
    token::{Token, tokens},
};
use serde_json::Value;

/// How deep expressions may stand in each other.
const DEEPEST: usize = 64;

pub(crate) fn parse(text: &str) -> Option<Expr> {
    let mut reader = Reader { tokens: tokens(text)?, next: 0, depth: 0 };
    let expr = reader.expr()?;
    (reader.next == reader.tokens.len()).then_some(expr)
}

struct Reader {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

/// From the loosest to the tightest.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("in", Operator::In),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Over), ("%", Operator::Modulo)],
];

impl Reader {
    fn is(&mut self, sign: &str) -> bool {
        let is = match self.tokens.get(self.next) {
            Some(Token::Sign(next)) => *next == sign,
            Some(Token::Name(name)) => name == sign,
            _ => false,
        };
        self.next += usize::from(is);
        is
    }

    fn must(&mut self, sign: &str) -> Option<()> {
        self.is(sign).then_some(())
    }

    fn expr(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let condition = self.level(0)?;
        let expr = if self.is("?") {
            let yes = self.level(0)?;
            self.must(":")?;
            let no = self.expr()?;
            Expr::Choice(Box::new(condition), Box::new(yes), Box::new(no))
        } else {
            condition
        };
        self.depth -= 1;
        Some(expr)
    }

    fn level(&mut self, level: usize) -> Option<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            left = Expr::Binary(*operator, Box::new(left), Box::new(self.level(level + 1)?));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        let (nots, minuses) = (self.count("!"), self.count("-"));
        let expr = self.member()?;
        let expr = (0..minuses).fold(expr, |expr, _| Expr::Minus(Box::new(expr)));
        Some((0..nots).fold(expr, |expr, _| Expr::Not(Box::new(expr))))
    }

    fn count(&mut self, sign: &str) -> usize {
        let mut count = 0;
        while self.is(sign) {
            count += 1;
        }
        count
    }

    fn member(&mut self) -> Option<Expr> {
        let mut expr = self.primary()?;
        loop {
            if self.is(".") {
                let Some(Token::Name(name)) = self.tokens.get(self.next).cloned() else { return None };
                self.next += 1;
                expr = if self.is("(") {
                    Expr::Call { on: Some(Box::new(expr)), name, arguments: self.list(")")? }
                } else {
                    Expr::Select(Box::new(expr), name)
                };
            } else if self.is("[") {
                let index = self.expr()?;
                self.must("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else {
                return Some(expr);
            }
        }
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.tokens.get(self.next).cloned()?;
        self.next += 1;
        match token {
            Token::Text(text) => Some(Expr::Literal(text.into())),
            Token::Int(number) => Some(Expr::Literal(number.into())),
            Token::Float(number) => Some(Expr::Literal(number.into())),
            Token::Name(name) => match name.as_str() {
                "true" => Some(Expr::Literal(true.into())),
                "false" => Some(Expr::Literal(false.into())),
                "null" => Some(Expr::Literal(Value::Null)),
                "in" => None,
                _ if self.is("(") => self.call(name),
                _ => Some(Expr::Name(name)),
            },
            Token::Sign("(") => {
                let expr = self.expr()?;
                self.must(")")?;
                Some(expr)
            }
            Token::Sign("[") => self.list("]").map(Expr::List),
            Token::Sign("{") => self.map(),
            Token::Sign(_) => None,
        }
    }

    fn call(&mut self, name: String) -> Option<Expr> {
        let arguments = self.list(")")?;
        if name != "has" {
            return Some(Expr::Call { on: None, name, arguments });
        }
        match <[Expr; 1]>::try_from(arguments) {
            Ok([Expr::Select(of, field)]) => Some(Expr::Has(of, field)),
            _ => None,
        }
    }

    fn list(&mut self, end: &str) -> Option<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.is(end) {
            if !items.is_empty() {
                self.must(",")?;
            }
            items.push(self.expr()?);
        }
        Some(items)
    }

    fn map(&mut self) -> Option<Expr> {
        let mut entries = Vec::new();
        while !self.is("}") {
            if !entries.is_empty() {
                self.must(",")?;
            }
            let key = self.expr()?;
            self.must(":")?;
            entries.push((key, self.expr()?));
        }
        Some(Expr::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Box<Expr> {
        Box::new(Expr::Name(name.to_owned()))
    }

    #[test]
    fn operators_bind_as_they_should() {
        let or = |left, right| Expr::Binary(Operator::Or, left, right);
        let and = |left, right| Expr::Binary(Operator::And, left, right);
        assert_eq!(
            parse("a || b && !c"),
            Some(or(name("a"), Box::new(and(name("b"), Box::new(Expr::Not(name("c")))))))
        );
        assert_eq!(
            parse("a ? b : c ? d : e"),
            Some(Expr::Choice(name("a"), name("b"), Box::new(Expr::Choice(name("c"), name("d"), name("e")))))
        );
        assert_eq!(parse("has(self.a)"), Some(Expr::Has(name("self"), "a".to_owned())));
    }

    #[test]
    fn what_is_no_expression_or_is_too_deep_is_nothing() {
        for text in ["", "a b", "has(a)", "'a", "a ?? b", "f(", "[1", "1x", "'''a'''"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000))), None);
    }
}
