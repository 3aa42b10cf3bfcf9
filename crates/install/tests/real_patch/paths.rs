//! Overlays: rows for every rule of the path language, and random ones along the paths of an object.

use serde_json::{Value, json};

use super::{mutate::fresh, random::Random};

pub(crate) type Patches = Vec<(String, Option<Value>)>;

fn object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "X",
        "metadata": { "name": "a", "labels": { "app.kubernetes.io/name": "x", "[0]": "odd" } },
        "spec": {
            "args": ["--log=info", "--port", "80", "plain"],
            "ports": [{ "port": 80, "name": "http" }, { "port": 443, "name": "https", "on": true }, { "name": "a:b" }],
            "lists": [["a", "b"], [{ "x": 1 }]],
            "nothing": null, "none": [null, 5, true, 1.5], "empty": [], "map": {}, "text": "t",
            "deep": { "a": { "b": [{ "name": "n", "c": [{ "name": "m", "v": 1 }] }] } },
        },
    })
}

pub(crate) fn table() -> Vec<(Value, Patches)> {
    let paths = [
        "spec.text",
        "spec.new",
        "spec.new.deeper.still",
        "metadata.labels.app\\.kubernetes\\.io/name",
        "metadata.labels.[0]",
        "metadata.labels[0]",
        "spec.args.[0]",
        "spec.args[1]",
        "spec.args.[-1]",
        "spec.args.[99]",
        "spec.args.[:plain]",
        "spec.args.[plain]",
        "spec.args.[:--log.*]",
        "spec.args.[:^--p]",
        "spec.args.[:(?i)PLAIN]",
        "spec.args.[:^\\d+$]",
        "spec.args.[:pl[a-z]{3}]",
        "spec.args.[:nope]",
        "spec.args.[:(]",
        "spec.args.[]",
        "spec.args.[:]",
        "spec.args.x",
        "spec.args.[-2]",
        "spec.args.[+1]",
        "spec.ports.[port:80]",
        "spec.ports.[port:80].name",
        "spec.ports.[name:https].port",
        "spec.ports.[on:true].x",
        "spec.ports.[missing:x].y",
        "spec.ports.[missing:<nil>].y",
        "spec.ports.[name:a:b].y",
        "spec.ports.[name:a\\:b].y",
        "spec.ports.[name]",
        "spec.ports.name",
        "spec.ports.[0].name",
        "spec.ports.[-1].name",
        "spec.ports.[-1]",
        "spec.ports.[7].a.b",
        "spec.ports.[:http]",
        "spec.lists.[0].[0]",
        "spec.lists.[0].[-1]",
        "spec.lists.[1].[0].x",
        "spec.lists.[1].[x:1].y",
        "spec.lists.[0]",
        "spec.nothing",
        "spec.nothing.a",
        "spec.nothing.[0]",
        "spec.nothing.[0].a",
        "spec.nothing.[a:b].c",
        "spec.nothing.a.[0]",
        "spec.none.[0]",
        "spec.none.[0].a",
        "spec.none.[:5]",
        "spec.none.[:true]",
        "spec.none.[:1.5]",
        "spec.empty.[0]",
        "spec.empty.[a:b]",
        "spec.empty.[-1].a.b",
        "spec.empty",
        "spec.map",
        "spec.map.a",
        "spec.text.x",
        "spec.text.[0]",
        "spec.deep.a.b.[name:n].c.[name:m].v",
        "spec.deep.a.b.[name:n].c.[name:m]",
        "spec.deep.a.b.[name:n].c.[name:z].v",
        "spec.deep.a.b.[name:n].c.[-1]",
        "spec.deep.a.b.[name:n].d.[0]",
        ".spec.text.",
        "spec..text",
        "spec/../spec.text",
        "a//b",
        "[0]",
        "spec.[name:x].y",
    ];
    let values = [
        None,
        Some(json!("v")),
        Some(json!({ "k": "v", "l": [1] })),
        Some(json!(["p", "q"])),
        Some(json!(7)),
    ];
    let mut rows = Vec::new();
    for path in paths {
        rows.extend(values.iter().map(|value| (object(), vec![(path.to_owned(), value.clone())])));
    }
    let texts = [
        "a: b",
        "a:b",
        "x: {y: 1}",
        "a\nb:c",
        "a:\n  b: c\n",
        "{\"a\": \"b\"}",
        "[a: b]",
        "- a: b",
        "http://x",
        ": ",
        "a: b: c",
        "",
    ];
    for text in texts {
        for path in ["spec.text", "spec.args.[0]", "spec.new", "spec.ports.[0]"] {
            rows.push((object(), vec![(path.to_owned(), Some(json!(text)))]));
        }
        // What an overlay has put there is a map of another sort.
        let own = ("spec.own".to_owned(), Some(json!({ "k": "v", "l": [1] })));
        rows.push((object(), vec![own.clone(), ("spec.own.k".to_owned(), Some(json!(text)))]));
        rows.push((object(), vec![own, ("spec.own.new".to_owned(), Some(json!(text)))]));
    }
    let own = (
        "spec.own".to_owned(),
        Some(json!({ "k": "v", "l": [1], "m": [{ "name": "n" }], "e": {}, "z": null })),
    );
    let second = [
        "spec.own.k",
        "spec.own.l",
        "spec.own.m",
        "spec.own.e",
        "spec.own.z",
        "spec.own.l.[0]",
        "spec.own.l.[-1]",
        "spec.own.m.[name:n].x",
        "spec.own.m.[name:n]",
        "spec.own.new.[0]",
        "spec.own.new.[0].a",
        "spec.own.new.[a:b].c",
        "spec.own.z.a",
        "spec.own.e.a.b",
        "spec.own.l.[:1]",
        "spec.own.m.[-1].q",
    ];
    for (path, value) in [
        ("spec.ports.[99].x", "a: b"),
        ("spec.ports.[0].x", "a: b"),
        ("spec.nothing.x", "a: b"),
        ("spec.lists.[1].[0].x", "a: b"),
        ("spec.lists.[1].[-1].x", "a: b"),
        ("spec.none.[0].x", "a: b"),
    ] {
        rows.push((object(), vec![(path.to_owned(), Some(json!(value)))]));
        rows.push((object(), vec![own.clone(), (path.replace("spec", "spec.own"), Some(json!(value)))]));
    }
    for path in second {
        for value in &values {
            rows.push((object(), vec![own.clone(), (path.to_owned(), value.clone())]));
            rows.push((
                object(),
                vec![own.clone(), (path.to_owned(), value.clone()), (path.to_owned(), Some(json!("w")))],
            ));
        }
    }
    rows
}

