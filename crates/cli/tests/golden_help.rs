//! What a person reads first, under each name.

mod common;

use common::{NAMES, command, ended, golden, run};

#[test]
fn the_help_of_every_name_is_as_reviewed() {
    for name in NAMES {
        golden(&format!("{name}.txt"), &run(&format!("{name} --help")).good());
    }
}

#[test]
fn the_help_of_every_verb_is_as_reviewed() {
    for verb in [
        "up",
        "status",
        "traffic",
        "logs",
        "down",
        "manifest",
        "manifest generate",
        "manifest diff",
        "operator",
        "operator run",
        "operator init",
        "operator dump",
        "operator remove",
        "operator manifest",
        "reconcile",
        "profile",
        "profile list",
        "profile dump",
        "profile diff",
        "verify-install",
        "tag",
        "tag set",
        "tag generate",
        "tag list",
        "tag remove",
        "x",
        "x precheck",
        "chart render",
        "discovery",
        "app",
        "app apply",
        "app build",
        "app destroy",
        "app init",
        "app preview",
        "app releases",
        "app rollback",
        "app schema",
        "backbone",
        "backbone generate",
        "validate",
        "crd",
        "crd print",
        "version",
        "completion",
    ] {
        golden(
            &format!("mizzen-{}.txt", verb.replace(' ', "-")),
            &run(&format!("mizzen {verb} --help")).good(),
        );
    }
}

#[test]
fn verbs_that_are_for_insiders_are_in_no_list() {
    for name in NAMES {
        let help = run(&format!("{name} --help")).good();
        assert!(!help.contains("chart render"), "{help}");
        let inside = ["  chart ", "  sample ", "  child-of-up ", "  keeper-of-up "];
        assert!(help.lines().all(|line| inside.iter().all(|verb| !line.starts_with(verb))), "{help}");
    }
}

#[test]
fn there_are_three_ways_to_ask_for_help() {
    let help = run("mizzen --help").good();
    assert_eq!(run("mizzen -h").good(), help);
    assert_eq!(run("mizzen help").good(), help);
    assert_eq!(run("mizzen help version").good(), run("mizzen version --help").good());
}

#[test]
fn no_words_at_all_is_wrong_usage_and_gives_the_help() {
    assert_eq!(run("mizzen").bad(2), run("mizzen --help").good());
}

#[test]
fn help_is_not_disturbed_by_a_wrong_environment() {
    ended(command("mizzen").arg("--help").env("MIZZEN_LOG", "loud")).good();
}

#[test]
fn colours_are_shown_when_forced_and_never_with_no_color() {
    let help = |variables: &[(&str, &str)]| {
        ended(command("mizzen").arg("--help").envs(variables.iter().copied())).good()
    };
    let error = |variables: &[(&str, &str)]| {
        ended(command("mizzen").arg("--wrong").envs(variables.iter().copied())).bad(2)
    };
    for text in [help(&[("CLICOLOR_FORCE", "1")]), error(&[("CLICOLOR_FORCE", "1")])] {
        assert!(text.contains('\u{1b}'), "{text}");
    }
    let never = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    for text in [help(&[]), error(&[]), help(&never), error(&never)] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
