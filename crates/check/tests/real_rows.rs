//! Every row of Istio's own validation tests, recorded while Istio's test ran, through our validators: the same
//! verdict, and a warning where it has one. `tests/golden/rows.txt` has the list; `MIZZEN_BLESS=1` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod rows;

use mizzen_api::Object;
use mizzen_check::schema;
use mizzen_testkit::{
    needs,
    oracle::{
        Oracle,
        data::{self, Row},
    },
};
use mizzen_text::Severity;
use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path};

/// The file whose rows must agree.
const MAIN: &str = "validation/validation_test.go";

/// Why a row has no counterpart, where Istio itself says otherwise of the document.
const GO_ONLY: &str = "no document says it: Istio's webhook, too, says otherwise of the row's JSON";

/// What we have beside a row.
enum Ours {
    Equal,
    /// The typed form cannot tell it from absent, but the CRD refuses it before the webhook is asked.
    EqualByCrd,
    Different(String),
    None(&'static str),
}

fn compare(row: &Row) -> Ours {
    let document = match rows::object(row) {
        Ok(document) => document,
        Err(reason) => return Ours::None(reason),
    };
    let mut warned = false;
    let ours: Vec<String> = match Object::read(&document) {
        Ok(object) => {
            let found = mizzen_check::validate(&object);
            warned = found.iter().any(|finding| finding.severity == Severity::Warning);
            found.errors().map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
        }
        Err(error) => vec![error.to_string()],
    };
    if ours.is_empty() == row.accepted {
        // Upstream's inner function of that name lacks the warning that its caller gives for every EnvoyFilter.
        let same =
            !row.accepted || row.function == "validateEnvoyFilter" || warned != row.warnings.is_empty();
        return if same {
            Ours::Equal
        } else {
            Ours::Different(format!("Istio warns {:?} of {document}", row.warnings))
        };
    }
    let by_crd = schema::check(&document, schema::Unknown::Ignore).unwrap_or_default();
    if !row.accepted && by_crd.errors().any(|finding| finding.path.to_string().starts_with("spec")) {
        return Ours::EqualByCrd;
    }
    // Go's tests can build what has no JSON, such as a list that is there but empty, or a null in a map.
    let webhook = Oracle::shared().verdicts(std::slice::from_ref(&document)).unwrap();
    if webhook[0].accepted == ours.is_empty() {
        return Ours::None(GO_ONLY);
    }
    Ours::Different(format!("Istio says {:?} {:?}, we say {ours:?} of {document}", row.errors, row.warnings))
}

/// As `go test` would name it; a row without a name has its number.
fn name(row: &Row) -> String {
    let number = format!("#{:02}", row.index);
    let name = if row.row.is_empty() { number } else { row.row.replace('\n', "\\n") };
    format!("{}/{name}", row.test)
}

#[test]
fn our_verdict_is_istio_s_on_every_row_of_its_tests() {
    needs!(Oracle::NEEDS, data::NEEDS);
    let (mut list, mut files) = (String::new(), BTreeMap::<String, [usize; 3]>::new());
    let mut last = String::new();
    for row in data::rows().unwrap() {
        if last != row.file {
            last.clone_from(&row.file);
            let _ = writeln!(list, "# {last}");
        }
        let counts = files.entry(row.file.clone()).or_default();
        let verdict = if row.accepted { "accepted" } else { "refused" };
        let ours = match compare(&row) {
            Ours::Equal => {
                counts[0] += 1;
                verdict.to_owned()
            }
            Ours::EqualByCrd => {
                counts[0] += 1;
                format!("{verdict} by the CRD")
            }
            Ours::Different(how) => {
                counts[1] += 1;
                println!("DIFFERENT {}: {how}", name(&row));
                "DIFFERENT".to_owned()
            }
            Ours::None(reason) => {
                counts[2] += 1;
                format!("no row: {reason}")
            }
        };
        let _ = writeln!(list, "{} | {verdict} | {ours}", name(&row));
    }
    for (file, [equal, different, no_row]) in &files {
        println!(
            "{file}: {equal} equal, {different} different, {no_row} without a row of ours, {} in all",
            equal + different + no_row
        );
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rows.txt");
    if env::var_os("MIZZEN_BLESS").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(&golden, &list).unwrap();
    }
    assert!(files.values().all(|[_, different, _]| *different == 0), "see above");
    let [equal, _, no_row] = files[MAIN];
    assert!(no_row * 20 <= equal + no_row, "more than 5 % of {MAIN} has no row of ours");
    assert_eq!(
        fs::read_to_string(&golden).unwrap(),
        list,
        "the list has changed: see it with MIZZEN_BLESS=1 and git diff"
    );
}
