//! The form in the middle: what a definition's schema says, read once, with everything that any printer needs.

use crate::crd::Reader;
use mizzen_text::At;
use serde_json::{Map, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub kind: Kind,
    pub format: String,
    pub title: String,
    pub description: String,
    pub default: Option<Value>,
    pub nullable: bool,
    /// Fields that the schema does not have are kept.
    pub preserves_unknown: bool,
    /// Sorted by name.
    pub fields: Vec<Field>,
    /// Sorted; in a part of `oneOf` and the like they need not be among the fields.
    pub required: Vec<String>,
    pub additional: Additional,
    pub items: Option<Box<Schema>>,
    /// `enum`.
    pub values: Vec<Value>,
    pub limits: Limits,
    pub all_of: Vec<Schema>,
    pub any_of: Vec<Schema>,
    pub one_of: Vec<Schema>,
    pub not: Option<Box<Schema>>,
    pub rules: Vec<Rule>,
    /// How an API server merges the list or map, and the like: carried along, not understood.
    pub extensions: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub schema: Schema,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
}

/// What may stand under keys that are no field.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Additional {
    #[default]
    None,
    Any,
    Like(Box<Schema>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    /// The minimum itself is too small.
    pub above: bool,
    pub below: bool,
    pub multiple_of: Option<f64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub pattern: Option<String>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub unique: bool,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
}

/// A rule in CEL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub text: String,
    pub message: Option<String>,
    /// All that the definition says of it.
    pub whole: Value,
}

impl Schema {
    pub fn is_required(&self, field: &str) -> bool {
        self.required.iter().any(|required| required == field)
    }

    /// Whether it has fields of its own, so that it becomes a type.
    pub(crate) fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Object | Kind::Any) && !self.fields.is_empty()
    }
}

impl Limits {
    /// What kcl-openapi knows of: without the number of a map's entries.
    pub(crate) fn any(&self) -> bool {
        self.minimum.is_some()
            || self.maximum.is_some()
            || self.multiple_of.is_some()
            || self.min_length.is_some()
            || self.max_length.is_some()
            || self.pattern.is_some()
            || self.min_items.is_some()
            || self.max_items.is_some()
            || self.unique
    }
}

const CARRIED: [&str; 4] = [
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-embedded-resource",
];

