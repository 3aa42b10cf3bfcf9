//! `validate`: what a person sees, and what a script learns.

mod common;

use common::{Folder, command, ended, golden, run};
use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

const GOOD: &str = "\
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public}
spec:
  servers:
  - {port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}
";

/// One object for each way to be wrong, and neighbours that are not.
const BAD: &str = "\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: reviews
  namespace: shop
spec:
  hots: [reviews]
  http:
  - timeout: 5
    match:
    - uri: {exact: /a, prefix: /b}
    route:
    - destination: {host: reviews..shop, port: {number: 0}}
---
broken: [1
---
apiVersion: networking.istio.io/v1
kind: Gatewya
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: fine}
spec:
  servers:
  - {port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}
---
apiVersion: v1
kind: Service
metadata: {name: other}
---
kind: List
apiVersion: v1
items:
- apiVersion: security.istio.io/v1
  kind: PeerAuthentication
  metadata: {name: strict}
  spec: {mtls: {mode: STRICT, mode: DISABLE}}
- apiVersion: networking.istio.io/v9
  kind: Sidecar
  metadata: {name: from-the-future}
";

/// In the folder, so that paths are the same everywhere.
fn validate(folder: &Folder, words: &[&str]) -> Command {
    let mut command = command("mizzen");
    command.current_dir(folder.path()).arg("validate").args(words);
    command
}

#[test]
fn what_is_wrong_is_shown_at_its_place_in_every_form() {
    let folder = Folder::new("validate-forms");
    fs::write(folder.path().join("mesh.yaml"), BAD).unwrap();
    for (form, file) in [("text", "validate.txt"), ("json", "validate.json"), ("sarif", "validate.sarif")] {
        let ended = ended(&mut validate(&folder, &["-f", "mesh.yaml", "-v", "-o", form]));
        assert_eq!((ended.code, ended.err.as_str()), (1, ""), "{form}");
        golden(file, &ended.out);
    }
}

#[test]
fn what_is_right_is_said_in_one_line() {
    let folder = Folder::new("validate-good");
    fs::write(folder.path().join("good.yaml"), GOOD).unwrap();
    for words in [&["-f", "good.yaml"][..], &["good.yaml"], &["-f", "."], &["--filename=good.yaml"]] {
        assert_eq!(ended(&mut validate(&folder, words)).good(), "1 Istio object in 1 file: valid\n");
    }
}

#[test]
fn istioctl_s_way_to_ask_is_understood() {
    let folder = Folder::new("validate-istioctl");
    fs::write(folder.path().join("good.yaml"), GOOD).unwrap();
    let mut asked = command("istioctl");
    asked.current_dir(folder.path()).args(["v", "-f", "good.yaml", "-n", "shop", "-i", "istio-system"]);
    ended(&mut asked).good();
}

#[test]
fn standard_input_is_an_input() {
    let mut asked = command("mizzen");
    asked.args(["validate", "-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = asked.spawn().unwrap();
    child.stdin.take().unwrap().write_all(BAD.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("-:7:3"));
}

#[test]
fn a_folder_is_read_with_all_below_it_and_one_bad_file_harms_no_other() {
    let folder = Folder::new("validate-folder");
    fs::create_dir_all(folder.path().join("deep/er")).unwrap();
    fs::write(folder.path().join("deep/er/a.yml"), GOOD).unwrap();
    fs::write(folder.path().join("b.json"), "{\"apiVersion\": \"v1\", \"kind\": \"Service\"}").unwrap();
    fs::write(folder.path().join("c.yaml"), [0xff, 0x00]).unwrap();
    fs::write(folder.path().join("notes.txt"), "not: [read").unwrap();
    let ended = ended(&mut validate(&folder, &["-f", ".", "-f", "missing.yaml"]));
    assert_eq!(ended.code, 1);
    for told in
        ["./c.yaml:1:1", "missing.yaml", "cannot be read", "1 Istio object in 3 files", "passed by: 1 other"]
    {
        assert!(ended.out.contains(told), "{told}: {}", ended.out);
    }
}

#[test]
fn nothing_to_validate_is_wrong_usage() {
    assert!(run("mizzen validate").bad(2).contains("name a file"));
    assert!(run("mizzen validate -f x -o yaml").bad(2).contains("sarif"));
}

#[test]
fn hostile_input_is_told_of_and_its_neighbours_are_still_checked() {
    let folder = Folder::new("validate-hostile");
    let bomb: String = ('b'..'k').fold("a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, name| {
        let before = char::from(name as u8 - 1);
        format!("{text}{name}: &{name} [{}]\n", vec![format!("*{before}"); 10].join(","))
    });
    for (name, text, told) in [
        ("deep", format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), "nested"),
        ("bomb", bomb, "alias"),
        ("nul", "a: \0\n".to_owned(), "0"),
        ("truncated", GOOD[..GOOD.len() - 20].to_owned(), "not closed"),
    ] {
        let file = format!("{name}.yaml");
        fs::write(folder.path().join(&file), format!("{GOOD}---\n{text}\n---\n{GOOD}")).unwrap();
        let ended = ended(&mut validate(&folder, &["-f", &file]));
        assert_eq!((ended.code, ended.err.as_str()), (1, ""), "{name}");
        assert!(ended.out.contains("2 Istio objects in 1 file: 0 refused, 1 error"), "{name}: {}", ended.out);
        assert!(ended.out.to_lowercase().contains(told), "{name}: {}", ended.out);
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_and_not_read_to_its_end() {
    let folder = Folder::new("validate-large");
    // 100 MB that take no room on the disk.
    fs::File::create(folder.path().join("large.yaml")).unwrap().set_len(100 << 20).unwrap();
    let ended = ended(&mut validate(&folder, &["-f", "large.yaml"]));
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("MZ0002") && ended.out.contains("64 MiB"), "{}", ended.out);
}

#[test]
fn the_examples_are_valid() {
    let mut asked = command("mizzen");
    asked.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).args(["validate", "-f", "examples"]);
    // The files of applications are no objects; `app build` reads them.
    assert_eq!(ended(&mut asked).good(), "4 Istio objects in 9 files: valid; passed by: 7 other objects\n");
}

