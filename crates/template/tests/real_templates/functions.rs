//! The few functions that the templates here need to make values of all types; as Sprig and Helm have them.

use mizzen_template::{Call, Failure, Functions, List, Map, Value};

pub(crate) fn functions() -> Functions {
    Functions::default().with(&[
        ("list", list),
        ("dict", dict),
        ("int", int),
        ("int64", int64),
        ("set", set),
        ("include", include),
        ("tpl", tpl),
        ("fail", fail),
    ])
}

fn list(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(Value::List(List::new(call.args.to_vec())))
}

fn dict(call: &mut Call<'_>) -> Result<Value, Failure> {
    let map = Map::new();
    for pair in call.args.chunks(2) {
        if let [Value::Text(key), rest @ ..] = pair {
            map.insert(key.clone(), rest.first().cloned().unwrap_or_else(|| "".into()));
        }
    }
    Ok(Value::Map(map))
}

#[expect(clippy::cast_possible_truncation, reason = "as Go does")]
fn whole(value: &Value) -> i64 {
    match value {
        Value::Int(int) | Value::Int64(int) => *int,
        Value::Float(float) => *float as i64,
        Value::Bool(bool) => i64::from(*bool),
        Value::Text(text) => text.parse().unwrap_or(0),
        _ => 0,
    }
}

fn int(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(Value::Int(whole(&call.any(0))))
}

fn int64(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(Value::Int64(whole(&call.any(0))))
}

fn set(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(3)?;
    let map = call.map(0)?;
    map.insert(call.text(1)?, call.any(2));
    Ok(Value::Map(map))
}

fn include(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (name, data) = (call.text(0)?, call.any(1));
    call.host.include(&name, &data).map(Value::from)
}

fn tpl(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (text, data) = (call.text(0)?, call.any(1));
    call.host.tpl(&text, &data).map(Value::from)
}

fn fail(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Err(Failure::new(&*call.text(0)?))
}
