//! The rules of Helm's engine that are easy to get wrong, each with a small chart.
#![allow(clippy::unwrap_used, reason = "a test may end here")]

use mizzen_template::helm::{
    self, Capabilities, Chart, HelmError, KubeVersion, ManifestOptions, Release, RenderOptions, Rendered,
    render,
};
use serde_json::{Value, json};

const TOP: (&str, &str) = ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n");

fn chart(files: &[(&str, &str)]) -> Chart {
    let all = [TOP].iter().chain(files).map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    Chart::from_files(all).unwrap()
}

fn try_render(files: &[(&str, &str)], values: &Value) -> Result<Rendered, HelmError> {
    let release = Release { name: "r".into(), namespace: "n".into(), ..Release::default() };
    render(&chart(files), values, &release, &Capabilities::default(), &RenderOptions::default())
}

/// The output of `templates/out.yaml`.
fn out(files: &[(&str, &str)], values: &Value) -> String {
    let rendered = try_render(files, values).unwrap_or_else(|error| panic!("{error}"));
    rendered.files.into_iter().find(|(name, _)| name == "top/templates/out.yaml").unwrap().1
}

#[test]
fn rule_1_templates_run_in_descending_order_deeper_ones_first() {
    let note = "{{ $_ := set .Values \"order\" (append (.Values.order | default list) .Template.Name) }}";
    let files = [
        ("templates/out.yaml", "{{ .Values.order | join \" \" }}"),
        ("templates/zzz.yaml", note),
        ("templates/p.yaml", note),
        ("templates/a/deep.yaml", note),
        ("templates/_partial.tpl", note),
    ];
    assert_eq!(
        out(&files, &json!({})),
        "top/templates/a/deep.yaml top/templates/zzz.yaml top/templates/p.yaml"
    );
}

