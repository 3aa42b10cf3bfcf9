//! The tables as JSON Schema, for editors: names, words, ranges and a sentence for each attribute. What an editor cannot
//! know (other files, other objects, the rules of the kinds) is left to `build`.

use crate::{
    front::{
        self, COMMON,
        shape::{Attribute, Block, Rule, Shape, Syntax},
    },
    platform, project,
};
use serde_json::{Map, Value, json};

/// Which of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    App,
    /// That of a stack: it may say as little as it likes, and remove.
    Overlay,
    Platform,
}

pub fn schema(file: File) -> Value {
    let (title, block) = match file {
        File::App => ("An application", &project::BLOCK),
        File::Overlay => ("What differs in one stack of an application", &project::BLOCK),
        File::Platform => ("What the platform sets for all applications", &platform::BLOCK),
    };
    let mut schema = Printer { whole: file != File::Overlay }.block(block, &[]);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = title.into();
    if file == File::Overlay
        && let Some(properties) = schema["properties"].as_object_mut()
    {
        properties.remove("stacks");
    }
    schema
}

struct Printer {
    /// Whether what is needed must be there: an overlay is a part.
    whole: bool,
}

impl Printer {
    fn block(&self, block: &Block, also: &[&Attribute]) -> Value {
        let attributes = || block.attributes.iter().chain(also.iter().copied());
        let properties: Map<String, Value> =
            attributes().map(|attribute| (attribute.name.to_owned(), self.attribute(attribute))).collect();
        let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
        let required: Vec<&str> =
            attributes().filter(|attribute| attribute.required).map(|attribute| attribute.name).collect();
        if self.whole {
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            let rules: Vec<Value> = block.rules.iter().flat_map(|rule| rule_schema(*rule)).collect();
            if !rules.is_empty() {
                schema["allOf"] = rules.into();
            }
        }
        schema
    }

    /// What an overlay may take away by `null`.
    fn removable(&self, schema: Value) -> Value {
        if self.whole { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) }
    }

    fn attribute(&self, attribute: &Attribute) -> Value {
        let mut schema = self.removable(self.shape(&attribute.shape));
        schema["description"] = attribute.about.into();
        if let Some(default) = attribute.default {
            schema["default"] = default.into();
        }
        schema
    }

    fn shape(&self, shape: &Shape) -> Value {
        match *shape {
            Shape::Text(syntax) => text(syntax),
            Shape::Word(words) => words_schema(words),
            Shape::WordTo(words) => words_schema(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
            Shape::Whole { least, most, .. } | Shape::WholeText { least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Shape::Number { least, most } => json!({"type": "number", "minimum": least, "maximum": most}),
            Shape::Truth | Shape::Untruth => json!({"type": "boolean"}),
            Shape::Said => json!({"const": true}),
            Shape::Duration => json!({"type": "string", "pattern": "^([0-9.]+(h|m|s|ms))+$"}),
            Shape::List { of, least, most } => {
                let mut schema = json!({"type": "array", "items": self.shape(of)});
                if least > 0 {
                    schema["minItems"] = least.into();
                }
                if most < usize::MAX {
                    schema["maxItems"] = most.into();
                }
                schema
            }
            Shape::Joined(syntax) => json!({"type": "array", "items": text(syntax), "minItems": 1}),
            Shape::Map { of, most, .. } => {
                let mut schema =
                    json!({"type": "object", "additionalProperties": self.removable(self.shape(of))});
                if most < usize::MAX {
                    schema["maxProperties"] = most.into();
                }
                schema
            }
            Shape::Pairs { of, .. } => {
                json!({"type": "object", "additionalProperties": self.removable(self.shape(of))})
            }
            Shape::Block(block) => self.block(block, &[]),
            Shape::Single(of) | Shape::Within(_, of) => self.shape(of),
            Shape::Match => json!({"oneOf": [{"type": "string"}, self.block(&front::MATCH, &[])]}),
            Shape::MatchOrPresent => json!({"oneOf": [
                {"type": "string"},
                self.block(&front::MATCH, &[]),
                {"type": "object", "maxProperties": 0},
            ]}),
            Shape::Selector => json!({"oneOf": [
                {"const": "self"},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]}),
            Shape::Target => {
                let kinds = front::TARGETS.map(|(kind, _)| kind);
                json!({"type": "string", "pattern": format!("^({})/.+$", kinds.join("|"))})
            }
            Shape::Gateway | Shape::Name(_) => json!({"type": "string", "minLength": 1}),
            Shape::Free => json!({"type": "object"}),
            Shape::Own(own) => (own.schema)(),
            Shape::Istio => self.istio(),
        }
    }

    /// Every kind, and under it blocks of the user's own names.
    fn istio(&self) -> Value {
        let kinds = front::ALL.iter().map(|front| {
            let own = |attribute: &&Attribute| front.block.attribute(attribute.name).is_none();
            let common: Vec<&Attribute> = COMMON.attributes.iter().filter(own).collect();
            let block = self.removable(self.block(front.block, &common));
            let about = format!("{} objects, by names of your own", front.kind.name());
            let mut kind = self.removable(json!({"type": "object", "additionalProperties": block}));
            kind["description"] = about.into();
            (front.word.to_owned(), kind)
        });
        json!({"type": "object", "properties": kinds.collect::<Map<_, _>>(), "additionalProperties": false})
    }
}

/// A rule that refuses nothing refuses the empty text least of all.
fn text(syntax: Syntax) -> Value {
    match syntax("") {
        Ok(()) => json!({"type": "string"}),
        Err(_) => json!({"type": "string", "minLength": 1}),
    }
}

/// Editors offer the words as Istio spells them; in lower case they are taken, too.
fn words_schema(words: &[&str]) -> Value {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase().replace('*', "\\*")).collect();
    json!({"anyOf": [{"enum": words}, {"type": "string", "pattern": format!("^({})$", lower.join("|"))}]})
}

fn rule_schema(rule: Rule) -> Vec<Value> {
    let one = |names: &[&str]| names.iter().map(|name| json!({"required": [name]})).collect::<Vec<_>>();
    match rule {
        Rule::ExactlyOne(names) => vec![json!({"oneOf": one(names)})],
        Rule::AtLeastOne(names) => vec![json!({"anyOf": one(names)})],
        Rule::AtMostOne(names) => {
            let pairs = names.iter().enumerate().flat_map(|(index, first)| {
                names[index + 1..].iter().map(move |second| json!({"not": {"required": [first, second]}}))
            });
            pairs.collect()
        }
        Rule::Needs(name, other) => vec![json!({"dependencies": {name: [other]}})],
    }
}
