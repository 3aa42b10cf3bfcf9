//! What changes in a text of several lines: the lines that go and the lines that come, not the text twice.

/// So many lines are shown; who wants all of them has `-o json`.
const SHOWN: usize = 12;
/// Beyond this the comparison would cost more than it tells.
const MOST: usize = 2_000;

/// A line each, with `-` or `+` in front. Nothing for texts of a single line, and for those that are too long.
pub(crate) fn text_change(before: &str, after: &str) -> Option<Vec<String>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old.len().max(new.len()) < 2 || old.len().max(new.len()) > MOST {
        return None;
    }
    let mut changes = changes(&old, &new);
    let more = changes.len().saturating_sub(SHOWN);
    if more > 0 {
        changes.truncate(SHOWN);
        changes.push(format!("… and {more} more lines"));
    }
    Some(changes)
}

/// By the longest common subsequence.
fn changes(old: &[&str], new: &[&str]) -> Vec<String> {
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut told) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            told.push(format!("- {}", old[i]));
            i += 1;
        } else {
            told.push(format!("+ {}", new[j]));
            j += 1;
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_told() {
        let told = text_change("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 4\nc: 3\nd: 5\n");
        assert_eq!(told.unwrap(), ["- b: 2", "+ b: 4", "+ d: 5"]);
        assert_eq!(text_change("one", "two"), None);
        assert_eq!(text_change("same\ntext", "same\ntext\n").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn many_lines_are_cut_and_too_many_not_compared() {
        let long = |word: &str, count: usize| format!("{word}\n").repeat(count);
        let told = text_change(&long("a", 20), &long("b", 20)).unwrap();
        assert_eq!((told.len(), told.last().map(String::as_str)), (13, Some("… and 28 more lines")));
        assert_eq!(text_change(&long("a", 3_000), "b"), None);
    }
}