#[test]
fn rule_2_set_and_merge_change_the_values_of_all_later_templates() {
    let files = [
        ("values.yaml", "defaults: {a: 1, map: {x: 1}}\n"),
        (
            "templates/zzz.yaml",
            "{{ $d := .Values.defaults }}{{ $_ := unset .Values \"defaults\" }}\
             {{ $_ := set $ \"Values\" (mustMergeOverwrite $d .Values) }}",
        ),
        ("templates/out.yaml", "{{ .Values | toJson }}"),
    ];
    assert_eq!(out(&files, &json!({"b": 2, "map": {"y": 2}})), r#"{"a":1,"b":2,"map":{"x":1,"y":2}}"#);
}

#[test]
fn rule_4_a_null_that_a_template_merges_overwrites_and_does_not_remove() {
    let files = [
        ("values.yaml", "_defaults: {a: 1, b: 2}\n"),
        (
            "templates/out.yaml",
            "{{ mustMergeOverwrite .Values._defaults (omit .Values \"_defaults\") | toJson }}",
        ),
    ];
    assert_eq!(out(&files, &json!({"a": null})), r#"{"a":null,"b":2}"#);
}

#[test]
fn rule_6_a_missing_key_prints_nothing_but_its_fields_are_an_error() {
    let files =
        [("templates/out.yaml", "[{{ .Values.missing }}][{{ (.Values.missing).field }}][<no value>]")];
    assert_eq!(out(&files, &json!({})), "[][][]");
    let files = [("templates/out.yaml", "a\n  {{ .Values.missing.field }}")];
    let error = try_render(&files, &json!({})).unwrap_err().to_string();
    assert!(error.starts_with("top/templates/out.yaml:2:"), "{error}");
    assert!(error.contains("nil pointer evaluating"), "{error}");
}

#[test]
fn rule_6_in_strict_mode_a_missing_key_is_an_error() {
    let chart = chart(&[("templates/out.yaml", "{{ .Values.missing }}")]);
    let options = RenderOptions { strict: true, ..RenderOptions::default() };
    let error =
        render(&chart, &json!({}), &Release::default(), &Capabilities::default(), &options).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn rule_10_the_last_definition_of_a_name_wins_for_all_charts() {
    let files = [
        ("templates/_b.tpl", "{{ define \"x\" }}b{{ end }}{{ define \"y\" }}y{{ end }}"),
        ("templates/_a.tpl", "{{ define \"x\" }}a{{ end }}{{ define \"y\" }}  \n{{/* c */}}{{ end }}"),
        ("templates/out.yaml", "{{ include \"x\" . }} {{ include \"y\" . }} {{ include \"s\" . }}"),
        ("charts/s/Chart.yaml", "name: s\nversion: 1.0.0\n"),
        (
            "charts/s/templates/_s.tpl",
            "{{ define \"x\" }}sub{{ end }}{{ define \"s\" }}s sees {{ include \"x\" . }}{{ end }}",
        ),
    ];
    assert_eq!(out(&files, &json!({})), "a y s sees a");
}

#[test]
fn rule_11_notes_are_run_and_may_end_everything() {
    let files = [
        ("templates/out.yaml", "kind: A"),
        (
            "templates/NOTES.txt",
            "WARNING: {{ .Values.old | default \"nothing\" }} is old\n{{ if .Values.gone }}{{ fail \"gone was removed\" }}{{ end }}",
        ),
    ];
    let rendered = try_render(&files, &json!({"old": "x"})).unwrap();
    assert_eq!(rendered.notes.as_deref(), Some("WARNING: x is old\n"));
    assert_eq!(rendered.files.len(), 1);
    let error = try_render(&files, &json!({"gone": 1})).unwrap_err().to_string();
    assert_eq!(error, "top/templates/NOTES.txt:2:25: gone was removed");
}

#[test]
fn rule_15_a_users_null_removes_a_default_and_maps_merge() {
    let files = [
        ("values.yaml", "a: 1\nm: {x: 1, q: {z: 2}}\nl: [1]\nt: {k: 1}\nn: null\n"),
        ("templates/out.yaml", "{{ .Values | toJson }}"),
    ];
    let values = json!({"a": null, "m": {"q": {"w": 3}, "x": null}, "l": [2, 3], "t": "text"});
    assert_eq!(out(&files, &values), r#"{"l":[2,3],"m":{"q":{"w":3,"z":2}},"t":"text"}"#);
    let rendered = try_render(&files, &json!({"a": {"b": 1}})).unwrap();
    assert_eq!(rendered.warnings, ["top.a is a map here, but 1 in the chart's defaults"]);
}

#[test]
fn rule_15_values_must_fit_the_schema_unless_it_is_skipped() {
    let files = [
        (
            "values.schema.json",
            r#"{"properties": {"port": {"type": "integer"}}, "additionalProperties": false}"#,
        ),
        ("templates/out.yaml", "kind: A"),
    ];
    let values = json!({"port": "x", "prot": 1});
    let error = try_render(&files, &values).unwrap_err().to_string();
    assert_eq!(
        error,
        "the values do not fit the schema of chart top: port must be of type integer, but is \"x\"; prot is not a \
         known key; did you mean \"port\"?"
    );
    let options = RenderOptions { skip_schema: true, ..RenderOptions::default() };
    assert!(render(&chart(&files), &values, &Release::default(), &Capabilities::default(), &options).is_ok());
}

#[test]
fn rule_16_definitions_are_kept_as_they_are() {
    let files = [
        ("crds/b.yaml", "kind: CustomResourceDefinition # {{ not a template }}\n"),
        ("crds/a.json", "{}"),
        ("crds/read.md", "nothing"),
        ("charts/s/Chart.yaml", "name: s\nversion: 1.0.0\n"),
        ("charts/s/crds/c.YML", "kind: CustomResourceDefinition\n"),
    ];
    let rendered = try_render(&files, &json!({})).unwrap();
    let names: Vec<_> = rendered.crds.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["top/crds/a.json", "top/crds/b.yaml", "top/charts/s/crds/c.YML"]);
    assert_eq!(rendered.crds[1].1, "kind: CustomResourceDefinition # {{ not a template }}\n");
    let options = ManifestOptions { crds: true, ..ManifestOptions::default() };
    let text = helm::manifest(&rendered, options).unwrap();
    assert!(
        text.starts_with("---\n# Source: top/crds/a.json\n{}\n---\n# Source: top/crds/b.yaml\n"),
        "{text}"
    );
}

#[test]
fn rule_17_output_is_sorted_by_name_and_split_into_documents() {
    let files = [
        ("templates/b.yaml", "kind: B\n---\n\n---\n# nothing\n---\nkind: C\n"),
        ("templates/a.yaml", "{{/* empty */}}"),
        ("templates/deep/a.yaml", "kind: D"),
    ];
    let rendered = try_render(&files, &json!({})).unwrap();
    let names: Vec<_> = rendered.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["top/templates/a.yaml", "top/templates/b.yaml", "top/templates/deep/a.yaml"]);
    assert_eq!(helm::split(&rendered.files[1].1), ["kind: B", "---\n# nothing", "kind: C"]);
}

#[test]
fn a_chart_can_be_shared_between_threads_and_renders_the_same() {
    fn shared<T: Send + Sync>(_: &T) {}
    let chart = chart(&[
        ("values.yaml", "a: {b: 1}\n"),
        ("templates/out.yaml", "{{ $_ := set .Values.a \"c\" 2 }}{{ .Values | toJson }}"),
    ]);
    shared(&chart);
    let once = || {
        let values = json!({"z": 1, "a": {"x": 2}});
        let capabilities = Capabilities::default().with_kube_version(KubeVersion::parse("1.30").unwrap());
        render(&chart, &values, &Release::default(), &capabilities, &RenderOptions::default()).unwrap().files
    };
    let first = once();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(once(), first));
        }
    });
}

