//! `.Files`: a chart's other files, for its own templates only.

use std::{cell::RefCell, collections::BTreeMap, fmt, rc::Rc};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use mizzen_text::yaml;

use super::{chart::File, pattern::Glob};
use crate::{Failure, List, Map, Object, Value};

/// The files by name. A text is copied out of its bytes once in a rendering, however often it is asked for.
pub(super) struct Files {
    files: BTreeMap<Rc<str>, Bytes>,
    texts: Rc<RefCell<BTreeMap<Rc<str>, Rc<str>>>>,
}

impl Files {
    pub(super) fn new(files: &[File]) -> Self {
        let files = files.iter().map(|file| (Rc::from(file.name.as_str()), file.data.clone())).collect();
        Self { files, texts: Rc::default() }
    }

    fn text(&self, name: &str) -> Result<Rc<str>, Failure> {
        let Some((name, data)) = self.files.get_key_value(name) else { return Ok(Rc::from("")) };
        if let Some(known) = self.texts.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let text: Rc<str> = Rc::from(str::from_utf8(data).map_err(|error| {
            Failure::new(format!(
                "the file {name} is not UTF-8 text (byte {}): `.Files.AsSecrets` takes any bytes",
                error.valid_up_to()
            ))
        })?);
        self.texts.borrow_mut().insert(Rc::clone(name), Rc::clone(&text));
        Ok(text)
    }

    fn lines(&self, name: &str) -> Result<List, Failure> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(List::texts(Vec::<&str>::new()));
        }
        Ok(List::texts(text.strip_suffix('\n').unwrap_or(&text).split('\n')))
    }

    fn glob(&self, pattern: &str) -> Self {
        let glob = Glob::new(pattern);
        let matching = self.files.iter().filter(|(name, _)| glob.matches(name));
        let files = matching.map(|(name, data)| (Rc::clone(name), data.clone())).collect();
        Self { files, texts: Rc::clone(&self.texts) }
    }

    /// As the `data` of a ConfigMap or Secret: the names without their folders.
    fn as_data(&self, text: impl Fn(&Bytes) -> String) -> String {
        let entries = self.files.iter().map(|(name, data)| {
            let own = name.rsplit('/').next().unwrap_or(name);
            (own.to_owned(), serde_json::Value::String(text(data)))
        });
        let entries: serde_json::Map<_, _> = entries.collect();
        let mut text = yaml::to_string(&serde_json::Value::Object(entries));
        if text.ends_with('\n') {
            text.pop();
        }
        text
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl Object for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        let wanted = usize::from(matches!(name, "Get" | "GetBytes" | "Lines" | "Glob"));
        let method = wanted == 1 || matches!(name, "AsConfig" | "AsSecrets");
        if method && args.len() != wanted {
            let got = args.len();
            return Err(Failure::new(format!("wrong number of args for {name}: want {wanted} got {got}")));
        }
        let argument = || match args.first() {
            Some(Value::Text(text)) => Ok(Rc::clone(text)),
            Some(Value::Nil) | None => Err(Failure::new("invalid value; expected string")),
            Some(other) => {
                Err(Failure::new(format!("wrong type for value; expected string; got {}", other.type_name())))
            }
        };
        Ok(match name {
            "Get" => Some(Value::Text(self.text(&argument()?)?)),
            "GetBytes" => Some(bytes(self.files.get(&*argument()?).cloned().unwrap_or_default())),
            "Lines" => Some(Value::List(self.lines(&argument()?)?)),
            "Glob" => Some(Value::Object(Rc::new(self.glob(&argument()?)))),
            "AsConfig" => Some(self.as_data(|data| String::from_utf8_lossy(data).into_owned()).into()),
            "AsSecrets" => Some(self.as_data(|data| STANDARD.encode(data)).into()),
            name => Some(bytes(self.files.get(name).cloned().unwrap_or_default())),
        })
    }

    fn plain(&self) -> Value {
        let entries = self.files.iter().map(|(name, data)| (Rc::clone(name), bytes(data.clone())));
        Value::Map(entries.collect::<Map>())
    }
}

/// Go's `[]byte`.
struct Raw(Bytes);

fn bytes(data: Bytes) -> Value {
    Value::Object(Rc::new(Raw(data)))
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Object for Raw {
    fn type_name(&self) -> &str {
        "[]uint8"
    }

    /// `String` is for functions that take bytes for text.
    fn field(&self, name: &str, _args: &[Value]) -> Result<Option<Value>, Failure> {
        if name != "String" {
            return Ok(None);
        }
        let text = str::from_utf8(&self.0).map_err(|error| {
            Failure::new(format!("the file is not UTF-8 text (byte {})", error.valid_up_to()))
        })?;
        Ok(Some(text.into()))
    }

    fn plain(&self) -> Value {
        Value::List(List::new(self.0.iter().map(|byte| Value::Int(i64::from(*byte))).collect()))
    }
}