/// One to three patches, mostly along what is there.
pub(crate) fn random(object: &Value, random: &mut Random) -> Patches {
    (0..=random.below(3))
        .map(|_| {
            let value = match random.below(6) {
                0 => None,
                1 => Some(json!(random.choose(&["a: b", "k: {l: m}", "x", "1", "two\nlines: yes"]))),
                _ => Some(without_nulls(fresh(random))),
            };
            (path(object, random), value)
        })
        .collect()
}

fn without_nulls(value: Value) -> Value {
    if value.is_null() { json!({}) } else { value }
}

fn path(object: &Value, random: &mut Random) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut here = object;
    loop {
        if !parts.is_empty() && random.one_in(6) {
            break;
        }
        match here {
            Value::Object(fields) if !fields.is_empty() => {
                // Without its identity an object is none, and istioctl ends there.
                let identity = ["apiVersion", "kind"];
                let keys: Vec<&String> = fields
                    .keys()
                    .filter(|key| !parts.is_empty() || !identity.contains(&key.as_str()))
                    .collect();
                let key = *random.choose(&keys);
                if random.one_in(15) {
                    parts.push("added".to_owned());
                    break;
                }
                parts.push(key.replace('.', "\\."));
                here = &fields[key];
            }
            Value::Array(items) if !items.is_empty() => {
                let index = random.below(items.len());
                here = &items[index];
                parts.push(element(here, index, random));
            }
            _ => break,
        }
    }
    if random.one_in(12) {
        parts.push((*random.choose(&["[0]", "[-1]", "[name:x]", "[:x]", "a.b", "name"])).to_owned());
    }
    parts.join(".")
}

fn element(item: &Value, index: usize, random: &mut Random) -> String {
    if random.one_in(3) {
        return format!("[{index}]");
    }
    if random.one_in(12) {
        return (*random.choose(&["[-1]", "[99]", "[name:nobody]", "[:nothing]", "[x"])).to_owned();
    }
    let by_key = ["name", "mountPath", "containerPort", "port"].iter().find_map(|key| {
        let value = match item.get(key)? {
            Value::String(text) => text.replace('.', "\\."),
            other => other.to_string(),
        };
        Some(format!("[{key}:{value}]"))
    });
    match (by_key, item) {
        (Some(element), _) => element,
        (None, Value::String(text)) if text.len() < 40 => format!("[:{}]", text.replace('.', "\\.")),
        _ => format!("[{index}]"),
    }
}
