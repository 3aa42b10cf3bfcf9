//! Random templates out of a grammar: mostly sensible, sometimes refused.

/// Repeatable: the same seed gives the same templates.
pub(crate) struct Grammar {
    state: u64,
    variables: Vec<String>,
    made: usize,
    ranges: usize,
    defining: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Int,
    Float,
    Bool,
    List,
    Map,
    Nothing,
}

const PATHS: &[&str] = &[
    "text",
    "empty",
    "unicode",
    "quotes",
    "lines",
    "digits",
    "yes",
    "no",
    "zero",
    "one",
    "int",
    "float",
    "big",
    "huge",
    "tiny",
    "negative",
    "list",
    "numbers",
    "nothing",
    "mixed",
    "map",
    "map.a",
    "map.a.deep",
    "map.a.deep.er",
    "map.b",
    "map.z",
    "map.none",
    "map.none.below",
    "blank",
    "items",
    "missing",
    "missing.below",
    "text.below",
];

const FORMATS: &[&str] = &[
    "%v", "%s", "%d", "%q", "%t", "%f", "%g", "%e", "%x", "%X", "%o", "%b", "%c", "%U", "%T", "%+v", "%#v",
    "%5v", "%-7v|", "%07.2f", "%+d", "% d", "%.3s", "%8.3g", "%#x", "%#o", "%#q", "%+q", "%O", "%E", "%G",
    "%y", "%%", "%5.1f%%", "%-5d|", "%05d", "%.0f", "%3c", "%*d", "%.*f", "%[1]v", "%[2]v", "%!", "%", "%z",
    "% x", "%#v %v", "%6.2v", "%10q", "%.10g", "%.1e", "%#g", "%#.3x", "%+.2e", "%w", "%010v", "%-010v|",
    "%x %X",
];

