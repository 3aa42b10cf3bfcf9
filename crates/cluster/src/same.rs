//! Values that are written differently and mean the same to the server: what it adds, what it drops, how it writes quantities.

use serde_json::Value;

/// Whether everything that is wanted is there, as it is written. A null is what is not there.
pub(crate) fn is_within(wanted: &Value, live: &Value) -> bool {
    walk(wanted, live, &|wanted, live| wanted == live)
}

/// The same, but for how it is written.
pub(crate) fn means_the_same(wanted: &Value, live: &Value) -> bool {
    walk(wanted, live, &|wanted, live| {
        wanted == live || quantity(wanted).is_some_and(|one| Some(one) == quantity(live))
    })
}

/// Whether it is as good as nothing: such a field is dropped by the server.
pub(crate) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn walk(wanted: &Value, live: &Value, same: &dyn Fn(&Value, &Value) -> bool) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().all(|(key, wanted)| {
            live.get(key).map_or_else(|| wanted.is_null(), |live| walk(wanted, live, same))
        }),
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len()
                && wanted.iter().zip(live).all(|(wanted, live)| walk(wanted, live, same))
        }
        (wanted, live) => same(wanted, live),
    }
}

/// `2000m`, `1Gi`, `2`: in thousandths, exactly.
fn quantity(value: &Value) -> Option<u128> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u128 = match unit {
        "m" => 1,
        "" => 1_000,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "Ki" => 1_000 << 10,
        "Mi" => 1_000 << 20,
        "Gi" => 1_000 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok().map(|number| u128::from(number) * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wanted_may_be_less_than_what_is_there() {
        let live = json!({ "a": 1, "b": { "c": [{ "d": 1, "e": 2 }] } });
        assert!(is_within(&json!({ "b": { "c": [{ "d": 1 }] }, "z": null }), &live));
        let others =
            [json!({ "a": 2 }), json!({ "x": 1 }), json!({ "a": null }), json!({ "b": { "c": [] } })];
        for other in others {
            assert!(!is_within(&other, &live), "{other}");
        }
    }

    #[test]
    fn quantities_are_what_they_count() {
        for (one, other) in [("2000m", "2"), ("1024Mi", "1Gi"), ("1k", "1000"), ("2", "2")] {
            assert!(means_the_same(&json!({ "cpu": one }), &json!({ "cpu": other })), "{one} {other}");
        }
        for (one, other) in [("2", "3"), ("1M", "1Mi"), ("a", "b"), ("", "0"), ("1.5", "1500m")] {
            assert!(!means_the_same(&json!(one), &json!(other)), "{one} {other}");
        }
        assert!(!is_within(&json!("2000m"), &json!("2")));
    }

    #[test]
    fn what_the_server_drops_is_nothing() {
        assert!([json!(""), json!(null), json!([]), json!({})].iter().all(is_nothing));
        assert!(![json!("a"), json!(0), json!(false)].iter().any(is_nothing));
    }
}
