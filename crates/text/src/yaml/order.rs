//! The order in which Go's YAML puts keys: letters behind everything else, numbers inside of keys by their value, so
//! that `a2` comes before `a10`.

use std::cmp::Ordering;

/// Sorts entries by their keys. Merged by hand, because the order contradicts itself for some keys (numbers of 20
/// digits), and the standard library may panic at that.
pub(super) fn sort<V: Copy>(entries: &mut [(&str, V)]) {
    // Maps are sorted by bytes, which is nearly always the same.
    if !entries.is_sorted_by(|a, b| compare(a.0, b.0) != Ordering::Greater) {
        let mut spare = entries.to_vec();
        merge_sort(entries, &mut spare);
    }
}

fn merge_sort<'k, V: Copy>(entries: &mut [(&'k str, V)], spare: &mut [(&'k str, V)]) {
    if entries.len() < 2 {
        return;
    }
    let middle = entries.len() / 2;
    merge_sort(&mut entries[..middle], &mut spare[..middle]);
    merge_sort(&mut entries[middle..], &mut spare[middle..]);
    spare.copy_from_slice(entries);
    let (mut left, mut right) = (0, middle);
    for entry in entries {
        let take_left = right == spare.len()
            || left < middle && compare(spare[left].0, spare[right].0) != Ordering::Greater;
        let from = if take_left { &mut left } else { &mut right };
        *entry = spare[*from];
        *from += 1;
    }
}

fn compare(a: &str, b: &str) -> Ordering {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // What nearly all keys are.
    if let (Some(a), Some(b)) = (a.as_bytes().get(common), b.as_bytes().get(common))
        && a.is_ascii_alphabetic()
        && b.is_ascii_alphabetic()
    {
        return a.cmp(b);
    }
    let mut at = common;
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    let (Some(a_char), Some(b_char)) = (a[at..].chars().next(), b[at..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (a_char.is_alphabetic(), b_char.is_alphabetic()) {
        (true, true) => return a_char.cmp(&b_char),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // Behind other digits a zero counts for something.
    let before = &a[..at];
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let inside = before[before.len() - digits..].bytes().any(|digit| digit != b'0');
    let lead = i64::from((a_char == '0' || b_char == '0') && inside);
    let ((a_number, a_digits), (b_number, b_digits)) = (number(&a[at..], lead), number(&b[at..], lead));
    a_number.cmp(&b_number).then(a_digits.cmp(&b_digits)).then(a_char.cmp(&b_char))
}

/// The number at the start of a text behind a leading digit, and how many digits it has.
fn number(text: &str, lead: i64) -> (i64, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold((lead, 0), |(number, count), digit| {
        (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), count + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_go_s_order() {
        let sorted_keys =
            ["-", "_", "0", "1", "10", "A", "a-b", "a/b", "a1", "a01", "a2", "a10", "aB", "ab", "b", "é"];
        let mut entries = sorted_keys.map(|key| (key, ()));
        entries.reverse();
        sort(&mut entries);
        assert_eq!(entries.map(|(key, ())| key), sorted_keys);
    }

    #[test]
    fn an_order_that_contradicts_itself_ends_all_the_same() {
        let keys: Vec<String> =
            (0..200u128).map(|n| format!("{}{}", u128::MAX / (n + 1), "0".repeat(n as usize % 7))).collect();
        let mut entries: Vec<(&str, ())> = keys.iter().map(|key| (key.as_str(), ())).collect();
        sort(&mut entries);
        assert_eq!(entries.len(), 200);
    }
}