impl Grammar {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, variables: Vec::new(), made: 0, ranges: 0, defining: false }
    }

    fn below(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 16).unwrap_or(0) % count
    }

    fn pick(&mut self, from: &[&str]) -> String {
        from[self.below(from.len())].to_owned()
    }

    pub(crate) fn template(&mut self) -> String {
        self.variables.clear();
        self.made = 0;
        let mut text = String::new();
        if self.below(3) == 0 {
            self.defining = true;
            text += &format!("{{{{ define \"d\" }}}}<{}>{{{{ end }}}}", self.nodes(2));
            self.defining = false;
            self.variables.clear();
        } else {
            text += "{{ define \"d\" }}({{ . }}){{ end }}";
        }
        text + &self.nodes(3)
    }

    fn nodes(&mut self, depth: usize) -> String {
        let count = 1 + self.below(3);
        (0..count).map(|_| self.node(depth)).collect()
    }

    fn open(&mut self) -> String {
        self.pick(&["{{ ", "{{ ", "{{", "{{- "])
    }

    fn close(&mut self) -> String {
        self.pick(&[" }}", " }}", "}}", " -}}"])
    }

    fn action(&mut self, inner: &str) -> String {
        let (open, close) = (self.open(), self.close());
        format!("{open}{inner}{close}")
    }

    fn node(&mut self, depth: usize) -> String {
        if depth == 0 {
            let pipe = self.pipe(1);
            return self.action(&pipe);
        }
        match self.below(16) {
            0 => self.pick(&[" text ", "\n", "a: b\n", "  ", "é"]),
            1 => self.pick(&["{{/* c */}}", "{{- /* c */}}", "{{/* c */ -}} ", " {{- /* c */ -}} "]),
            2..=5 => {
                let pipe = self.pipe(2);
                self.action(&pipe)
            }
            6 | 7 => {
                let pipe = self.pipe(2);
                let name = if self.variables.is_empty() || self.below(2) == 0 {
                    self.made += 1;
                    format!("$v{}", self.made)
                } else {
                    self.variable()
                };
                let text = self.action(&format!("{name} := {pipe}"));
                self.variables.push(name);
                text
            }
            8 if !self.variables.is_empty() => {
                let (name, pipe) = (self.variable(), self.pipe(2));
                self.action(&format!("{name} = {pipe}"))
            }
            8..=10 => self.branch("if", depth),
            11 | 12 => self.branch("with", depth),
            // Not in itself: Go would go a hundred thousand levels deep.
            13 if !self.defining => {
                let pipe = self.pipe(1);
                self.action(&format!("template \"d\" {pipe}"))
            }
            _ => self.range(depth),
        }
    }

    fn variable(&mut self) -> String {
        let index = self.below(self.variables.len());
        self.variables[index].clone()
    }

    fn branch(&mut self, word: &str, depth: usize) -> String {
        let mark = self.variables.len();
        let condition = self.pipe(2);
        let mut text = self.action(&format!("{word} {condition}"));
        text += &self.nodes(depth - 1);
        if self.below(3) == 0 {
            let condition = self.pipe(1);
            text += &self.action(&format!("else {word} {condition}"));
            text += &self.nodes(depth - 1);
        }
        if self.below(2) == 0 {
            text += &self.action("else");
            text += &self.nodes(depth - 1);
        }
        self.variables.truncate(mark);
        text + &self.action("end")
    }

    fn range(&mut self, depth: usize) -> String {
        let mark = self.variables.len();
        let what = match self.below(4) {
            0 => self.pick(&["3", "(int .Values.one)", ".Values.items", "(list 1 2 nil)", "0", "(int64 2)"]),
            1 => self.pick(&[
                ".Values.list",
                ".Values.map",
                ".Values.mixed",
                ".Values.nothing",
                ".Values.numbers",
            ]),
            2 => self.fitting(Kind::List, 1),
            // Never a large number: Go has no limits.
            _ => {
                let kind =
                    [Kind::List, Kind::Map, Kind::Map, Kind::Nothing, Kind::Float, Kind::Text][self.below(6)];
                self.fitting(kind, 1)
            }
        };
        let declared = match self.below(4) {
            0 => Vec::new(),
            1 => vec!["$x".to_owned()],
            _ => vec!["$i".to_owned(), "$x".to_owned()],
        };
        let names = declared.join(", ");
        let head = if declared.is_empty() { what } else { format!("{names} := {what}") };
        self.variables.extend(declared);
        let mut text = self.action(&format!("range {head}"));
        self.ranges += 1;
        text += &self.nodes(depth - 1);
        if self.below(5) == 0 {
            let word = self.pick(&["break", "continue"]);
            let condition = self.pipe(1);
            text += &format!("{{{{ if {condition} }}}}{{{{ {word} }}}}{{{{ end }}}}");
            text += &self.nodes(depth - 1);
        }
        self.ranges -= 1;
        if self.below(3) == 0 {
            text += &self.action("else");
            text += &self.nodes(depth - 1);
        }
        self.variables.truncate(mark);
        text + &self.action("end")
    }

    /// Mostly something whose types fit; a template that is refused shows little.
    fn pipe(&mut self, depth: usize) -> String {
        if self.below(12) != 0 {
            let kind = self.kind();
            let text = self.fitting(kind, depth);
            return text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map_or(
                text.clone(),
                |inner| {
                    if inner.contains(['(', ')']) { text.clone() } else { inner.to_owned() }
                },
            );
        }
        let mut text = self.command(depth);
        while self.below(4) == 0 {
            text += " | ";
            text += &self.function(depth.saturating_sub(1), true);
        }
        text
    }

    fn kind(&mut self) -> Kind {
        [Kind::Text, Kind::Int, Kind::Float, Kind::Bool, Kind::List, Kind::Map, Kind::Nothing][self.below(7)]
    }

    /// An operand of that kind.
    fn fitting(&mut self, kind: Kind, depth: usize) -> String {
        if depth > 0
            && self.below(2) == 0
            && let Some(call) = self.fitting_call(kind, depth - 1)
        {
            return format!("({call})");
        }
        match kind {
            Kind::Text => self.pick(&[
                ".Values.text",
                "$.Values.empty",
                ".Values.unicode",
                ".Values.quotes",
                "$.Values.lines",
                ".Values.digits",
                "\"hello\"",
                "`a\\b`",
                "\"\"",
                ".Values.map.z",
                "(.Values.map).a.deep.er",
                "$.Values.map.a.deep.er",
            ]),
            Kind::Int => self.pick(&[
                "0",
                "1",
                "-7",
                "0x1F",
                "'a'",
                "1_000",
                "(int .Values.int)",
                "(int64 .Values.negative)",
            ]),
            Kind::Float => self.pick(&[
                ".Values.zero",
                ".Values.one",
                ".Values.float",
                "$.Values.big",
                ".Values.huge",
                ".Values.tiny",
                "1.5",
                "1e3",
                ".Values.negative",
                ".Values.map.b",
            ]),
            Kind::Bool => self.pick(&["true", "false", ".Values.yes", "$.Values.no"]),
            Kind::List => self.pick(&[
                ".Values.list",
                ".Values.numbers",
                ".Values.nothing",
                "$.Values.mixed",
                ".Values.items",
                "(list 1 nil \"x\")",
            ]),
            Kind::Map => {
                self.pick(&[".Values.map", ".Values.map.a", "$.Values.blank", "(dict \"k\" 1 \"n\" nil)"])
            }
            Kind::Nothing => self.pick(&[
                ".Values.missing",
                "(.Values.missing).below",
                "$.Values.map.none",
                "(index .Values.mixed 3)",
                "(dict \"n\" nil).n",
            ]),
        }
    }

    fn fitting_call(&mut self, kind: Kind, depth: usize) -> Option<String> {
        let any = self.kind();
        Some(match (kind, self.below(6)) {
            (Kind::Bool, 0) => format!("not {}", self.fitting(any, depth)),
            (Kind::Bool, 1) => {
                let kind = [Kind::Text, Kind::Int, Kind::Float][self.below(3)];
                let name = self.pick(&["lt", "le", "gt", "ge"]);
                format!("{name} {} {}", self.fitting(kind, depth), self.fitting(kind, depth))
            }
            (Kind::Bool, 2) => {
                format!("eq {} {}", self.fitting(any, depth), self.fitting(Kind::Nothing, depth))
            }
            (Kind::Bool, _) => {
                let kind = [Kind::Text, Kind::Int, Kind::Float, Kind::Bool][self.below(4)];
                let name = self.pick(&["eq", "ne"]);
                format!("{name} {} {}", self.fitting(kind, depth), self.fitting(kind, depth))
            }
            (Kind::Int, 0) => format!("{} | len", self.fitting(Kind::Text, depth)),
            (Kind::Int, 1) => format!("len {}", self.fitting(Kind::List, depth)),
            (Kind::Int, 2) => format!("len {}", self.fitting(Kind::Map, depth)),
            (Kind::Text, 0) => {
                let name = self.pick(&["print", "println", "html", "urlquery", "js"]);
                format!("{name} {} {}", self.fitting(any, depth), self.fitting(kind, depth))
            }
            (Kind::Text, 1) => {
                let other = self.kind();
                format!(
                    "print {} {} {}",
                    self.fitting(any, depth),
                    self.fitting(other, depth),
                    self.fitting(any, depth)
                )
            }
            (Kind::Text, 2..=4) => {
                let format = self.pick(FORMATS);
                format!("printf {format:?} {}", self.fitting(any, depth))
            }
            (_, 5) => {
                let name = self.pick(&["and", "or"]);
                format!("{name} {} {}", self.fitting(kind, depth), self.fitting(kind, depth))
            }
            (Kind::Map, 4) => format!("index .Values.items {}", self.below(3)),
            (Kind::List, 3 | 4) => {
                format!("list {} {}", self.fitting(any, depth), self.fitting(Kind::Text, depth))
            }
            (Kind::Nothing, 4) => format!("{} | or {}", self.fitting(kind, depth), self.fitting(kind, depth)),
            _ => return None,
        })
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(3) == 0 { self.operand(depth) } else { self.function(depth - 1, false) }
    }

    fn function(&mut self, depth: usize, piped: bool) -> String {
        let missing = usize::from(piped);
        let (name, count) = match self.below(22) {
            0..=2 => ("eq", 2),
            3 => ("ne", 2),
            4 => ("lt", 2),
            5 => ("le", 2),
            6 => ("gt", 2),
            7 => ("ge", 2),
            8 | 9 => ("and", 2 + self.below(2)),
            10 | 11 => ("or", 2 + self.below(2)),
            12 => ("not", 1),
            13 => ("len", 1),
            14 => ("print", 1 + self.below(3)),
            15 => ("println", 1 + self.below(2)),
            16 => ("list", self.below(3) + 1),
            17 => ("html", 1),
            18 => ("urlquery", 1),
            19 => {
                let operand = self.operand(depth);
                let key = self.pick(&[
                    "0",
                    "1",
                    "\"a\"",
                    "\"name\"",
                    ".Values.one",
                    "(int .Values.one)",
                    "7",
                    "nil",
                    "-1",
                ]);
                return if piped { format!("index {operand}") } else { format!("index {operand} {key}") };
            }
            _ => {
                let format = self.pick(FORMATS);
                let count = 1 + self.below(2);
                let arguments: String =
                    (missing..count).map(|_| format!(" {}", self.operand(depth))).collect();
                return format!("printf {format:?}{arguments}");
            }
        };
        let arguments: String =
            (missing..count.max(missing)).map(|_| format!(" {}", self.operand(depth))).collect();
        format!("{name}{arguments}")
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.below(14) {
            0 => self.pick(&[
                "1",
                "0",
                "-7",
                "42",
                "3.5",
                "1e3",
                "0x1F",
                "'a'",
                "1_000",
                "0b101",
                "017",
                "1e-7",
                "100000000",
            ]),
            1 => self.pick(&[
                "\"hello\"",
                "\"\"",
                "`raw \"x\"`",
                "\"a\\n\\\"b\\\" \\u00e9\"",
                "\"12\"",
                "\"x\"",
            ]),
            2 => self.pick(&["true", "false", "nil"]),
            3 if !self.variables.is_empty() => {
                let variable = self.variable();
                let field = self.pick(&["", "", "", ".name", ".a", ".port"]);
                variable + &field
            }
            4 => self.pick(&[
                "(int .Values.int)",
                "(int64 .Values.negative)",
                "(dict \"k\" 1 \"n\" nil)",
                "(list \"a\" 2)",
            ]),
            5 if self.ranges > 0 => self.pick(&[".", ".", ".name", ".port"]),
            6 | 7 if depth > 0 => {
                let pipe = self.pipe(depth - 1);
                let field = self.pick(&["", "", "", ".a", ".name", ".er.x"]);
                format!("({pipe}){field}")
            }
            8 => {
                let path = self.pick(PATHS);
                format!("$.Values.{path}")
            }
            _ => {
                let path = self.pick(PATHS);
                format!(".Values.{path}")
            }
        }
    }
}
