//! Verbs that are here, that are not here yet, and that never were; under each name.

mod common;

use common::{Folder, NAMES, ended, run};
use std::process::Command;

#[test]
fn a_link_presents_the_program_it_is_named_for() {
    let folder = Folder::new("names");
    for name in NAMES {
        let link = folder.link(name);
        let help = ended(Command::new(&link).arg("--help").env_clear()).good();
        assert!(help.contains(&format!("Usage: {name} ")), "{help}");
        assert!(ended(Command::new(&link).arg("version").env_clear()).good().starts_with("client version: "));
    }
    let other = folder.link("mz");
    assert!(ended(Command::new(other).arg("--help").env_clear()).good().contains("Usage: mizzen "));
}

#[test]
fn a_verb_that_is_not_here_yet_is_told_in_one_sentence() {
    let cases = [
        ("istioctl analyze", "istioctl analyze"),
        ("istioctl x authz check", "istioctl x authz"),
        ("mizzen experimental describe pod a", "mizzen x describe"),
        ("istioctl -n shop --context blue analyze --all-namespaces", "istioctl analyze"),
        ("mizzen proxy-status", "mizzen proxy-status"),
        ("mizzen explain", "mizzen explain"),
        ("mizzen explain x", "mizzen explain"),
        ("mizzen manifest install", "mizzen manifest install"),
        ("istioctl manifest translate -f mesh.yaml", "istioctl manifest translate"),
        ("istioctl help analyze", "istioctl analyze"),
        ("mizzen request", "mizzen request"),
        ("pilot-discovery request GET /debug/syncz", "pilot-discovery request"),
        ("pilot-agent proxy sidecar", "pilot-agent proxy"),
    ];
    for (line, verb) in cases {
        let name = verb.split_whitespace().next().unwrap();
        let sentence =
            format!("error: `{verb}` is not in this version of Mizzen yet; `{name} --help` lists what is\n");
        assert_eq!(run(line).bad(2), sentence, "{line}");
    }
}

#[test]
fn an_unknown_word_is_not_taken_for_one_and_the_nearest_verb_is_named() {
    let said = run("istioctl verzion").bad(2);
    assert!(said.contains("unrecognized subcommand 'verzion'") && said.contains("'version'"), "{said}");
    let said = run("pilot-agent analyze").bad(2);
    assert!(said.contains("unrecognized subcommand 'analyze'"), "{said}");
    let said = run("mizzen version analyze").bad(2);
    assert!(said.contains("unexpected argument 'analyze'"), "{said}");
    let said = run("istioctl up").bad(2);
    assert!(said.contains("unrecognized subcommand 'up'"), "{said}");
    let said = run("mizzen -n x version").bad(2);
    assert!(said.contains("unexpected argument '-n'"), "{said}");
    for (line, word) in [
        ("mizzen manifest genrate", "'generate'"),
        ("mizzen profile lst", "'list'"),
        ("istioctl profile analyze", "unrecognized subcommand 'analyze'"),
        // The alias of a verb that is here, with an option that it has not.
        ("istioctl v --wrong", "unexpected argument '--wrong'"),
        ("istioctl manifest generate --wrong", "unexpected argument '--wrong'"),
        ("istioctl chart render a b", "unrecognized subcommand 'chart'"),
    ] {
        let said = run(line).bad(2);
        assert!(said.contains(word), "{line}: {said}");
    }
    let said = run("mizzen --wrong version").bad(2);
    assert!(said.contains("unexpected argument '--wrong'"), "{said}");
}
