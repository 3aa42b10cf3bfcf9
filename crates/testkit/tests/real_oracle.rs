//! The oracle is Istio's own code, answers whatever it is asked, and its recorded rows are whole.

use mizzen_testkit::{
    Oracle, Result, needs,
    oracle::data::{self, Row},
};
use serde_json::{Value, json};

fn virtual_service(spec: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": { "name": "cart", "namespace": "shop" },
        "spec": spec,
    })
}

fn route() -> Value {
    json!([{ "route": [{ "destination": { "host": "cart" } }] }])
}

/// Go's protobuf prints a message with one space or two between its fields, as each program's build has it, so that
/// nobody relies on the text. Some of Istio's messages have such a text in them.
fn words(messages: &[String]) -> Vec<Vec<&str>> {
    messages.iter().map(|message| message.split_whitespace().collect()).collect()
}

#[test]
fn a_good_object_is_accepted_by_the_webhook_and_by_the_crd() -> Result<()> {
    needs!(Oracle::NEEDS);
    let said = Oracle::shared()
        .verdicts(&[virtual_service(&json!({ "hosts": ["cart"], "http": route() }))])?
        .remove(0);
    assert!(said.known && said.accepted && said.errors.is_empty(), "{said:?}");
    assert!(said.crd.is_some_and(|crd| crd.accepted && crd.unknown.is_empty()));
    Ok(())
}

#[test]
fn a_bad_object_is_refused_with_every_reason() -> Result<()> {
    needs!(Oracle::NEEDS);
    // Without hosts it is a delegate, and a delegate has neither gateways nor TCP routes.
    let spec = json!({ "gateways": ["gate"], "tcp": route(), "http": route(), "colour": "red" });
    let said = Oracle::shared().verdicts(&[virtual_service(&spec)])?.remove(0);
    assert!(said.known && !said.accepted);
    assert_eq!(
        said.errors,
        [
            "delegate virtual service must have no gateways specified",
            "delegate virtual service must have no tcp route specified"
        ]
    );
    assert!(said.message.is_some_and(|message| message.starts_with("configuration is invalid")));
    assert_eq!(said.crd.map(|crd| crd.unknown), Some(vec!["spec.colour".to_owned()]));
    Ok(())
}