#[test]
fn what_is_no_object_is_told_and_half_an_object_too() {
    let folder = Folder::new("validate-no-object");
    let list = "apiVersion: v1\nkind: List\nitems: ";
    for (text, code, told) in [
        ("just text", 1, "must be a map"),
        ("[a]", 1, "must be a map"),
        ("kind: VirtualService", 1, "`apiVersion` is required"),
        ("apiVersion: networking.istio.io/v1", 1, "`kind` is required"),
        ("replicas: 3", 0, "passed by: 1 other object"),
        (&format!("{list}3"), 1, "`items` must be a list"),
        (&format!("{list}[{{metadata: {{name: a}}}}]"), 1, "`apiVersion` is required"),
    ] {
        fs::write(folder.path().join("a.yaml"), text).unwrap();
        let ended = ended(&mut validate(&folder, &["a.yaml"]));
        assert_eq!(ended.code, code, "{text}: {}", ended.out);
        assert!(ended.out.contains(told), "{text}: {}", ended.out);
    }
}

#[test]
fn one_wrong_type_hides_nothing_else() {
    let folder = Folder::new("validate-hidden");
    let text = GOOD.replace("{name: public}", "{name: public, annotations: {a: 3}}").replace("80", "99999");
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let out = ended(&mut validate(&folder, &["a.yaml"])).out;
    assert!(out.contains("metadata.annotations.a") && out.contains("servers[0].port.number"), "{out}");
}

#[test]
fn warnings_never_take_an_error_s_place() {
    let folder = Folder::new("validate-many");
    let routes: String = (1..200)
        .map(|length| {
            format!(
                "  - {{match: [{{uri: {{prefix: {}}}}}], route: [{{destination: {{host: a}}}}]}}\n",
                "/".repeat(length)
            )
        })
        .collect();
    let warned = format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a}}\nspec:\n  hosts: [a]\n  http:\n{routes}"
    );
    let refused = GOOD.replace("80", "99999");
    fs::write(folder.path().join("a.yaml"), format!("{}---\n{refused}", format!("{warned}---\n").repeat(11)))
        .unwrap();
    for form in ["json", "sarif"] {
        let out = ended(&mut validate(&folder, &["a.yaml", "-o", form])).out;
        assert!(out.contains("99999") && out.contains("\"error\""), "{form}: the error is not told");
    }
}

#[test]
fn what_cannot_be_read_in_a_folder_is_named() {
    let folder = Folder::new("validate-links");
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
    std::os::unix::fs::symlink("loop.yaml", folder.path().join("loop.yaml")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("folder.yaml")).unwrap();
    let ended = ended(&mut validate(&folder, &["-f", "."]));
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("dangling.yaml") && ended.out.contains("loop.yaml"), "{}", ended.out);
    assert!(!ended.out.contains("folder.yaml"), "{}", ended.out);
}

#[test]
fn istioctl_s_options_about_a_cluster_change_nothing() {
    let folder = Folder::new("validate-flags");
    fs::write(folder.path().join("good.yaml"), GOOD).unwrap();
    let words = "-f good.yaml --context a --as b --as-group c --as-uid d --kubeclient-timeout 5s --vklog 9";
    let words: Vec<_> = words.split(' ').collect();
    ended(&mut validate(&folder, &words)).good();
}
