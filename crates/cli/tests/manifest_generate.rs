//! `manifest generate`: files and flags in, objects out; what is wrong is said once, with its place.
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::{Folder, charts, command, ended, fed, run};
use mizzen_text::{
    Source,
    yaml::{Options, load_all},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};

const HEAD: &str = "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\n";

/// Said whenever the built-in control plane is on.
const WEBHOOKS: &str = "Nobody serves the injection and validation webhooks yet";

fn objects(text: &str) -> Vec<Value> {
    let source = Source::new("out", text);
    load_all(&source, &Options::KUBERNETES).map(|document| document.unwrap().value).collect()
}

fn find<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

fn image(objects: &[Value]) -> &str {
    let istiod = find(objects, "Deployment", "istiod");
    istiod["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap()
}

#[test]
fn the_default_mesh_needs_no_flag() {
    let ended = run("mizzen manifest generate");
    assert_eq!(ended.code, 0);
    let objects = objects(&ended.out);
    let mut kinds = BTreeMap::new();
    for object in &objects {
        *kinds.entry(object["kind"].as_str().unwrap()).or_insert(0) += 1;
    }
    assert_eq!((objects.len(), kinds["CustomResourceDefinition"]), (39, 15), "{kinds:?}");
    find(&objects, "Deployment", "istiod");
    find(&objects, "Deployment", "istio-ingressgateway");
    // What others need comes first.
    assert_eq!(objects[0]["kind"], "CustomResourceDefinition");
    assert_eq!(objects[38]["kind"], "Service");
}

#[test]
fn warnings_are_said_on_standard_error_and_are_not_among_the_objects() {
    let ended = run(
        "mizzen manifest generate --set values.pilot.autoscaleEnabled=true --set components.pilot.k8s.replicaCount=3",
    );
    assert_eq!(ended.code, 0);
    for told in [WEBHOOKS, "replicaCount should not be set", "--> --set components.pilot.k8s.replicaCount=3"]
    {
        assert!(ended.err.contains(told), "{told}: {}", ended.err);
    }
    assert!(!ended.out.contains("warning[") && !ended.out.contains("Nobody serves"));
    assert_eq!(objects(&ended.out).len(), 39);
    assert_eq!(run("mizzen manifest generate --set profile=empty").good(), "");
}

#[test]
fn istioctl_s_name_and_flags_give_the_same() {
    let plain = run("mizzen manifest generate --revision canary").done();
    for line in [
        "istioctl manifest generate -r canary",
        "istioctl manifest generate --set revision=canary --dry-run --context blue -c config --vklog 9",
        "mizzen manifest generate -s revision=canary --offline",
    ] {
        assert!(run(line).done() == plain, "{line} prints something else");
    }
}

#[test]
fn a_file_can_be_written_instead() {
    let folder = Folder::new("generate-output");
    let ended = folder.run("manifest generate --set profile=minimal -o mesh.yaml");
    assert_eq!((ended.code, ended.out.as_str()), (0, ""));
    let written = fs::read_to_string(folder.path().join("mesh.yaml")).unwrap();
    assert!(written == run("mizzen manifest generate --set profile=minimal").done());
    let said = folder.run("manifest generate --set profile=empty -o no/such/folder.yaml").bad(1);
    assert!(
        said.starts_with("error: no/such/folder.yaml cannot be written\n  cause: No such file"),
        "{said}"
    );
}

#[test]
fn files_are_laid_over_each_other_and_flags_over_them() {
    let folder = Folder::new("generate-files");
    folder.file("a.yaml", format!("{HEAD}spec: {{hub: a.example/mesh, tag: one}}\n"));
    folder.file("b.yaml", format!("{HEAD}spec: {{tag: two}}\n"));
    for (words, wanted) in [
        ("-f a.yaml", "a.example/mesh/mizzen:one"),
        ("-f a.yaml -f b.yaml", "a.example/mesh/mizzen:two"),
        ("-f a.yaml,b.yaml", "a.example/mesh/mizzen:two"),
        ("-f b.yaml -f a.yaml", "a.example/mesh/mizzen:one"),
        ("-f a.yaml --set tag=1.30", "a.example/mesh/mizzen:1.30"),
        ("-f a.yaml -s tag=three -s tag=four", "a.example/mesh/mizzen:four"),
    ] {
        let printed = folder.run(&format!("manifest generate {words}")).done();
        assert_eq!(image(&objects(&printed)), wanted, "{words}");
    }
}

#[test]
fn standard_input_is_the_last_file() {
    let folder = Folder::new("generate-stdin");
    folder.file("a.yaml", format!("{HEAD}spec: {{hub: a.example/mesh, tag: one}}\n"));
    let text = format!("{HEAD}spec: {{tag: piped}}\n");
    let mut asked = folder.command(["manifest", "generate", "-f", "a.yaml", "-f", "-"]);
    assert_eq!(image(&objects(&fed(&mut asked, &text).done())), "a.example/mesh/mizzen:piped");
    let mut asked = folder.command(["manifest", "generate", "-f", "-"]);
    let said = fed(&mut asked, "kind: IstioOperator\nspec: {tga: 1}\n").bad(1);
    assert!(said.contains("--> -:2:8") && said.contains("did you mean `tag`?"), "{said}");
    for words in ["-f - -f a.yaml", "--filename=-,a.yaml", "-f - -f -"] {
        let said = folder.run(&format!("manifest generate {words}")).bad(2);
        let wanted = "error: standard input can only be the last file\nhint: put `-f -` behind the others\n";
        assert_eq!(said, wanted, "{words}");
    }
}

#[test]
fn a_flag_can_remove_and_may_have_any_text() {
    let words = |flag| ["manifest", "generate", "--set", "profile=demo", "--set", flag];
    let folder = Folder::new("generate-set");
    let generate = |flag| objects(&ended(&mut folder.command(words(flag))).done());
    // What the profile sets goes, and what a chart does.
    let egress =
        |objects: &[Value]| objects.iter().any(|object| object["metadata"]["name"] == "istio-egressgateway");
    assert!(egress(&generate("values.global.logAsJson=true")));
    assert!(!egress(&generate("components.egressGateways=null")));
    let requests = |flag| {
        let istiod = find(&generate(flag), "Deployment", "istiod").clone();
        istiod["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"].clone()
    };
    assert_eq!(requests("values.global.logAsJson=true"), json!({"cpu": "10m", "memory": "100Mi"}));
    assert_eq!(requests("values.pilot.resources.requests.memory=null"), json!({"cpu": "10m"}));
    // The first `=` parts path and value.
    let objects = generate("meshConfig.defaultConfig.proxyMetadata.OPTIONS=a=b,c==d");
    let mesh = find(&objects, "ConfigMap", "istio")["data"]["mesh"].as_str().unwrap();
    assert!(mesh.contains("OPTIONS: a=b,c==d"), "{mesh}");
}

#[test]
fn a_revision_is_part_of_the_names() {
    let printed = objects(&run("mizzen manifest generate --revision canary").done());
    let istiod = find(&printed, "Deployment", "istiod-canary");
    assert_eq!(istiod["metadata"]["labels"]["istio.io/rev"], "canary");
    let default = run("mizzen manifest generate").done();
    assert!(run("mizzen manifest generate --revision default").done() == default);
}

#[test]
fn what_is_not_valid_is_refused_and_only_warned_of_with_force() {
    let line = "mizzen manifest generate --set values.pilot.autoscaleMin=two";
    let refused = run(line).bad(1);
    let sentence = "`autoscaleMin` must be a whole number that is not negative, not a text\n  \
                    --> --set values.pilot.autoscaleMin=two\n";
    assert!(refused.starts_with(&format!("error[MZ0201]: {sentence}")), "{refused}");
    let forced = run(&format!("{line} --force"));
    assert_eq!((forced.code, objects(&forced.out).len()), (0, 39));
    assert!(forced.err.contains(&format!("warning[MZ0201]: {sentence}")), "{}", forced.err);
}

#[test]
fn what_a_flag_gets_wrong_is_told_with_the_flag() {
    for (words, told) in [
        ("--set profile=dmo", "no profile `dmo` in the charts that are built in; did you mean `demo`?"),
        ("--set profile=xyzzy", "there are ambient, default, demo, empty, minimal, "),
        ("--set values.globl.hub=x", "unknown field `globl`"),
        ("--set components.pilto.enabled=true", "did you mean `pilot`?"),
        ("--set components.pilot.enabled=maybe", "`enabled` must be true or false, not a text"),
        ("--set components[x=3", "`[x` selects nothing: write `[0]` for an item by its place"),
        ("--set =3", "there is no path in front of `=`"),
        ("--revision Bad_Name", "`Bad_Name` cannot be the name of a revision"),
    ] {
        let said = run(&format!("mizzen manifest generate {words}")).bad(1);
        assert!(said.contains(told) && said.contains(&format!("--> {words}\n")), "{words}: {said}");
        assert_eq!(said.matches("error[").count(), 1, "{words}: {said}");
    }
}

#[test]
fn a_flag_without_a_value_sets_an_empty_text_as_with_istioctl_and_is_warned_of() {
    let ended = run("mizzen manifest generate --set profile=empty --set values.global.hub");
    assert_eq!((ended.code, ended.out.as_str()), (0, ""));
    let wanted =
        "there is no `=`, so `values.global.hub` is set to an empty text\n  --> --set values.global.hub\n";
    assert!(ended.err.contains(wanted), "{}", ended.err);
}

#[test]
fn what_a_file_gets_wrong_is_shown_in_the_file() {
    let folder = Folder::new("generate-wrong");
    for (text, told) in [
        ("spec:\n  profle: demo\n", "--> mesh.yaml:4:3\n   |\n 4 |   profle: demo\n   |   ^^^^^^\n"),
        ("spec:\n  profile: dmo\n", "--> mesh.yaml:4:"),
        ("spec: {values: {pilot: {autoscaleMin: two}}}\n", "`autoscaleMin` must be a whole number"),
        ("spec: [\n", "the `[` is not closed"),
        ("---\nkind: IstioOperator\n", "put each into a file of its own"),
    ] {
        folder.file("mesh.yaml", format!("{HEAD}{text}"));
        let said = folder.run("manifest generate -f mesh.yaml").bad(1);
        assert!(said.contains(told) && said.contains("--> mesh.yaml:"), "{text}: {said}");
    }
    for (text, told) in [
        ("just text\n", "the file is no IstioOperator"),
        ("apiVersion: v1\nkind: Service\n", "the kind is `Service`; it must be `IstioOperator`"),
        ("kind: IstioOperatr\n", "did you mean `IstioOperator`?"),
        ("spec: {}\n", "`kind` is missing"),
    ] {
        folder.file("mesh.yaml", text);
        let said = folder.run("manifest generate -f mesh.yaml").bad(1);
        assert!(said.contains(told) && said.contains("--> mesh.yaml:"), "{text}: {said}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new("generate-unreadable");
    let said = folder.run("manifest generate -f one.yaml -f two.yaml").bad(1);
    for name in ["one.yaml", "two.yaml"] {
        assert!(
            said.contains(&format!("cannot be read: No such file or directory (os error 2)\n  --> {name}\n"))
        );
    }
    let said = folder.run("manifest generate -f .").bad(2);
    assert!(said.starts_with("error: . is a folder, and -f takes files\nhint: name its files"), "{said}");
}

#[test]
fn a_component_without_a_chart_is_never_passed_by() {
    for component in ["cni", "ztunnel"] {
        let flag = format!("--set components.{component}.enabled=true");
        let said = run(&format!("mizzen manifest generate {flag}")).bad(1);
        for told in [
            &format!("`components.{component}` is switched on, but there is no chart"),
            &format!("--> {flag}\n"),
            "hint: give Istio's own charts, which have it: `--manifests DIR`",
        ] {
            assert!(said.contains(told), "{said}");
        }
    }
}

#[test]
fn what_asks_a_cluster_says_so_where_there_is_none() {
    let said = run("istioctl manifest generate --cluster-specific --kubeconfig /does/not/exist").bad(1);
    assert!(said.contains("/does/not/exist cannot be used"), "{said}");
    assert!(run("mizzen manifest generate mesh.yaml").bad(2).contains("unexpected argument 'mesh.yaml'"));
    assert!(run("mizzen manifest").bad(2).contains("Usage: mizzen manifest"));
}

const OBJECT: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
data: {hub: {{ .Values.global.hub | quote }}}
";

#[test]
fn charts_come_from_a_folder_and_from_an_archive() {
    let folder = Folder::new("generate-charts");
    charts::manifests(&folder, "own", OBJECT);
    let chart = "apiVersion: v2\nname: base\nversion: 1.2.3\n";
    folder.file(
        "own.tgz",
        charts::archive(&[
            ("istio-1.0/bin/istioctl", "\0\0"),
            ("istio-1.0/manifests/profiles/default.yaml", charts::PROFILE),
            ("istio-1.0/manifests/charts/base/Chart.yaml", chart),
            ("istio-1.0/manifests/charts/base/templates/object.yaml", OBJECT),
        ]),
    );
    folder
        .file("base.tgz", charts::archive(&[("base/Chart.yaml", chart), ("base/templates/a.yaml", OBJECT)]));
    folder.file("named.yaml", format!("{HEAD}spec: {{installPackagePath: own}}\n"));
    let base = "-d base.tgz --set hub=mirror.example/mesh --set profile=minimal --set components.pilot.enabled=false";
    for words in ["-d own", "--manifests own", "--charts own", "-f named.yaml", "-d own.tgz", base] {
        let printed = objects(&folder.run(&format!("manifest generate {words}")).good());
        assert_eq!(printed.len(), 1, "{words}");
        assert_eq!(printed[0]["metadata"]["namespace"], "istio-system", "{words}");
        assert_eq!(printed[0]["data"]["hub"], "mirror.example/mesh", "{words}");
    }
}

#[test]
fn what_holds_no_charts_is_told_in_one_sentence() {
    let folder = Folder::new("generate-no-charts");
    folder.file("mesh.yaml", HEAD);
    folder.file("empty.tgz", charts::archive(&[]));
    folder.file("other.tgz", charts::archive(&[("readme/text.md", "hello")]));
    folder.file("charts-only/charts/base/Chart.yaml", "name: base");
    for (words, told) in [
        ("-d /", "error: / has neither `charts` nor `profiles` in it: give the folder `manifests` of"),
        ("-d nowhere", "error: no charts can be read at nowhere: No such file or directory"),
        ("-d /dev/zero", "error: /dev/zero is neither a folder nor a file\nhint: --manifests takes a folder"),
        ("-d mesh.yaml", "error: mesh.yaml: this is no gzip-compressed tar archive"),
        ("-d empty.tgz", "error: empty.tgz: the archive holds no files"),
        ("-d other.tgz", "error: other.tgz holds neither `charts` and `profiles` nor a chart"),
        ("-d charts-only", "there is no profile `default` in the charts in charts-only"),
        ("-d ftp://a.example/", "it may be a folder, a .tgz, https://… or oci://…"),
        ("--version 1.30.0", "the charts that are built in have no versions to choose from"),
    ] {
        let said = folder.run(&format!("manifest generate {words}")).bad(1);
        assert!(said.contains(told), "{words}: {said}");
        assert_eq!(said.matches("error").count() - said.matches("os error").count(), 1, "{words}: {said}");
    }
    // Nothing is asked of a network without need.
    let ended =
        ended(command("mizzen").args(["manifest", "generate", "--offline", "--set", "profile=empty"]));
    assert_eq!(ended.good(), "");
}
