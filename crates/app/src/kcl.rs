//! The tables as KCL schemas, for whoever writes applications in that language: what `kcl run` prints of an `App` is an
//! `app.yaml`. What KCL cannot know is left to `build`, as with the JSON Schema.

use crate::{
    front::{
        self, COMMON,
        shape::{Attribute, Block, Rule, Shape, Syntax},
    },
    platform, project,
    schema::File,
};
use mizzen_backbone::kcl::{self, Declaration, escaped, identifier};
use serde_json::Value;

/// What a file of the models begins with.
const HEAD: &str = "\
\"\"\"
What an application can say. Written by `mizzen app schema --kcl`: to change it, write it anew.
\"\"\"
import regex

_regex_match = regex.match


";

/// One file of KCL with a schema for each block.
pub fn kcl(file: File) -> String {
    let (name, about, block) = match file {
        File::App => ("App", "An application: what `kcl run` prints of one is an app.yaml", &project::BLOCK),
        File::Overlay => ("Overlay", "What differs in one stack of an application", &project::BLOCK),
        File::Platform => ("Platform", "What the platform sets for all applications", &platform::BLOCK),
    };
    let mut printer = Printer { whole: file != File::Overlay, declarations: Vec::new(), names: Vec::new() };
    let without: &[&str] = if file == File::Overlay { &["stacks"] } else { &[] };
    printer.declare(name, about, block, &[], without);
    let text: String = printer.declarations.iter().map(ToString::to_string).collect();
    format!("{HEAD}{}", text.trim_end()) + "\n"
}

