use serde_json::Value;
pub fn strategic(object: &mut Value, patch: &Value) -> Result<(), String> { crate::tree::merge(object, patch); Ok(()) }
pub fn overlay(_: &mut Value, _: &[(String, Option<Value>)]) -> Result<(), Vec<String>> { Ok(()) }
