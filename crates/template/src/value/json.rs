//! Values out of JSON trees and back. Every number of JSON is a float for templates, as Go's decoder has it.

use serde_json::{Number, Value as Json};

use super::{List, Value};
use crate::Failure;

/// Values in a tree of JSON. They are shared here but not there, so a small value can become a very large tree.
const VALUES: usize = 1_000_000;

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Nil,
            Json::Bool(bool) => Self::Bool(*bool),
            Json::Number(number) => Self::Float(number.as_f64().unwrap_or_default()),
            Json::String(text) => Self::text(text.as_str()),
            Json::Array(items) => Self::List(List::new(items.iter().map(Self::from).collect())),
            Json::Object(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.as_str(), Self::from(value))).collect())
            }
        }
    }
}

impl Value {
    /// The value as JSON has it: whole floats are written without a fraction. A value that is nested deeper than
    /// `depth`, for instance in itself, is refused; so is one that holds others so often that nobody can write it down.
    pub fn to_json(&self, depth: usize) -> Result<Json, Failure> {
        self.to_json_within(depth, &mut { VALUES })
    }

    fn to_json_within(&self, depth: usize, left: &mut usize) -> Result<Json, Failure> {
        let Some(below) = depth.checked_sub(1) else {
            return Err(Failure::limit("the value is nested too deeply, or within itself"));
        };
        *left = left.checked_sub(1).ok_or_else(|| Failure::limit("the value holds too many others"))?;
        Ok(match self {
            Self::Nil => Json::Null,
            Self::Bool(bool) => Json::Bool(*bool),
            Self::Int(int) | Self::Int64(int) => Json::from(*int),
            Self::Float(float) => Json::Number(number(*float)?),
            Self::Text(text) => Json::String(text.as_ref().to_owned()),
            Self::List(list) if list.is_nil() => Json::Null,
            Self::Map(map) if map.is_nil() => Json::Null,
            Self::List(list) => Json::Array(
                list.iter().map(|item| item.to_json_within(below, left)).collect::<Result<_, _>>()?,
            ),
            Self::Map(map) => {
                let entries = map.entries().into_iter();
                let entries = entries
                    .map(|(key, value)| Ok((key.as_ref().to_owned(), value.to_json_within(below, left)?)));
                Json::Object(entries.collect::<Result<_, Failure>>()?)
            }
            Self::Object(object) => object.plain().to_json_within(below, left)?,
        })
    }
}

fn number(float: f64) -> Result<Number, Failure> {
    if let Some(int) = whole(float) {
        return Ok(Number::from(int));
    }
    Number::from_f64(float).ok_or_else(|| Failure::new(format!("json: unsupported value: {float}")))
}

/// A float that is written without a fraction.
#[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
pub(super) fn whole(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0).then_some(float as i64)
}
