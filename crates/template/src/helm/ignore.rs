//! `.helmignore`: which files of a folder are no part of the chart.

use super::pattern::{self, BadPattern};

pub(super) struct Rules(Vec<Rule>);

struct Rule {
    pattern: String,
    /// Matched against the whole path; otherwise against the file's own name.
    whole: bool,
    not: bool,
    only_folders: bool,
}

impl Rules {
    /// The rules of a file's text. Dot files among the templates are always ignored. The error is a line from 1 with
    /// what is wrong in it.
    pub(super) fn new(text: &str) -> Result<Self, (usize, &'static str)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rules = text.lines().enumerate().filter_map(|(number, line)| {
            rule(line.trim()).map_err(|message| (number + 1, message)).transpose()
        });
        let mut rules: Vec<Rule> = rules.collect::<Result<_, _>>()?;
        rules.extend(rule("templates/.?*").ok().flatten());
        Ok(Self(rules))
    }

    /// The first rule that decides wins; a negated rule decides for everything that it does not match, as Helm has it.
    pub(super) fn ignores(&self, path: &str, is_folder: bool) -> bool {
        for rule in &self.0 {
            let matches = rule.matches(path);
            if rule.not {
                if rule.only_folders && !is_folder || !matches {
                    return true;
                }
            } else if matches && (is_folder || !rule.only_folders) {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn matches(&self, path: &str) -> bool {
        let subject = if self.whole { path } else { path.rsplit('/').next().unwrap_or(path) };
        pattern::shell(&self.pattern, subject).unwrap_or(false)
    }
}

fn rule(line: &str) -> Result<Option<Rule>, &'static str> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains("**") {
        return Err("`**` is not known in .helmignore: write one rule for each folder");
    }
    if pattern::shell(line, "abc") == Err(BadPattern) {
        return Err("this pattern cannot be read: close its brackets");
    }
    let (not, line) = line.strip_prefix('!').map_or((false, line), |line| (true, line));
    let (only_folders, line) = line.strip_suffix('/').map_or((false, line), |line| (true, line));
    let (rooted, line) = line.strip_prefix('/').map_or((false, line), |line| (true, line));
    Ok(Some(Rule { pattern: line.to_owned(), whole: rooted || line.contains('/'), not, only_folders }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ignored_as_helm_ignores_them() {
        for (rules, path, is_folder, wanted) in [
            ("helm.txt", "helm.txt", false, true),
            ("helm.*", "sub/helm.txt", false, true),
            ("# helm.txt", "helm.txt", false, false),
            ("cargo/", "cargo", true, true),
            ("cargo/", "cargo", false, false),
            ("cargo/*.txt", "cargo/a.txt", false, true),
            ("cargo/*.txt", "x/cargo/a.txt", false, false),
            ("/a.txt", "a.txt", false, true),
            ("/a.txt", "b/a.txt", false, false),
            ("!helm.txt", "helm.txt", false, false),
            ("!helm.txt", "tiller.txt", false, true),
            ("", "templates/.dotfile", false, true),
            ("", "templates/sub/.dotfile", false, false),
            ("", ".dotfile", false, false),
        ] {
            let ignored = Rules::new(rules).unwrap().ignores(path, is_folder);
            assert_eq!(ignored, wanted, "{rules:?} {path}");
        }
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_told_with_its_line() {
        assert_eq!(Rules::new("a\n**/b").err().map(|(line, _)| line), Some(2));
        assert_eq!(Rules::new("[").err().map(|(line, _)| line), Some(1));
    }
}