#[test]
fn charts_that_multiply_by_aliases_are_refused() {
    let many: String = (0..20)
        .map(|number| format!("- {{name: s, version: 1.0.0, repository: '', alias: a{number}}}\n"))
        .collect();
    let sub = format!("apiVersion: v2\nname: s\nversion: 1.0.0\ndependencies:\n{many}");
    let files = [
        ("Chart.yaml".to_owned(), sub.replace("name: s\nv", "name: top\nv")),
        ("charts/s/Chart.yaml".to_owned(), sub.clone()),
        ("charts/s/charts/s/Chart.yaml".to_owned(), sub),
        ("charts/s/charts/s/charts/s/Chart.yaml".to_owned(), "name: s\nversion: 1.0.0\n".to_owned()),
    ];
    let chart = Chart::from_files(files).unwrap();
    let options = RenderOptions { dependencies: true, ..RenderOptions::default() };
    let error =
        render(&chart, &json!({}), &Release::default(), &Capabilities::default(), &options).unwrap_err();
    assert!(error.to_string().contains("more than 256 charts"), "{error}");
}

#[test]
fn a_template_that_is_no_text_is_told() {
    let files = [("Chart.yaml", TOP.1.as_bytes().to_vec()), ("templates/a.yaml", vec![b'a', 0xff])];
    let chart = Chart::from_files(files.map(|(name, data)| (name.to_owned(), data))).unwrap();
    let error =
        render(&chart, &json!({}), &Release::default(), &Capabilities::default(), &RenderOptions::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "templates/a.yaml: the byte at 1 is not UTF-8: save the file as UTF-8"
    );
}

/// One template on these values.
fn one(template: &str, values: &Value) -> String {
    out(&[("templates/out.yaml", template)], values)
}

#[test]
fn rule_3_defaults_profile_and_user_values_are_layered_by_a_template() {
    let files = [
        ("values.yaml", "_internal: {size: small, global: {hub: here}, list: [1]}\n"),
        ("files/profile-demo.yaml", "size: demo\nextra: true\n"),
        (
            "templates/zzz.yaml",
            "{{ $d := .Values._internal }}{{ $_ := unset .Values \"_internal\" }}\
             {{ with .Values.profile }}{{ with $.Files.Get (printf \"files/profile-%s.yaml\" .) }}\
             {{ $_ := mustMergeOverwrite $d (. | fromYaml) }}{{ else }}{{ fail (cat \"unknown profile\" .) }}{{ end }}{{ end }}\
             {{ $_ := set .Values \"_original\" (deepCopy .Values) }}\
             {{ $_ := set $ \"Values\" (mustMergeOverwrite $d .Values) }}",
        ),
        ("templates/out.yaml", "{{ .Values | toJson }}"),
    ];
    assert_eq!(
        out(&files, &json!({"profile": "demo", "list": []})),
        r#"{"_original":{"list":[],"profile":"demo"},"extra":true,"global":{"hub":"here"},"list":[],"profile":"demo","size":"demo"}"#
    );
    let error = try_render(&files, &json!({"profile": "none"})).unwrap_err().to_string();
    assert!(error.contains("unknown profile none"), "{error}");
}

