//! Is a text an expression of the Common Expression Language? Istio asks cel-go's parser, which knows no variables or
//! types, only the grammar and the standard macros. Ours answers the same and needs no tree: it walks over the
//! tokens, and its depth is bounded as cel-go's is.

mod grammar;
mod token;

/// The longest expression that cel-go looks at, in characters.
const LONGEST: usize = 100_000;

/// What is wrong with an expression, and at which character (from 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub at: usize,
    pub message: String,
}

pub(crate) fn syntax(text: &str) -> Result<(), Wrong> {
    if text.chars().count() > LONGEST {
        return Err(Wrong { at: 0, message: format!("it is longer than {LONGEST} characters") });
    }
    grammar::expression(token::tokens(text)?, text)
}

#[cfg(test)]
mod tests {
    use super::syntax;

    #[test]
    fn expressions() {
        for good in [
            "response.code >= 400",
            "has(request.headers) && !connection.mtls || a[0].b(1, 'x') in [1, 2,]",
            "a ? b : c ? d : e",
            "-9223372036854775808",
            "- 9223372036854775808",
            "0xFFu + 1.5e3 - .5 * 3u % 2",
            r#"r"\d" + b'\x00' + """a "b" \n""" + '\u00e9'"#,
            ".a.b{c: 1, `d-e`: 2,}.f",
            "{'a': 1, 'b': [,]}",
            "{,}",
            "a.`b-c/d`",
            "a.for.while",
            "[1].all(x, x > 0) && l.map(i, i > 1, i).exists_one((y), y)",
            "has(!!a.b)",
            "l.all(x)",
            "!-1 // why not",
            "a\n.b",
            "has(Expr{}.id)",
            ".has(a)",
        ] {
            assert_eq!(syntax(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn no_expressions() {
        for bad in [
            "",
            "a b",
            "a +",
            "(a",
            "a)",
            "a ?: b",
            "for",
            "if(a)",
            "a.in",
            "a.true",
            "a.?b",
            "a[?0]",
            "[?a]",
            "{?a: b}",
            "A{?b: c}",
            "a().b{}",
            "a.`b`(1)",
            "`a`",
            "a.``",
            "has(a)",
            "has(a[0])",
            "l.all(1, true)",
            "l.map(a.b, 1)",
            "l.exists(__result__, true)",
            "9223372036854775808",
            "--9223372036854775808",
            "18446744073709551616u",
            "1e400",
            "-!a",
            "!-a",
            "'a",
            "'\\q'",
            "'\\ud800'",
            "b'\\u0041'",
            "'a\nb'",
            "a # b",
            "a = b",
            "a & b",
            "f(,)",
            "[1,,]",
            "ä",
        ] {
            assert!(syntax(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, at) in [("a && for", 5), ("a +", 3), ("a b", 2), ("ä", 0), ("'x' + has(a)", 10)] {
            assert_eq!(syntax(text).unwrap_err().at, at, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded_as_upstream_bounds_it() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        let chain = |length: usize| format!("a{}", ".b".repeat(length));
        let sum = |length: usize| format!("a{}", "+b".repeat(length));
        let or = |length: usize| format!("a{}", "||b".repeat(length));
        assert!(syntax(&nested(249)).is_ok() && syntax(&nested(250)).is_err());
        assert!(syntax(&chain(250)).is_ok() && syntax(&chain(251)).is_err());
        assert!(syntax(&sum(250)).is_ok() && syntax(&sum(251)).is_err());
        assert!(syntax(&or(30_000)).is_ok() && syntax(&or(50_000)).is_err(), "only its length is bounded");
        assert!(syntax(&nested(40_000)).is_err());
        assert!(syntax(&"[".repeat(90_000)).is_err());
        assert!(syntax(&format!("{}a", "!".repeat(90_000))).is_ok());
    }
}
