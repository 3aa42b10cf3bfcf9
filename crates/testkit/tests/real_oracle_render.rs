//! The oracle renders, merges and patches with Istio's and Helm's own code, and says how that fails.

use mizzen_testkit::{
    Oracle, Result, needs,
    oracle::{
        data::{self, Row},
        render::Field,
    },
};
use serde_json::{Value, json};

fn chart(template: &str) -> Value {
    json!({
        "Chart.yaml": "apiVersion: v2\nname: boat\nversion: 0.1.0\n",
        "values.yaml": "colour: red\nsize: 1000000\n",
        "templates/a.yaml": template,
    })
}

fn template(text: &str) -> Value {
    json!({ "chart": chart(text) })
}

#[test]
fn a_chart_is_rendered_with_its_values_and_its_release() -> Result<()> {
    needs!(Oracle::NEEDS);
    let text = "{{ .Release.Name }} {{ .Values.colour }} {{ .Values.mast }} {{ .Capabilities.KubeVersion }}";
    let question = json!({ "chart": chart(text), "values": { "mast": 2 }, "release": { "name": "r" }, "kubeVersion": "1.30" });
    let said = Oracle::shared().templates(&[question])?.remove(0);
    assert_eq!(said.error, None);
    assert_eq!(said.files["boat/templates/a.yaml"], "r red 2 v1.30");
    Ok(())
}

#[test]
fn a_large_number_is_printed_by_the_type_it_has() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question = |numbers: &str| json!({ "chart": chart("{{ .Values.n }}"), "values": { "n": 1_000_000 }, "numbers": numbers });
    let said = Oracle::shared().templates(&["float", "int", "json", "word"].map(question))?;
    let printed: Vec<_> = said.iter().filter_map(|one| one.files.get("boat/templates/a.yaml")).collect();
    assert_eq!(printed, ["1e+06", "1000000", "1000000"]);
    assert_eq!(said[3].step.as_deref(), Some("request"));
    Ok(())
}

