//! Three verdicts on the same documents: a real API server with upstream's CRDs, another with ours, and `check::schema`
//! without any. The servers must agree word for word; ours must accept what they accept, and name every field that they
//! name.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "the counts of what was compared are what this test is for")]

#[path = "real_crd_verdicts/documents.rs"]
mod documents;
#[path = "real_crd_verdicts/mutants.rs"]
mod mutants;
#[path = "real_crd_verdicts/ours.rs"]
mod ours;
#[path = "real_crd_verdicts/rules.rs"]
mod rules;
#[path = "real_crd_verdicts/server.rs"]
mod server;

use mizzen_testkit::{ApiServer, Result, needs, oracle::data, tools};
use server::{Server, Unknown, Verdict};

const BENCHMARKS: &str = "benchmarks";
const MODULES: &[&str] = &["modules/istio", "modules/istio-api"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_and_we_agree_on_every_document() -> Result<()> {
    needs!(ApiServer::NEEDS, MODULES, data::NEEDS);
    let (theirs, mine) = tokio::try_join!(Server::upstream(), Server::ours())?;

    let istio = tools::folder("modules/istio")?;
    let mut sets = vec![
        (
            "pkg/config/validation/testdata/crds",
            documents::of_folder(&istio.join("pkg/config/validation/testdata/crds")),
        ),
        (
            "pkg/test/datasets/validation/dataset",
            documents::of_folder(&istio.join("pkg/test/datasets/validation/dataset")),
        ),
        ("samples", documents::of_folder(&istio.join("samples"))),
        ("crd-rules/rules", rules::documents(&rules::all())),
        ("crd-rules/hostile", documents::hostile()),
    ];
    let benchmarks = tools::folder("data/istio-oracle/benchmarks")?;
    sets.push((BENCHMARKS, documents::of_folder(&benchmarks)));

    let mut wrong = Vec::new();
    for (set, documents) in &sets {
        assert!(!documents.is_empty(), "{set} has no documents");
        let (upstream, ours) = tokio::try_join!(
            theirs.verdicts(documents, Unknown::Ignore),
            mine.verdicts(documents, Unknown::Ignore)
        )?;
        let mut equal = [0; 2];
        for (index, document) in documents.iter().enumerate() {
            let outcomes = [same(&upstream[index], &ours[index]), ours::agrees(document, &ours[index])];
            for (number, outcome) in outcomes.into_iter().enumerate() {
                match outcome {
                    Ok(()) => equal[number] += 1,
                    Err(message) => wrong.push(format!("{set}: {}: {message}", document.name)),
                }
            }
        }
        let (total, refused) = (documents.len(), ours.iter().filter(|verdict| !verdict.accepted()).count());
        println!(
            "{set}: the two servers {} / {total} equal, check::schema {} / {total} ({refused} refused)",
            equal[0], equal[1]
        );
        // Thousands of the same shape, none with an unknown field.
        if *set == BENCHMARKS {
            continue;
        }
        let strict = mine.verdicts(documents, Unknown::Strict).await?;
        let outcomes = documents.iter().zip(&strict).map(|(document, strict)| {
            ours::agrees_on_unknown_fields(document, strict)
                .map_err(|message| format!("{set}: {}: {message}", document.name))
        });
        let unequal: Vec<_> = outcomes.filter_map(std::result::Result::err).collect();
        println!("{set}: unknown fields {} / {total} equal", total - unequal.len());
        wrong.extend(unequal);
    }
    for line in &wrong {
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{} disagreements, see above", wrong.len());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_rule_accepts_and_refuses_what_it_says() -> Result<()> {
    needs!(ApiServer::NEEDS, MODULES);
    let server = Server::ours().await?;
    let rules = rules::all();
    let uncovered = rules::without_documents(&rules);
    assert!(
        uncovered.is_empty(),
        "rules without a document that they accept and one that they refuse: {uncovered:#?}"
    );

    let documents = rules::documents(&rules);
    let verdicts = server.verdicts(&documents, Unknown::Ignore).await?;
    let mut wrong = Vec::new();
    for ((document, verdict), expected) in documents.iter().zip(&verdicts).zip(rules::expectations(&rules)) {
        if let Err(message) = expected.is_met(verdict) {
            wrong.push(format!("{}: {message}", document.name));
        }
    }
    let distinct = rules::texts(&rules).len();
    println!(
        "{distinct} rules, {} / {} documents as their rule says",
        documents.len() - wrong.len(),
        documents.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_document_with_one_value_changed_has_the_same_verdict() -> Result<()> {
    needs!(ApiServer::NEEDS, MODULES);
    let server = Server::ours().await?;
    let dataset = tools::folder("modules/istio")?.join("pkg/test/datasets/validation/dataset");
    let mutants = mutants::of(&documents::of_folder(&dataset));
    let verdicts = server.verdicts(&mutants, Unknown::Ignore).await?;
    let outcomes = mutants.iter().zip(&verdicts).map(|(document, verdict)| {
        ours::agrees(document, verdict).map_err(|message| format!("{}: {message}", document.name))
    });
    let wrong: Vec<_> = outcomes.filter_map(std::result::Result::err).collect();
    let refused = verdicts.iter().filter(|verdict| !verdict.accepted()).count();
    println!("{} / {} mutants equal ({refused} refused)", mutants.len() - wrong.len(), mutants.len());
    assert!(mutants.len() > 5_000 && refused > 4_000, "too few");
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}

fn same(theirs: &Verdict, ours: &Verdict) -> std::result::Result<(), String> {
    (theirs == ours).then_some(()).ok_or_else(|| format!("upstream's CRD says {theirs:?}, ours {ours:?}"))
}
