//! Which known word a mistyped one was meant to be.

/// The known word that is nearest, if one is near enough to be meant: at most a quarter of its letters differ, and no
/// more than three, however large or small they are written.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody types a name this long by mistake, and the distance takes the product of both lengths.
    if word.len() > 64 {
        return None;
    }
    let word: Vec<char> = word.to_lowercase().chars().collect();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 64)
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| {
            *distance <= candidate.chars().count().max(word.len()).div_ceil(4).min(3)
        })
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, taken away, changed or swapped with their neighbour.
fn distance(word: &[char], other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in word.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, candidate) in other.iter().enumerate() {
            let change = last[column] + usize::from(letter != candidate);
            let mut best = change.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped =
                row > 0 && column > 0 && word[row - 1] == *candidate && *letter == other[column - 1];
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const KINDS: [&str; 4] = ["VirtualService", "Gateway", "ServiceEntry", "host"];

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        for (word, meant) in [
            ("VirtualServce", "VirtualService"),
            ("virtualservices", "VirtualService"),
            ("Gatewya", "Gateway"),
            ("hosts", "host"),
        ] {
            assert_eq!(nearest(word, KINDS), Some(meant));
        }
    }

    #[test]
    fn another_word_is_not() {
        for word in ["", "Deployment", "port", &"x".repeat(1_000)] {
            assert_eq!(nearest(word, KINDS), None, "{word}");
        }
    }
}
