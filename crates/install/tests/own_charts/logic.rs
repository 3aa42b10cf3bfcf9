//! Which lines of a chart are template logic: every line with an action, but for bare insertions of a value.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use regex::Regex;

use super::files;

/// A value by its path, with nothing done to it but what makes it YAML: `{{ .Values.a.b }}`, `{{ quote . }}`,
/// `{{- toYaml $v.a | nindent 4 }}`.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    let made = "(?:quote|squote|toYaml|toJson)";
    let path = r"(?:\$\w*|\.\w*)(?:\.\w+)*";
    let piped = r"(?:quote|squote|toYaml|toJson|n?indent \d+)";
    Regex::new(&format!(r"^\{{\{{-? *(?:{made} +)?{path}(?: *\| *{piped})* *-?\}}\}}$")).unwrap()
});

static ACTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{\{.*?\}\}").unwrap());

/// Whether it has an action, and more than one bare insertion. Everything counts that is not bare: `{{- end }}`, the
/// beginning of a comment, an action that goes on in the next line.
pub(crate) fn is_logic(line: &str) -> bool {
    if !line.contains("{{") {
        return false;
    }
    let mut actions = ACTION.find_iter(line);
    let only = match (actions.next(), actions.next()) {
        (Some(action), None) => action.as_str(),
        _ => return true,
    };
    line.matches("{{").count() > 1 || !BARE.is_match(only)
}

/// The trimmed lines of a chart that have an action, in all files of it.
fn with_actions(chart: &Path) -> Vec<String> {
    let texts = files(chart).into_iter().filter_map(|(_, bytes)| String::from_utf8(bytes).ok());
    let lines = texts.flat_map(|text| {
        text.lines().map(str::trim).filter(|line| line.contains("{{")).map(str::to_owned).collect::<Vec<_>>()
    });
    lines.collect()
}

/// How many lines of logic a chart has, and those of them that stand in the other one, too.
pub(crate) fn shared(ours: &Path, theirs: &Path) -> (usize, Vec<String>) {
    let theirs: BTreeSet<String> = with_actions(theirs).into_iter().collect();
    let logic: Vec<String> = with_actions(ours).into_iter().filter(|line| is_logic(line)).collect();
    (logic.len(), logic.into_iter().filter(|line| theirs.contains(line)).collect())
}
