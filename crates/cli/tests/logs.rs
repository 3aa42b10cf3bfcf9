//! Which logs are written, and how.

mod common;

use common::{Ended, command, ended, run};
use serde_json::Value;

/// Standard error beside a standard output that is as it should be.
fn logs(ended: Ended) -> String {
    assert_eq!((ended.code, ended.out.lines().count()), (0, 1), "{}", ended.err);
    ended.err
}

fn logs_with(variables: &[(&str, &str)], words: &str) -> String {
    logs(ended(
        command("mizzen")
            .args(["version", "-s"])
            .args(words.split_whitespace())
            .envs(variables.iter().copied()),
    ))
}

#[test]
fn json_logs_are_one_object_a_line() {
    for words in ["--log-level debug --log-format json", "--log_output_level default:debug --log_as_json"] {
        let text = logs_with(&[], words);
        assert!(!text.is_empty());
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["level"], &line["message"]), (&"DEBUG".into(), &"started".into()), "{line}");
            assert_eq!((&line["program"], &line["verb"]), (&"mizzen".into(), &"version".into()), "{line}");
            assert!(line["timestamp"].is_string() && line["target"].is_string(), "{line}");
        }
    }
}

#[test]
fn a_filter_may_name_a_target() {
    assert!(logs_with(&[], "--log-level warn,mizzen=debug").contains("started"));
    assert_eq!(logs_with(&[], "--log-level debug,mizzen=warn"), "");
}

#[test]
fn the_option_may_stand_before_the_verb() {
    assert!(logs(run("mizzen --log-level debug version -s")).contains("started"));
}

#[test]
fn the_environment_is_heard_and_an_option_overrules_it() {
    let variables = [("MIZZEN_LOG", "debug"), ("MIZZEN_LOG_FORMAT", "json")];
    assert!(logs_with(&variables, "").starts_with('{'));
    assert!(!logs_with(&variables, "--log-format text").starts_with('{'));
    assert_eq!(logs_with(&variables, "--log-level info"), "");
    assert_eq!(logs_with(&[], ""), "");
}

#[test]
fn a_wrong_filter_is_wrong_usage_told_at_its_place() {
    let cases = [
        (
            "--log-level info,mizzen_xds=loud",
            "--log-level",
            "`loud` at column 17 is not a level (error, warn",
        ),
        (
            "--log_output_level ads:loud",
            "--log_output_level",
            "`loud` at column 5 is not a level (none, fatal",
        ),
        ("--log-format xml", "--log-format", "invalid value 'xml'"),
    ];
    for (words, option, sentence) in cases {
        let said = run(&format!("mizzen version {words}")).bad(2);
        assert!(said.contains(option) && said.contains(sentence), "{said}");
    }
    let said = ended(command("mizzen").arg("version").env("MIZZEN_LOG", "loud")).bad(2);
    assert!(said.contains("MIZZEN_LOG: `loud` at column 1 is not a level"), "{said}");
}

#[test]
fn logs_have_colours_only_where_wanted() {
    let forced = [("CLICOLOR_FORCE", "1")];
    assert!(logs_with(&forced, "--log-level debug").contains('\u{1b}'));
    assert!(!logs_with(&forced, "--log-level debug --log-format json").contains('\u{1b}'));
    assert!(!logs_with(&[], "--log-level debug").contains('\u{1b}'));
    let never = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!logs_with(&never, "--log-level debug").contains('\u{1b}'));
}