#[test]
fn every_step_of_rendering_can_fail_and_says_so() -> Result<()> {
    needs!(Oracle::NEEDS);
    let mut schema = template("");
    schema["chart"]["values.schema.json"] = json!(r#"{"properties": {"colour": {"type": "number"}}}"#);
    let mut strict = template("{{ .Values.nothing }}");
    strict["notStrict"] = json!(false);
    let rows = [
        (json!({ "chrt": {} }), "request", "unknown field"),
        (json!({ "chart": { "templates/a.yaml": "" } }), "load", "Chart.yaml file is missing"),
        (schema, "values", "colour"),
        (template("\n{{ fail \"no\" }}"), "render", "(boat/templates/a.yaml:2:3): no"),
        (strict, "render", "map has no entry for key \"nothing\""),
    ];
    let questions: Vec<Value> = rows.iter().map(|(question, ..)| question.clone()).collect();
    for ((_, step, reason), said) in rows.iter().zip(Oracle::shared().templates(&questions)?) {
        assert_eq!(said.step.as_deref(), Some(*step), "{said:?}");
        assert!(said.error.as_ref().is_some_and(|error| error.contains(reason)), "{said:?}");
    }
    Ok(())
}

#[test]
fn the_condition_of_a_sub_chart_counts_only_when_asked() -> Result<()> {
    needs!(Oracle::NEEDS);
    let mut question = template("");
    question["chart"]["Chart.yaml"] = json!(
        "apiVersion: v2\nname: boat\nversion: 0.1.0\ndependencies: [{name: sail, version: 0.1.0, condition: sail.set}]\n"
    );
    question["chart"]["charts/sail/Chart.yaml"] = json!("apiVersion: v2\nname: sail\nversion: 0.1.0\n");
    question["chart"]["charts/sail/templates/b.yaml"] = json!("b");
    question["values"] = json!({ "sail": { "set": false } });
    let mut asked = question.clone();
    asked["dependencies"] = json!(true);
    let said = Oracle::shared().templates(&[question, asked])?;
    assert_eq!(said.iter().map(|one| one.files.len()).collect::<Vec<_>>(), [2, 1], "{said:?}");
    Ok(())
}

#[test]
fn injection_templates_have_functions_of_their_own() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question = |template: &str| json!({ "template": template, "data": { "a": { "k": 1 } } });
    let templates = [r#"{{ toYaml .a }}{{ valueOrDefault "" "d" }}"#, "{{ include .a }}", "{{ toJSON .a }}"];
    let said = Oracle::shared().injection(&templates.map(question))?;
    assert_eq!((said[0].output.as_str(), &said[0].error), ("k: 1\nd", &None));
    assert!(said[1].error.as_ref().is_some_and(|error| error.contains(r#"function "include" not defined"#)));
    // Go wants to know beforehand that all values are strings.
    assert!(said[2].error.as_ref().is_some_and(|error| error.contains("wrong type")), "{said:?}");
    Ok(())
}

#[test]
fn injection_templates_may_have_a_pod_as_istiod_has_it() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question = json!({
        "template": r#"{{ toJSON .ObjectMeta.Labels }} {{ annotation .ObjectMeta "a" "none" }} {{ formatDuration .ProxyConfig.DrainDuration }}"#,
        "data": { "ObjectMeta": { "labels": { "k": "v" } }, "ProxyConfig": { "drainDuration": "45s" } },
        "typed": true,
    });
    let said = Oracle::shared().injection(&[question])?.remove(0);
    assert_eq!((said.output.as_str(), said.error), (r#"{"k":"v"} none 45s"#, None));
    Ok(())
}

#[test]
fn a_patch_merges_lists_by_the_rules_of_the_kind() -> Result<()> {
    needs!(Oracle::NEEDS);
    let of = |containers: Value| json!({ "spec": { "template": { "spec": { "containers": containers } } } });
    let question = |kind: &str| {
        let mut object = of(json!([{ "name": "a", "image": "x" }, { "name": "b" }]));
        object["apiVersion"] = json!("apps/v1");
        object["kind"] = json!(kind);
        json!({ "object": object, "patch": of(json!([{ "name": "b", "image": "y" }])) })
    };
    let said = Oracle::shared().patch(&["Deployment", "Boat"].map(question))?;
    let patched = said[0].result.as_ref().map(|object| &object["spec"]["template"]["spec"]["containers"]);
    assert_eq!(patched, Some(&json!([{ "name": "a", "image": "x" }, { "name": "b", "image": "y" }])));
    assert!(said[1].error.as_ref().is_some_and(|error| error.contains("no kind \"Boat\"")), "{said:?}");
    Ok(())
}

#[test]
fn a_set_is_typed_and_may_break_down() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question =
        |set: &[&str]| json!({ "tree": { "spec": { "hub": "h", "list": [{ "name": "a" }] } }, "set": set });
    let said = Oracle::shared().set(&[
        question(&["a.b=1", "tag=1", "list.[name:a].x=true"]),
        question(&["list.[name:b].x=true"]),
        question(&["hub.x=1"]),
    ])?;
    let set =
        json!({ "spec": { "hub": "h", "a": { "b": 1 }, "tag": "1", "list": [{ "name": "a", "x": true }] } });
    assert_eq!(said[0].result, Some(set));
    assert_eq!(said[1].error.as_deref(), Some("element [name:b] not found"));
    assert!(said[2].panic.as_ref().is_some_and(|cause| cause.starts_with("not a map")), "{said:?}");
    Ok(())
}

#[test]
fn a_merge_replaces_lists_and_keeps_nulls() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question =
        json!({ "base": { "a": { "b": 1, "c": [1, 2] } }, "overlay": { "a": { "c": [3], "d": null } } });
    let said = Oracle::shared().merge(&[question])?.remove(0);
    assert_eq!(said.result, Some(json!({ "a": { "b": 1, "c": [3], "d": null } })));
    Ok(())
}

#[test]
fn an_overlay_writes_what_it_finds_and_drops_the_rest() -> Result<()> {
    needs!(Oracle::NEEDS);
    let object = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "a" },
        "spec": { "type": "ClusterIP", "ports": [{ "name": "p", "port": 1 }] },
    });
    let patches = json!([
        { "path": "spec.ports.[name:p].port", "value": 8 },
        { "path": "spec.ports.[name:q].port", "value": 9 },
        { "path": "spec.type" },
    ]);
    let said = Oracle::shared().overlay(&[json!({ "object": object, "patches": patches })])?.remove(0);
    assert_eq!(said.error, None);
    assert_eq!(
        said.result.map(|object| object["spec"].clone()),
        Some(json!({ "ports": [{ "name": "p", "port": 8 }] }))
    );
    assert_eq!(said.dropped.len(), 1, "{:?}", said.dropped);
    assert!(said.yaml.ends_with("spec:\n  ports:\n  - name: p\n    port: 8\n"), "{}", said.yaml);
    Ok(())
}

