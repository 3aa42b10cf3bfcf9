//! `semver` and `semverCompare`.

mod constraint;
mod version;

use std::rc::Rc;

use super::TableEntry;
use crate::{Failure, Object, Value};
pub(crate) use constraint::Constraint;
pub(crate) use version::Version;

pub(super) const TABLE: &[TableEntry] = &[
    ("semver", |call| {
        call.exactly(1)?;
        Ok(Value::Object(Rc::new(Version::parse(&call.text(0)?)?)))
    }),
    ("semverCompare", |call| {
        call.exactly(2)?;
        let constraint = Constraint::parse(&call.text(0)?)?;
        Ok(constraint.allows(&Version::parse(&call.text(1)?)?).into())
    }),
];

impl Object for Version {
    fn type_name(&self) -> &str {
        if self.by_value { "semver.Version" } else { "*semver.Version" }
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        let number = |number: u64| Value::Int64(i64::try_from(number).unwrap_or(i64::MAX));
        let other = || match args {
            [Value::Object(other)] if other.type_name() == "*semver.Version" => match other.plain() {
                Value::Text(text) => Self::parse(&text),
                _ => Err(wrong_argument(name)),
            },
            _ => Err(wrong_argument(name)),
        };
        let with = |version: Self| Value::Object(Rc::new(version));
        let compares = matches!(name, "Compare" | "Equal" | "LessThan" | "LessThanEqual" | "GreaterThan")
            || matches!(name, "GreaterThanEqual");
        if self.by_value && (compares || name == "Original") {
            return Ok(None);
        }
        if name == "Equal" && matches!(args, [Value::Nil]) {
            return Ok(Some(false.into()));
        }
        if !compares && !args.is_empty() {
            return Err(wrong_argument(name));
        }
        Ok(Some(match name {
            "Major" => number(self.major),
            "Minor" => number(self.minor),
            "Patch" => number(self.patch),
            "Prerelease" => self.pre.as_str().into(),
            "Metadata" => self.metadata.as_str().into(),
            "Original" => self.original.as_str().into(),
            "String" => self.to_string().into(),
            "IncPatch" => with(self.next_patch()),
            "IncMinor" => with(self.next(self.major, self.minor.saturating_add(1), 0)),
            "IncMajor" => with(self.next(self.major.saturating_add(1), 0, 0)),
            "Compare" => Value::Int(self.compare(&other()?) as i64),
            "Equal" => self.compare(&other()?).is_eq().into(),
            "LessThan" => self.compare(&other()?).is_lt().into(),
            "LessThanEqual" => self.compare(&other()?).is_le().into(),
            "GreaterThan" => self.compare(&other()?).is_gt().into(),
            "GreaterThanEqual" => self.compare(&other()?).is_ge().into(),
            _ => return Ok(None),
        }))
    }

    fn plain(&self) -> Value {
        self.to_string().into()
    }
}

fn wrong_argument(name: &str) -> Failure {
    Failure::new(format!("{name}: wrong arguments; another version compares with one, the rest take none"))
}
