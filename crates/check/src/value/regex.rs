//! Regular expressions as Go and Envoy read them (RE2). No engine of another language agrees with Go about what is an
//! expression at all (`a**`, `a{`, `[[a]`, `\\p{Greek}`), so this reads the syntax itself; nothing is compiled, so an
//! expression costs no more than its length.

use super::Verdict;

/// What Istio lets through: Envoy's limit is about the compiled size, which is never below the length.
const LONGEST: usize = 1024;
/// The most repetitions, counted through nested ones.
const REPEATS: u64 = 1000;
/// Classes as in `\\p{Greek}`, the way Go 1.26 finds them: in any case, without `_`, `-` and spaces. Scripts whose Unicode
/// name has a `_` are not found by Go, so they are not here.
const UNICODE: &str = "\
    adlam ahom any arabic armenian ascii assigned avestan balinese bamum batak bengali bhaiksuki bopomofo \
    brahmi braille buginese buhid c carian casedletter cc cf chakma cham cherokee chorasmian \
    closepunctuation cn cntrl co combiningmark common connectorpunctuation control coptic cs cuneiform \
    currencysymbol cypriot cyrillic dashpunctuation decimalnumber deseret devanagari digit dogra duployan \
    elbasan elymaic enclosingmark ethiopic finalpunctuation format georgian glagolitic gothic grantha greek \
    gujarati gurmukhi han hangul hanunoo hatran hebrew hiragana inherited initialpunctuation javanese kaithi \
    kannada katakana kawi kharoshthi khmer khojki khudawadi l lao latin lc lepcha letter letternumber limbu \
    lineseparator lisu ll lm lo lowercaseletter lt lu lycian lydian m mahajani makasar malayalam mandaic \
    manichaean marchen mark mathsymbol mc me medefaidrin miao mn modi modifierletter modifiersymbol \
    mongolian mro multani myanmar n nabataean nandinagari nd newa nko nl no nonspacingmark number nushu \
    ogham openpunctuation oriya osage osmanya other otherletter othernumber otherpunctuation othersymbol p \
    palmyrene paragraphseparator pc pd pe pf phoenician pi po privateuse ps punct punctuation rejang runic s \
    samaritan saurashtra sc separator sharada shavian siddham sinhala sk sm so sogdian soyombo \
    spaceseparator spacingmark sundanese surrogate symbol syriac tagalog tagbanwa takri tamil tangsa tangut \
    telugu thaana thai tibetan tifinagh tirhuta titlecaseletter toto ugaritic unassigned uppercaseletter vai \
    vithkuqi wancho yezidi yi z zl zp zs";
