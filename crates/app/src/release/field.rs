//! Which field a server's sentence is about, so that it can be told where that was written.

use mizzen_text::{Path, Step};

/// What stands before the first field.
const BEFORE: [&str; 3] = [" is invalid: [", " is invalid: ", "): ."];

/// The field, and whether it is one that should not be there. Nothing where the sentence names none.
pub fn field_of(message: &str) -> Option<(Path, bool)> {
    let unknown = message.split_once("unknown field \"").and_then(|(_, rest)| rest.split_once('"'));
    if let Some((field, _)) = unknown {
        return Some((path(field)?.0, true));
    }
    let (_, rest) = BEFORE.iter().find_map(|before| message.split_once(before))?;
    let (path, said) = path(rest)?;
    let said = said.strip_prefix(": ")?;
    Some((path, said.contains("not declared in schema")))
}

/// A path at the start of a text, and what follows it. It ends before an item that is not told by its number.
fn path(text: &str) -> Option<(Path, &str)> {
    let mut steps = Vec::new();
    let mut rest = text;
    let mut known = true;
    loop {
        if let Some(inside) = rest.strip_prefix('[') {
            let (item, after) = inside.split_once(']')?;
            known &= !item.contains('=');
            let item = item.trim_matches('"');
            if known {
                steps.push(item.parse().map_or_else(|_| Step::Field(item.to_owned()), Step::Index));
            }
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end =
                rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
            if name.is_empty() {
                return None;
            }
            if known {
                steps.push(Step::Field(name.to_owned()));
            }
            rest = after;
        }
        if !rest.starts_with(['.', '[']) {
            return Some((Path(steps), rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_found_in_what_servers_say() {
        for (said, field, unknown) in [
            (
                "ConfigMap \"a\" is invalid: data[not a key]: Invalid value: \"x\": no",
                "data[\"not a key\"]",
                false,
            ),
            (
                "Service \"a\" is invalid: spec.ports[1].port: Invalid value: 0: must be",
                "spec.ports[1].port",
                false,
            ),
            (
                "Service \"a\" is invalid: [spec.ports[0].name: Required value, spec.x: no]",
                "spec.ports[0].name",
                false,
            ),
            (
                "failed to create typed patch object (shop/a; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema",
                "spec.replica",
                true,
            ),
            (
                "failed to create typed patch object (shop/a; apps/v1, Kind=Deployment): .spec.template.spec.containers[name=\"c\"].imag: field not declared in schema",
                "spec.template.spec.containers",
                true,
            ),
            ("strict decoding error: unknown field \"spec.hots\"", "spec.hots", true),
        ] {
            let (path, is_unknown) = field_of(said).unwrap();
            assert_eq!((path.to_string(), is_unknown), (field.to_owned(), unknown), "{said}");
        }
        assert_eq!(field_of("the server could not find the requested resource"), None);
        assert_eq!(field_of("a is invalid: something else"), None);
    }
}