impl Reader<'_> {
    /// One schema and those in it. What is wrong is told, and left out.
    pub(crate) fn schema(&mut self, value: &Value, at: &At<'_>) -> Schema {
        let Some(words) = value.as_object() else {
            self.refuse(at, "must be a map: the schema of a value");
            return Schema::default();
        };
        if words.contains_key("$ref") {
            self.refuse(&at.field("$ref"), "cannot be in a definition: Kubernetes takes no references");
        }
        let text = |reader: &mut Self, word: &str| match words.get(word) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => {
                reader.refuse(&at.field(word), "must be text");
                String::new()
            }
        };
        let is = |word: &str| words.get(word) == Some(&Value::Bool(true));
        let kind = if is("x-kubernetes-int-or-string") { Kind::IntOrString } else { self.kind(words, at) };
        let mut fields = Vec::new();
        match words.get("properties") {
            None | Some(Value::Null) => {}
            Some(Value::Object(properties)) => {
                let at = at.field("properties");
                for (name, value) in properties {
                    fields.push(Field { name: name.clone(), schema: self.schema(value, &at.field(name)) });
                }
            }
            Some(_) => self.refuse(&at.field("properties"), "must be a map of schemas"),
        }
        let mut required = self.texts(words, "required", at);
        required.sort();
        Schema {
            kind,
            format: text(self, "format"),
            title: text(self, "title"),
            description: text(self, "description"),
            default: words.get("default").filter(|value| !value.is_null()).cloned(),
            nullable: is("nullable"),
            preserves_unknown: is("x-kubernetes-preserve-unknown-fields"),
            fields,
            required,
            additional: match words.get("additionalProperties") {
                None | Some(Value::Null | Value::Bool(false)) => Additional::None,
                Some(Value::Bool(true)) => Additional::Any,
                Some(value) => {
                    Additional::Like(Box::new(self.schema(value, &at.field("additionalProperties"))))
                }
            },
            items: match words.get("items") {
                None | Some(Value::Null) => None,
                Some(value) => Some(Box::new(self.schema(value, &at.field("items")))),
            },
            values: words.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            limits: self.limits(words, at),
            all_of: self.schemas(words, "allOf", at),
            any_of: self.schemas(words, "anyOf", at),
            one_of: self.schemas(words, "oneOf", at),
            not: match words.get("not") {
                None | Some(Value::Null) => None,
                Some(value) => Some(Box::new(self.schema(value, &at.field("not")))),
            },
            rules: self.rules(words, at),
            extensions: CARRIED
                .iter()
                .filter_map(|word| Some(((*word).to_owned(), words.get(*word)?.clone())))
                .collect(),
        }
    }

    fn kind(&mut self, words: &Map<String, Value>, at: &At<'_>) -> Kind {
        match words.get("type") {
            None | Some(Value::Null) => Kind::Any,
            Some(Value::String(name)) => match name.as_str() {
                "object" => Kind::Object,
                "array" => Kind::Array,
                "string" => Kind::String,
                "integer" => Kind::Integer,
                "number" => Kind::Number,
                "boolean" => Kind::Boolean,
                "" => Kind::Any,
                _ => {
                    let message = "must be one of object, array, string, integer, number, boolean";
                    self.refuse(&at.field("type"), message);
                    Kind::Any
                }
            },
            Some(_) => {
                self.refuse(&at.field("type"), "must be text");
                Kind::Any
            }
        }
    }

    fn limits(&mut self, words: &Map<String, Value>, at: &At<'_>) -> Limits {
        let mut number = |word: &str| match words.get(word) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) => number.as_f64(),
            Some(_) => {
                self.refuse(&at.field(word), "must be a number");
                None
            }
        };
        let (minimum, maximum, multiple_of) = (number("minimum"), number("maximum"), number("multipleOf"));
        let mut count = |word: &str| match words.get(word) {
            None | Some(Value::Null) => None,
            Some(value) => {
                let count = value.as_u64();
                if count.is_none() {
                    self.refuse(&at.field(word), "must be a whole number, 0 or more");
                }
                count
            }
        };
        let is = |word: &str| words.get(word) == Some(&Value::Bool(true));
        Limits {
            minimum,
            maximum,
            above: is("exclusiveMinimum"),
            below: is("exclusiveMaximum"),
            multiple_of,
            min_length: count("minLength"),
            max_length: count("maxLength"),
            pattern: words
                .get("pattern")
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            unique: is("uniqueItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
        }
    }

    fn schemas(&mut self, words: &Map<String, Value>, word: &str, at: &At<'_>) -> Vec<Schema> {
        let at = at.field(word);
        match words.get(word) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(parts)) => {
                parts.iter().enumerate().map(|(place, part)| self.schema(part, &at.index(place))).collect()
            }
            Some(_) => {
                self.refuse(&at, "must be a list of schemas");
                Vec::new()
            }
        }
    }

    fn texts(&mut self, words: &Map<String, Value>, word: &str, at: &At<'_>) -> Vec<String> {
        let at = at.field(word);
        let texts = match words.get(word) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            Some(_) => None,
        };
        texts.unwrap_or_else(|| {
            self.refuse(&at, "must be a list of names");
            Vec::new()
        })
    }

    fn rules(&mut self, words: &Map<String, Value>, at: &At<'_>) -> Vec<Rule> {
        let word = "x-kubernetes-validations";
        let at = at.field(word);
        let mut rules = Vec::new();
        match words.get(word) {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                for (place, item) in items.iter().enumerate() {
                    match item["rule"].as_str() {
                        Some(text) => rules.push(Rule {
                            text: text.to_owned(),
                            message: item["message"].as_str().map(str::to_owned),
                            whole: item.clone(),
                        }),
                        None => self.refuse(&at.index(place), "must have a `rule`, which is text"),
                    }
                }
            }
            Some(_) => self.refuse(&at, "must be a list of rules"),
        }
        rules
    }
}