/// Classes as in `[[:alpha:]]`.
const POSIX: &[&str] = &[
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// A regular expression in RE2's syntax that is not too long for Envoy.
pub(crate) fn regex(text: &str) -> Verdict {
    if text.len() > LONGEST {
        return Err(format!("regex is too large, max length allowed is {LONGEST}"));
    }
    expression(text)
        .map_err(|why| format!("{text:?} is no regular expression in RE2 style (no look-around): {why}"))
}

/// What is inside one pair of parentheses so far.
#[derive(Default)]
struct Group {
    /// The last piece, which a repetition would repeat: how many repetitions are in it.
    last: Option<u64>,
    most: u64,
}

impl Group {
    fn piece(&mut self, repeats: u64) {
        self.settle();
        self.last = Some(repeats);
    }

    fn settle(&mut self) {
        self.most = self.most.max(self.last.take().unwrap_or_default());
    }
}

fn expression(text: &str) -> Verdict {
    let mut outer = Vec::new();
    let mut group = Group::default();
    let mut rest = text;
    let mut repeated = false;
    while let Some(first) = rest.chars().next() {
        let was_repeated = std::mem::take(&mut repeated);
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        match first {
            '(' if after.starts_with('?') => {
                let (opens, left) = perl_group(after.get(1..).unwrap_or_default())?;
                if opens {
                    outer.push(std::mem::take(&mut group));
                }
                rest = left;
            }
            '(' => {
                outer.push(std::mem::take(&mut group));
                rest = after;
            }
            ')' => {
                let around = outer.pop().ok_or("there is a ) without (")?;
                let mut inner = std::mem::replace(&mut group, around);
                inner.settle();
                group.piece(inner.most);
                rest = after;
            }
            '|' => {
                group.settle();
                rest = after;
            }
            '[' => {
                rest = class(after)?;
                group.piece(0);
            }
            '*' | '+' | '?' => {
                repeat(&mut group, was_repeated)?;
                repeated = true;
                rest = after.strip_prefix('?').unwrap_or(after);
            }
            '{' => {
                let Some((count, left)) = counted(after)? else {
                    // Not a repetition, so a plain character.
                    group.piece(0);
                    rest = after;
                    continue;
                };
                let inner = repeat(&mut group, was_repeated)?;
                let total = count.most.saturating_mul(inner.max(1));
                if count.checked && total > REPEATS {
                    return Err(format!("more than {REPEATS} repetitions, counted through nested ones"));
                }
                group.last = Some(total);
                repeated = true;
                rest = left.strip_prefix('?').unwrap_or(left);
            }
            '\\' if after.starts_with('Q') => {
                let quoted = after.get(1..).unwrap_or_default();
                let (quoted, left) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                if !quoted.is_empty() {
                    group.piece(0);
                }
                rest = left;
            }
            '\\' => {
                rest = match after.strip_prefix(['A', 'b', 'B', 'z']) {
                    Some(left) => left,
                    None => escape(after)?.1,
                };
                group.piece(0);
            }
            _ => {
                group.piece(0);
                rest = after;
            }
        }
    }
    if outer.is_empty() { Ok(()) } else { Err("a ) is missing".to_owned()) }
}

/// How often the piece before may be repeated already.
fn repeat(group: &mut Group, was_repeated: bool) -> Result<u64, String> {
    if was_repeated {
        return Err("a repetition of a repetition, such as **, is not allowed".to_owned());
    }
    group.last.ok_or_else(|| "there is nothing before a repetition (*, +, ?, {n}) to repeat".to_owned())
}

struct Count {
    most: u64,
    /// `{0}`, `{1}` and `{0,1}` never are too many.
    checked: bool,
}

/// `2}`, `2,}` or `2,3}`, and what is behind it; nothing when it is something else.
fn counted(text: &str) -> Result<Option<(Count, &str)>, String> {
    let Some((least, rest)) = number(text) else { return Ok(None) };
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => match number(rest) {
            None => return Ok(None),
            Some((most, rest)) => (Some(most), rest),
        },
    };
    let Some(rest) = rest.strip_prefix('}') else { return Ok(None) };
    if least > REPEATS || most.is_some_and(|most| most > REPEATS || least > most) {
        return Err(format!("a repetition must be between 0 and {REPEATS} times, the smaller number first"));
    }
    // Without an end it is as often as its least, but never nothing: it does not undo what is inside.
    let most = most.unwrap_or(least.max(1));
    Ok(Some((Count { most, checked: most >= 2 }, rest)))
}

/// Digits without a needless zero before them.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}

/// What may stand behind `(?`: a name, or flags. Says whether it opens a group.
fn perl_group(text: &str) -> Result<(bool, &str), String> {
    if let Some(named) = text.strip_prefix("P<").or_else(|| text.strip_prefix('<')) {
        let (name, rest) = named.split_once('>').ok_or("the name of a group must end with >")?;
        if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return Err(format!("{name:?} is no name for a group: letters, digits and _"));
        }
        return Ok((true, rest));
    }
    let end = text.find([':', ')']).ok_or("a group (?… must have : or ) behind its flags")?;
    let (flags, rest) = text.split_at(end);
    let (on, off) = flags.split_once('-').map_or((flags, None), |(on, off)| (on, Some(off)));
    let known = |flags: &str| flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 's' | 'U'));
    if !known(on) || off.is_some_and(|off| off.is_empty() || !known(off)) {
        return Err(format!("(?{flags} is not known; the flags are i, m, s and U"));
    }
    Ok((rest.starts_with(':'), rest.get(1..).unwrap_or_default()))
}

/// From behind `[` to behind `]`.
fn class(text: &str) -> Result<&str, String> {
    let mut rest = text.strip_prefix('^').unwrap_or(text);
    let mut first = true;
    loop {
        match rest.strip_prefix(']') {
            Some(after) if !first => return Ok(after),
            _ => first = false,
        }
        if let Some((name, after)) = rest.strip_prefix("[:").and_then(|named| named.split_once(":]")) {
            if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
                return Err(format!("there is no class [:{name}:]"));
            }
            rest = after;
            continue;
        }
        let (low, after) = class_character(rest)?;
        rest = after;
        let Some(low) = low else { continue };
        if let Some(after) = rest.strip_prefix('-')
            && !after.is_empty()
            && !after.starts_with(']')
        {
            // The end of a range is one character: a class such as \\d is none.
            let (high, after) = class_character(after)?;
            if high.is_none_or(|high| high < low) {
                return Err(format!(
                    "the range {:?} in [] has its end before its beginning or is none",
                    span(text, after)
                ));
            }
            rest = after;
        }
    }
}

fn span<'a>(text: &'a str, rest: &str) -> &'a str {
    text.get(..text.len().saturating_sub(rest.len())).unwrap_or(text)
}

/// A character inside `[]`; none where it stands for several.
fn class_character(text: &str) -> Result<(Option<u32>, &str), String> {
    let first = text.chars().next().ok_or("a ] is missing")?;
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    if first == '\\' { escape(rest) } else { Ok((Some(first.into()), rest)) }
}