#[test]
fn rule_5_merging_recurses_in_place_and_shares_what_it_takes_over() {
    let merge = |function: &str| {
        format!(
            "{{{{ $a := dict \"m\" (dict \"x\" 1) \"s\" \"a\" \"e\" \"\" }}}}\
             {{{{ $b := dict \"m\" (dict \"y\" 2) \"s\" \"\" \"e\" \"full\" \"n\" (dict \"z\" 3) \"nil\" nil }}}}\
             {{{{ $_ := {function} $a $b }}}}{{{{ $_ := set $b.n \"seen\" true }}}}{{{{ toJson $a }}}}"
        )
    };
    assert_eq!(
        one(&merge("mergeOverwrite"), &json!({})),
        r#"{"e":"full","m":{"x":1,"y":2},"n":{"seen":true,"z":3},"nil":null,"s":""}"#
    );
    assert_eq!(
        one(&merge("merge"), &json!({})),
        r#"{"e":"full","m":{"x":1,"y":2},"n":{"seen":true,"z":3},"s":"a"}"#
    );
}

#[test]
fn rule_7_numbers_are_floats_and_comparisons_are_strict() {
    let values = json!({"big": 1_000_000, "one": 1, "text": "1"});
    assert_eq!(
        one("{{ .Values.big }} {{ .Values.big | int }} {{ .Values.one }}", &values),
        "1e+06 1000000 1"
    );
    assert_eq!(one("{{ eq (.Values.one | int) 1 }} {{ eq .Values.none \"x\" }}", &values), "true false");
    for wrong in ["{{ eq .Values.one 1 }}", "{{ eq .Values.text true }}", "{{ gt .Values.one 0 }}"] {
        let error = try_render(&[("templates/out.yaml", wrong)], &values).unwrap_err().to_string();
        assert!(error.contains("incompatible types for comparison"), "{wrong}: {error}");
    }
}

#[test]
fn rule_8_nothing_is_treated_differently_by_every_function() {
    let template = "[{{ quote .Values.none }}][{{ cat nil \"a\" nil 1 }}][{{ toString .Values.none }}]\
                    [{{ default \"d\" false }}][{{ default \"d\" 0 }}][{{ default \"d\" \"\" }}]";
    assert_eq!(one(template, &json!({})), "[][a 1][<nil>][d][d][d]");
}

#[test]
fn rule_9_a_comment_trims_only_where_it_says_so() {
    assert_eq!(one("a \n{{- /* c */}}\n b {{- /* d */ -}} \n e", &json!({})), "a\n be");
}

#[test]
fn rule_12_pretty_json_is_exact() {
    let values = json!({"b": [1, 1.5, []], "a": "<&>", "c": {}});
    let expected =
        "{\n  \"a\": \"\\u003c\\u0026\\u003e\",\n  \"b\": [\n    1,\n    1.5,\n    []\n  ],\n  \"c\": {}\n}";
    assert_eq!(one("{{ toPrettyJson .Values }}", &values), expected);
}

#[test]
fn rule_13_yaml_is_printed_as_go_prints_it() {
    let long = ["word"].repeat(20).join(" ");
    let values = json!({"b": ["x", {"y": true}], "a": "yes", "c": "a: b", "d": long, "e": "15014"});
    let expected = format!(
        "a: \"yes\"\nb:\n- x\n- \"y\": true\nc: 'a: b'\nd: {}\n  {}\ne: \"15014\"",
        ["word"].repeat(16).join(" "),
        ["word"].repeat(4).join(" ")
    );
    assert_eq!(one("{{ toYaml .Values }}", &values), expected);
}

#[test]
fn rule_14_yaml_is_read_by_the_rules_of_its_first_version() {
    let template = "{{ \"a: yes\\nb: 0777\\nc: 1_000\\nd: \\\"no\\\"\\ne: off\" | fromYaml | toJson }}";
    assert_eq!(one(template, &json!({})), r#"{"a":true,"b":511,"c":1000,"d":"no","e":false}"#);
}