#[test]
fn an_istio_operator_is_judged() -> Result<()> {
    needs!(Oracle::NEEDS);
    let question = |spec: Value| json!({ "iop": { "spec": spec } });
    let said = Oracle::shared().operator(&[
        question(json!({ "profile": "demo" })),
        question(json!({ "colour": "red" })),
        question(json!({ "revision": "A_b", "hub": "a b" })),
    ])?;
    assert!(said[0].errors.is_empty() && said[0].warnings.is_empty(), "{said:?}");
    assert!(said[1].errors[0].contains(r#"unknown field "colour""#), "{said:?}");
    assert_eq!(said[2].errors.len(), 2, "{said:?}");
    Ok(())
}

#[test]
fn the_shapes_name_only_structs_that_are_there() -> Result<()> {
    needs!(Oracle::NEEDS);
    let shapes = Oracle::shared().shapes()?;
    let types = shapes.structs.values().flat_map(|fields| fields.values()).map(|field| match field {
        Field::Plain(kind) | Field::Patched { kind, .. } => kind,
    });
    let words =
        ["string", "bool", "bytes", "any", "quantity", "intOrString", "time", "microTime", "duration"];
    let numbers = ["int32", "int64", "uint32", "float64"];
    for kind in types.chain(shapes.kinds.values()) {
        let inner = kind.trim_start_matches("[]").trim_start_matches("{}").trim_start_matches("[]");
        let known = words.contains(&inner) || numbers.contains(&inner) || shapes.structs.contains_key(inner);
        assert!(known, "{kind}");
    }
    assert!(shapes.kinds.len() >= 24 && shapes.structs.len() >= 250, "{}", shapes.structs.len());
    let containers = &shapes.structs["core.v1.PodSpec"]["containers"];
    let Field::Patched { kind, patch_strategy, patch_merge_key } = containers else {
        panic!("{containers:?}");
    };
    assert_eq!([kind, patch_strategy, patch_merge_key], ["[]core.v1.Container", "merge", "name"]);
    assert!(matches!(&shapes.structs["GatewayComponentSpec"]["hub"], Field::Plain(kind) if kind == "string"));
    Ok(())
}

#[test]
fn every_row_of_the_operators_tests_was_recorded() -> Result<()> {
    needs!(data::NEEDS);
    let (tests, rows) = (data::operator_tests()?, data::operator_rows()?);
    for test in &tests {
        // Four rows of the command fail before it has an object: no file, a wrong one, too many arguments, a key twice.
        let unread = if test.test == "TestValidateCommand" { 4 } else { 0 };
        assert_eq!(test.recorded + unread, test.rows, "{} {}", test.file, test.test);
    }
    assert_eq!(rows.len(), tests.iter().map(|test| test.calls).sum::<usize>());
    let known = |row: &Row| row.arguments.iter().chain(&row.results).all(|argument| !argument.opaque);
    assert!(rows.len() >= 260 && rows.iter().all(known), "{}", rows.len());
    Ok(())
}

#[test]
fn a_recorded_row_of_the_operator_says_what_the_program_says() -> Result<()> {
    needs!(Oracle::NEEDS, data::NEEDS);
    let rows = data::operator_rows()?;
    let of = |function: &str| rows.iter().filter(|row| row.function == function).collect::<Vec<_>>();
    let merges = of("Map.MergeFrom");
    let questions: Vec<Value> = merges
        .iter()
        .map(|row| json!({ "base": row.arguments[0].value, "overlay": row.arguments[1].value }))
        .collect();
    for (row, said) in merges.iter().zip(Oracle::shared().merge(&questions)?) {
        let merged = row.after.first().unwrap_or(&row.arguments[0]);
        assert_eq!(said.result.as_ref(), Some(&merged.value), "{}", row.row);
    }
    let (operators, questions): (Vec<&Row>, Vec<Value>) = of("ParseAndValidateIstioOperator")
        .into_iter()
        .filter(|row| row.arguments[1].kind == "nil")
        .map(|row| (row, json!({ "iop": row.arguments[0].value })))
        .unzip();
    for (row, said) in operators.iter().zip(Oracle::shared().operator(&questions)?) {
        assert_eq!((said.errors, said.warnings), (row.errors.clone(), row.warnings.clone()), "{}", row.row);
    }
    assert_eq!((merges.len(), operators.len()), (12, 21));
    Ok(())
}