/// What may stand behind `\\` anywhere, inside `[]` as well: a character by its number (as that), or a class (as none).
fn escape(text: &str) -> Result<(Option<u32>, &str), String> {
    let first = text.chars().next().ok_or("a \\ at the end escapes nothing")?;
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    let unknown = || format!("\\{first} is not known");
    match first {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' => Ok((None, rest)),
        'p' | 'P' => Ok((None, unicode_class(rest)?)),
        'a' => Ok((Some(7), rest)),
        'f' => Ok((Some(12), rest)),
        'n' => Ok((Some(10), rest)),
        'r' => Ok((Some(13), rest)),
        't' => Ok((Some(9), rest)),
        'v' => Ok((Some(11), rest)),
        'x' => hexadecimal(rest)
            .ok_or_else(|| "\\x must have two hexadecimal digits behind it, or some in {}".to_owned()),
        '0'..='7' => {
            let octal = |byte: &u8| (b'0'..=b'7').contains(byte);
            let more = rest.bytes().take(2).take_while(octal).count();
            if first != '0' && more == 0 {
                return Err(format!("\\{first} would refer back to a group, which is not supported"));
            }
            let (digits, after) = text.split_at_checked(1 + more).ok_or_else(unknown)?;
            Ok((u32::from_str_radix(digits, 8).ok(), after))
        }
        _ if first.is_ascii() && !first.is_ascii_alphanumeric() => Ok((Some(first.into()), rest)),
        _ => Err(unknown()),
    }
}

fn hexadecimal(text: &str) -> Option<(Option<u32>, &str)> {
    let (digits, rest) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => text.split_at_checked(2)?,
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let number = if significant.is_empty() { 0 } else { u32::from_str_radix(significant, 16).ok()? };
    (number <= u32::from(char::MAX)).then_some((Some(number), rest))
}

/// `L` or `{Greek}`, and what is behind it.
fn unicode_class(text: &str) -> Result<&str, String> {
    let (name, rest) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}').ok_or("\\p{ must end with }")?,
        None => text.split_at_checked(text.chars().next().map_or(0, char::len_utf8)).unwrap_or_default(),
    };
    let plain: String =
        name.strip_prefix('^').unwrap_or(name).replace(['_', '-', ' '], "").to_ascii_lowercase();
    if plain.is_empty() || !UNICODE.split(' ').any(|known| known == plain) {
        return Err(format!("there is no class of characters {name:?}"));
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_takes_is_an_expression() {
        for good in [
            "",
            "a|b|",
            "()",
            "a{",
            "a{,2}",
            "a{2",
            "a{01}",
            "a(?i)*",
            "(?i)a",
            "(?i-s:a)",
            "(?)",
            "(?P<n>a)(?<n>b)",
            "[[a]",
            "[]a]",
            "[^]]",
            "[a-]",
            "[-a]",
            "[a-b-c]",
            "[\\d-z]",
            "[[:^alpha:]x]",
            "[[:foo]",
            "\\pL",
            "\\p{^greek}",
            "\\p{Lowercase_Letter}",
            "\\Q*\\E",
            "\\Qab",
            "\\12",
            "\\0",
            "\\x7f",
            "\\x{10FFFF}",
            "\\_",
            "\\A\\b\\z",
            "^*",
            "a{1000}",
            "(a{10}){100}",
            "(a{1000}){0}",
            "a{2}?",
            "ä+",
            "a*?",
        ] {
            assert!(regex(good).is_ok(), "{good}: {:?}", regex(good));
        }
    }

    #[test]
    fn what_go_refuses_is_none() {
        for bad in [
            "*",
            "a**",
            "a*+",
            "a+?+",
            "((a{1000}){0,}){2}",
            "a{2}{3}",
            "a{2}*",
            "a|*",
            "(*)",
            "(",
            ")",
            "a)",
            "(?i",
            "(?x)",
            "(?-)",
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?P<>a)",
            "(?P<a-b>a)",
            "(?P>a)",
            "[",
            "[]",
            "[^]",
            "[z-a]",
            "[a-\\d]",
            "[[:foo:]]",
            "\\",
            "\\q",
            "\\1",
            "\\8",
            "\\C",
            "\\x",
            "\\x1",
            "\\x{}",
            "\\x{110000}",
            "\\p",
            "\\p{Foo}",
            "\\p{Old_Italic}",
            "a{1001}",
            "a{3,2}",
            "(a{100}){11}",
            "(?i)*",
            "\\Q\\E*",
            "\\ä",
            "[\\b]",
        ] {
            assert!(regex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_expression_may_not_be_longer_than_envoy_takes() {
        assert!(regex(&"a".repeat(1024)).is_ok());
        assert!(regex(&"a".repeat(1025)).is_err());
        assert!(regex(&"(".repeat(1024)).is_err());
    }
}
