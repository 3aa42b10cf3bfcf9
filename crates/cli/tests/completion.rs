//! Completion scripts, for the program by whose name we were called.

mod common;

use common::{Folder, NAMES, ended, run};
use std::{
    io::Write,
    process::{Command, Stdio},
};

#[test]
fn every_shell_gets_a_script_that_is_registered_for_the_name() {
    // How each shell ties a script to the command it completes.
    let shells = [
        ("bash", " -o default {}\n"),
        ("zsh", "#compdef {}\n"),
        ("fish", "complete -c {} "),
        ("powershell", "-CommandName '{}' "),
        ("elvish", "arg-completer[{}] "),
    ];
    for name in NAMES {
        for (shell, tie) in shells {
            let script = run(&format!("{name} completion {shell}")).good();
            for word in [&tie.replace("{}", name), "version", "log-level"] {
                assert!(script.contains(word), "{name} {shell} lacks {word}");
            }
            for hidden in ["log_output_level", "log_as_json", "kubeclient-timeout"] {
                assert!(!script.contains(hidden), "{name} {shell} offers {hidden}");
            }
        }
    }
}

/// Whether the shell is there and reads the script without complaint; None where there is no such shell.
fn reads(shell: &str, script: &str) -> Option<bool> {
    let mut child = Command::new(shell)
        .arg("-n")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("the shell reads");
    Some(child.wait().expect("the shell ends").success())
}

#[test]
fn the_shells_on_this_machine_can_read_their_scripts() {
    for name in NAMES {
        for shell in ["bash", "zsh", "fish"] {
            let script = run(&format!("{name} completion {shell}")).good();
            assert_ne!(reads(shell, &script), Some(false), "{name} {shell}");
        }
    }
    assert_ne!(reads("bash", "case x in"), Some(true), "the check itself must be able to fail");
}

#[test]
fn bash_completes_the_words_of_a_link() {
    if reads("bash", "").is_none() {
        return;
    }
    let folder = Folder::new("completion");
    let istioctl = folder.link("istioctl");
    for (typed, completed) in [
        ("ver", "verify-install version"),
        ("tag se", "set"),
        ("tag set --over", "--overwrite"),
        ("mani", "manifest"),
        ("manifest gen", "generate"),
        ("manifest generate --rev", "--revision"),
        ("manifest diff --ren", "--rename"),
        ("profile d", "dump diff"),
        ("profile dump --conf", "--config-path"),
        ("profile dump -o fl", "flags"),
        ("cha", ""),
    ] {
        let last = typed.split(' ').next_back().unwrap_or_default();
        let before = typed.split(' ').rev().nth(1).unwrap_or("istioctl");
        let place = typed.split(' ').count();
        let asked = format!(
            "source <({} completion bash); COMP_WORDS=(istioctl {typed}); COMP_CWORD={place}; \
             _istioctl istioctl '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\"",
            istioctl.display()
        );
        let printed = ended(Command::new("bash").arg("-c").arg(asked)).good();
        assert_eq!(printed, format!("{completed}\n"), "{typed}");
    }
}

#[test]
fn an_unknown_shell_names_those_there_are() {
    let said = run("mizzen completion tcsh").bad(2);
    assert!(said.contains("'tcsh'") && said.contains("elvish"), "{said}");
}