#[test]
fn a_field_beside_the_spec_is_refused_as_the_webhook_does() -> Result<()> {
    needs!(Oracle::NEEDS);
    let mut object = virtual_service(&json!({ "hosts": ["cart"], "http": route() }));
    object["specc"] = json!({});
    let said = Oracle::shared().verdicts(&[object])?.remove(0);
    assert!(!said.accepted);
    assert_eq!(said.errors, [r#"unknown field "specc" on VirtualService resource shop/cart"#]);
    Ok(())
}

#[test]
fn a_rule_of_the_crd_says_where() -> Result<()> {
    needs!(Oracle::NEEDS);
    let spec = json!({ "hosts": ["cart"], "http": [{ "route": [{ "destination": { "host": "cart" } }], "timeout": "1" }] });
    let said = Oracle::shared().verdicts(&[virtual_service(&spec)])?.remove(0);
    assert!(said.decode.as_ref().is_some_and(|reason| reason.contains("bad Duration")), "{said:?}");
    let errors = said.crd.map(|crd| crd.errors).unwrap_or_default();
    assert!(errors.iter().any(|error| error.starts_with("spec.http[0].timeout: ")), "{errors:?}");
    Ok(())
}

#[test]
fn garbage_is_answered_and_the_next_line_as_well() -> Result<()> {
    needs!(Oracle::NEEDS);
    let good = virtual_service(&json!({ "hosts": ["cart"], "http": route() })).to_string();
    let lines = ["{", "null", "[]", "\u{0}", r#"{"apiVersion":"v1","kind":"Pod"}"#, good.as_str()];
    let said = Oracle::shared().verdicts_of_lines(&lines.map(str::to_owned))?;
    assert!(said[0].decode.is_some() && said[2].decode.is_some() && said[3].decode.is_some(), "{said:?}");
    assert!(said[..5].iter().all(|verdict| !verdict.known && !verdict.accepted), "{said:?}");
    assert!(said[5].accepted, "{said:?}");
    assert!(Oracle::shared().verdicts_of_lines(&["two\nlines".to_owned()]).is_err());
    Ok(())
}

#[test]
fn more_than_a_pipe_holds_is_answered_in_order() -> Result<()> {
    needs!(Oracle::NEEDS);
    let padding = "x".repeat(4000);
    let object = |n: usize| {
        let mut object = virtual_service(&json!({ "hosts": ["cart"], "http": route() }));
        object["metadata"]["annotations"] = json!({ "padding": padding });
        if n.is_multiple_of(7) {
            object["spec"]["hosts"] = json!([format!("bad_{n}")]);
        }
        object
    };
    let objects: Vec<Value> = (0..2000).map(object).collect();
    let said = Oracle::shared().verdicts(&objects)?;
    assert_eq!(said.len(), objects.len());
    for (n, verdict) in said.iter().enumerate() {
        assert_eq!(verdict.accepted, !n.is_multiple_of(7), "{n}: {verdict:?}");
        assert!(verdict.accepted || verdict.errors.iter().any(|error| error.contains(&format!("bad_{n}"))));
    }
    Ok(())
}

#[test]
fn a_spec_comes_back_as_istio_writes_it() -> Result<()> {
    needs!(Oracle::NEEDS);
    let spec = json!({ "hosts": ["cart"], "http": [{ "timeout": "1h30m", "retries": { "attempts": 0 } }], "colour": 1 });
    let said = Oracle::shared().encode(&[virtual_service(&spec)])?.remove(0);
    assert_eq!(
        said.spec,
        Some(json!({ "hosts": ["cart"], "http": [{ "timeout": "5400s", "retries": {} }] }))
    );
    assert!(said.strict.is_some_and(|reason| reason.contains("colour")));
    Ok(())
}

#[test]
fn the_meshs_own_configuration_is_read_and_judged_too() -> Result<()> {
    needs!(Oracle::NEEDS);
    let oracle = Oracle::shared();
    let object = |timeout: &str| json!({ "kind": "MeshConfig", "spec": { "connectTimeout": timeout } });
    let said = oracle.encode(&[object("2s")])?.remove(0);
    assert_eq!(said.spec, Some(json!({ "connectTimeout": "2s" })));
    let defaults = oracle.defaults()?;
    let mut expected = defaults.mesh_config;
    assert_eq!(expected["connectTimeout"], "10s");
    expected["connectTimeout"] = json!("2s");
    assert_eq!(said.applied, Some(expected));
    assert_eq!(defaults.proxy_config["statusPort"], 15020);
    let said = oracle.verdicts(&[object("2s"), object("1ns")])?;
    assert!(said[0].accepted && !said[1].accepted, "{said:?}");
    assert!(said[1].errors.iter().all(|error| error.contains("connect timeout")), "{said:?}");
    Ok(())
}

#[test]
fn every_row_of_istios_validation_tests_was_recorded() -> Result<()> {
    needs!(data::NEEDS);
    let (tests, rows) = (data::tests()?, data::rows()?);
    let own: Vec<_> = tests.iter().filter(|test| test.file == "validation/validation_test.go").collect();
    let count: usize = own.iter().map(|test| test.rows).sum();
    assert!(own.len() >= 41 && count >= 600, "{} tests, {count} rows", own.len());
    for test in &tests {
        assert_eq!(test.recorded, test.rows, "{} {}", test.file, test.test);
    }
    assert_eq!(rows.len(), tests.iter().map(|test| test.calls).sum::<usize>());
    let told = |row: &Row| row.accepted == row.errors.is_empty() && !row.arguments.is_empty();
    assert!(rows.iter().all(told));
    Ok(())
}

/// A row whose argument is a whole object, as Kubernetes would have it. The tests leave out what kind it is; the message
/// says it. Rows that give a wrong message on purpose have none.
fn whole_object(row: &Row) -> Option<Value> {
    let mut object = row.arguments.first().filter(|argument| argument.unsaid.is_empty())?.value.clone();
    let (package, kind) =
        object.get("specType")?.as_str()?.rsplit_once('.').map(|(p, k)| (p.to_owned(), k.to_owned()))?;
    if row.function.to_lowercase() != format!("validate{}", kind.to_lowercase()) {
        return None;
    }
    object.as_object_mut()?.remove("specType");
    let group = package.split('.').nth(1)?;
    object["apiVersion"] = json!(format!("{group}.istio.io/v1"));
    object["kind"] = json!(kind);
    Some(object)
}

#[test]
fn a_recorded_row_says_what_the_program_says() -> Result<()> {
    needs!(Oracle::NEEDS, data::NEEDS);
    let rows = data::rows()?;
    let (rows, objects): (Vec<&Row>, Vec<Value>) =
        rows.iter().filter_map(|row| Some((row, whole_object(row)?))).unzip();
    assert!(rows.len() >= 370, "{}", rows.len());
    for (row, mut verdict) in rows.iter().zip(Oracle::shared().verdicts(&objects)?) {
        let name = format!("{} {}", row.test, row.row);
        if row.function == "validateEnvoyFilter" {
            // Its test leaves out the function around it, which warns of every EnvoyFilter.
            assert!(verdict.warnings.remove(0).starts_with("EnvoyFilter exposes internal"), "{name}");
        }
        assert_eq!(verdict.accepted, row.accepted, "{name}");
        assert_eq!(words(&verdict.errors), words(&row.errors), "{name}");
        assert_eq!(words(&verdict.warnings), words(&row.warnings), "{name}");
    }
    Ok(())
}

#[test]
fn istios_benchmark_configurations_are_plain_yaml() -> Result<()> {
    needs!(data::NEEDS);
    let files = data::benchmarks()?;
    assert!(files.len() >= 15, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(text.contains("kind: ") && !text.contains("{{"), "{}", file.display());
    }
    Ok(())
}