struct Printer {
    /// Whether what is needed must be there: an overlay is a part.
    whole: bool,
    declarations: Vec<Declaration>,
    /// The blocks that have a schema, by what they are.
    names: Vec<(&'static Block, String)>,
}

impl Printer {
    fn declare(
        &mut self,
        name: &str,
        about: &str,
        block: &'static Block,
        also: &[&'static Attribute],
        without: &[&str],
    ) {
        self.names.push((block, name.to_owned()));
        // Its place comes before those of its parts.
        let place = self.declarations.len();
        self.declarations.push(Declaration { name: name.to_owned(), ..Declaration::default() });
        let mut attributes = Vec::new();
        let mut checks = Vec::new();
        let mut shown: Vec<&'static Attribute> =
            block.attributes.iter().chain(also.iter().copied()).collect();
        shown.retain(|attribute| !without.contains(&attribute.name));
        for attribute in shown {
            let named = identifier(attribute.name, false);
            let kind = self.shape(&attribute.shape, name, attribute);
            let required = attribute.required && self.whole;
            let about = attribute.about.replace("\"\"\"", "'''");
            attributes.push(kcl::Attribute { required, ..kcl::Attribute::new(&named, &kind, &about) });
            checks.extend(limits(&attribute.shape, &named, required));
        }
        if self.whole {
            checks.extend(block.rules.iter().map(|rule| rule_check(*rule)));
        }
        let about = about.to_owned();
        self.declarations[place] =
            Declaration { name: name.to_owned(), about, attributes, open: false, checks };
    }

    /// The schema of a block, which is declared where it is not yet; `owner` is the one that it is in.
    fn block(&mut self, block: &'static Block, owner: &str, attribute: &Attribute) -> String {
        if let Some((_, name)) = self.names.iter().find(|(known, _)| std::ptr::eq(*known, block)) {
            return name.clone();
        }
        let mut letters = attribute.name.chars();
        let part: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        // The application's own parts go without its name.
        let name = if owner == "App" || owner == "Overlay" { part } else { format!("{owner}{part}") };
        self.declare(&name, attribute.about, block, &[], &[]);
        name
    }

    fn shape(&mut self, shape: &'static Shape, owner: &str, attribute: &'static Attribute) -> String {
        match *shape {
            Shape::Text(_) | Shape::Duration | Shape::Target | Shape::Gateway | Shape::Name(_) => {
                "str".to_owned()
            }
            Shape::Word(words) => union(words),
            Shape::WordTo(words) => union(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
            Shape::Whole { .. } | Shape::WholeText { .. } => "int".to_owned(),
            Shape::Number { .. } => "int | float".to_owned(),
            Shape::Truth | Shape::Said | Shape::Untruth => "bool".to_owned(),
            Shape::List { of, .. } => format!("[{}]", self.shape(of, owner, attribute)),
            Shape::Joined(_) => "[str]".to_owned(),
            Shape::Map { of, .. } | Shape::Pairs { of, .. } => {
                format!("{{str:{}}}", self.shape(of, owner, attribute))
            }
            Shape::Block(block) => self.block(block, owner, attribute),
            Shape::Single(of) | Shape::Within(_, of) => self.shape(of, owner, attribute),
            Shape::Match => {
                self.declare_once("Match", "A text that is compared, in one of three ways", &front::MATCH);
                "str | Match".to_owned()
            }
            Shape::MatchOrPresent => {
                let about = "A text that is compared in one of three ways, or nothing: it must only be there";
                self.declare_once("MatchOrPresent", about, &PRESENT);
                "str | MatchOrPresent".to_owned()
            }
            Shape::Selector => "\"self\" | {str:str}".to_owned(),
            Shape::Free => "{str:any}".to_owned(),
            Shape::Own(own) => of_schema(&(own.schema)()),
            Shape::Istio => {
                self.istio();
                "Istio".to_owned()
            }
        }
    }

    fn declare_once(&mut self, name: &str, about: &str, block: &'static Block) {
        if !self.declarations.iter().any(|known| known.name == name) {
            self.declare(name, about, block, &[], &[]);
        }
    }

    /// Every kind, and under it blocks of the user's own names.
    fn istio(&mut self) {
        let place = self.declarations.len();
        self.declarations.push(Declaration::default());
        let mut attributes = Vec::new();
        for front in front::ALL {
            let kind = front.kind.name();
            let own = |attribute: &&'static Attribute| front.block.attribute(attribute.name).is_none();
            let common: Vec<&'static Attribute> = COMMON.attributes.iter().filter(own).collect();
            self.declare(kind, &format!("What the application wants of a {kind}"), front.block, &common, &[]);
            let about = format!("{kind} objects, by names of your own");
            attributes.push(kcl::Attribute::new(front.word, &format!("{{str:{kind}}}"), &about));
        }
        self.declarations[place] = Declaration {
            name: "Istio".to_owned(),
            about: "What the application wants from the mesh".to_owned(),
            attributes,
            ..Declaration::default()
        };
    }
}

static PRESENT: Block =
    Block::new(front::MATCH.attributes).rules(&[Rule::AtMostOne(&["exact", "prefix", "regex"])]);

/// The words as Istio spells them, and in lower case.
fn union(words: &[&str]) -> String {
    let lower = words.iter().map(|word| word.to_lowercase()).filter(|lower| !words.contains(&lower.as_str()));
    let all = words.iter().map(|word| (*word).to_owned()).chain(lower);
    all.map(|word| escaped(&word)).collect::<Vec<_>>().join(" | ")
}

fn given(name: &str) -> String {
    format!("{} not in [None, Undefined]", identifier(name, false))
}

fn rule_check(rule: Rule) -> String {
    let count = |names: &[&str]| {
        let given: Vec<String> = names.iter().map(|name| given(name)).collect();
        format!("len([_is for _is in [{}] if _is])", given.join(", "))
    };
    let told =
        |how: &str, names: &[&str]| escaped(&format!("{how} one of {} must be given", names.join(", ")));
    match rule {
        Rule::ExactlyOne(names) => format!("{} == 1, {}", count(names), told("exactly", names)),
        Rule::AtLeastOne(names) => format!("{} >= 1, {}", count(names), told("at least", names)),
        Rule::AtMostOne(names) => {
            let told = escaped(&format!("only one of {} may be given", names.join(", ")));
            format!("{} <= 1, {told}", count(names))
        }
        Rule::Needs(name, other) => {
            let told = escaped(&format!("{name} needs {other} beside it"));
            format!("{} if {}, {told}", given(other), given(name))
        }
    }
}

/// What can be checked of a single value, and of those in a list or a map.
fn limits(shape: &Shape, name: &str, required: bool) -> Vec<String> {
    let there = if required { String::new() } else { format!(" if {name} not in [None, Undefined]") };
    let each = |of: &Shape, before: &str| {
        let inner = limits(of, "_it", true);
        inner
            .into_iter()
            .map(|line| format!("all {before} in {name} {{ {line} }} if {name}"))
            .collect::<Vec<_>>()
    };
    let not_empty = |syntax: Syntax| match syntax("") {
        Ok(()) => Vec::new(),
        Err(_) => vec![format!("len({name}) >= 1{there}")],
    };
    match *shape {
        Shape::Text(syntax) => not_empty(syntax),
        Shape::Gateway | Shape::Name(_) => vec![format!("len({name}) >= 1{there}")],
        Shape::Whole { least, most, .. } | Shape::WholeText { least, most } => {
            let mut lines = Vec::new();
            if least > i64::MIN {
                lines.push(format!("{name} >= {least}{there}"));
            }
            if most < i64::MAX {
                lines.push(format!("{name} <= {most}{there}"));
            }
            lines
        }
        Shape::Number { least, most } => {
            vec![format!("{name} >= {least}{there}"), format!("{name} <= {most}{there}")]
        }
        Shape::Duration => vec![format!("_regex_match({name}, r\"^([0-9.]+(h|m|s|ms))+$\"){there}")],
        Shape::Target => {
            let kinds = front::TARGETS.map(|(kind, _)| kind);
            vec![format!("_regex_match({name}, r\"^({})/.+$\"){there}", kinds.join("|"))]
        }
        Shape::List { of, least, most } => {
            let mut lines = Vec::new();
            if least > 0 {
                lines.push(format!("len({name}) >= {least}{there}"));
            }
            if most < usize::MAX {
                lines.push(format!("len({name}) <= {most}{there}"));
            }
            lines.extend(each(of, "_it"));
            lines
        }
        Shape::Map { of, most, .. } => {
            let mut lines = Vec::new();
            if most < usize::MAX {
                lines.push(format!("len({name}) <= {most}{there}"));
            }
            lines.extend(each(of, "_, _it"));
            lines
        }
        Shape::Pairs { of, .. } => each(of, "_, _it"),
        Shape::Joined(_) => vec![format!("len({name}) >= 1{there}")],
        Shape::Single(of) | Shape::Within(_, of) => limits(of, name, required),
        Shape::Word(_)
        | Shape::WordTo(_)
        | Shape::Truth
        | Shape::Said
        | Shape::Untruth
        | Shape::Block(_)
        | Shape::Match
        | Shape::MatchOrPresent
        | Shape::Selector
        | Shape::Free
        | Shape::Own(_)
        | Shape::Istio => Vec::new(),
    }
}

/// The type of what only a JSON Schema describes.
fn of_schema(schema: &Value) -> String {
    for word in ["oneOf", "anyOf"] {
        if let Some(parts) = schema[word].as_array() {
            let mut kinds: Vec<String> =
                parts.iter().filter(|part| part["type"] != "null").map(of_schema).collect();
            kinds.dedup();
            return if kinds.iter().any(|kind| kind == "any") { "any".to_owned() } else { kinds.join(" | ") };
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| kcl::literal(word, false)).collect::<Vec<_>>().join(" | ");
    }
    match schema["type"].as_str() {
        Some("string") => "str".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some("integer") => "int".to_owned(),
        Some("number") => "int | float".to_owned(),
        Some("array") if schema["items"].is_object() => format!("[{}]", of_schema(&schema["items"])),
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("{{str:{}}}", of_schema(&schema["additionalProperties"]))
        }
        Some("object") => "{str:any}".to_owned(),
        _ => "any".to_owned(),
    }
}
