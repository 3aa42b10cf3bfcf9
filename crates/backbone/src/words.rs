//! Names cut into words and put together again, as go-swagger does it: kcl-openapi names its files and schemas that way.
//!
//! A capital begins a word (so `EC2` is `E`, `C2`), whatever is no letter or digit ends one, and some abbreviations stay
//! whole where they are written in capitals and no small letter follows.

/// Abbreviations that are one word.
const INITIALISMS: [&str; 41] = [
    "ACL", "API", "ASCII", "CPU", "CSS", "DNS", "EOF", "GUID", "HTML", "HTTP", "HTTPS", "ID", "IP", "IPv4",
    "IPv6", "JSON", "LHS", "OAI", "QPS", "RAM", "RHS", "RPC", "SLA", "SMTP", "SQL", "SSH", "TCP", "TLS",
    "TTL", "UDP", "UI", "UID", "URI", "URL", "UTF8", "UUID", "VM", "XML", "XMPP", "XSRF", "XSS",
];

struct Word {
    text: String,
    initialism: Option<&'static str>,
}

/// `virtualService` → `VirtualService`, `http` → `HTTP`.
pub(crate) fn pascal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (place, word) in split(name).into_iter().enumerate() {
        let part = match word.initialism {
            Some(known) => known.to_uppercase(),
            // A single letter stays as it is.
            None if word.text.len() <= 1 => word.text,
            None => capital(&word.text),
        };
        if place == 0 && !part.starts_with(|first: char| first.is_ascii_uppercase()) {
            match part.chars().next() {
                Some(first) if first.is_ascii_lowercase() => out.push_str(&capital_only(&part)),
                _ => {
                    out.push('X');
                    out.push_str(&part);
                }
            }
        } else {
            out.push_str(&part);
        }
    }
    out
}

/// `VirtualService` → `virtual_service`.
pub(crate) fn snake(name: &str) -> String {
    let words = split(name).into_iter().map(|word| word.text.trim().to_lowercase());
    words.collect::<Vec<_>>().join("_")
}

/// `virtualService` → `virtual service`; abbreviations as they are.
pub(crate) fn human(name: &str) -> String {
    let words = split(name).into_iter().map(|word| match word.initialism {
        Some(_) => word.text.trim().to_owned(),
        None => word.text.trim().to_lowercase(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().trim().to_lowercase().chars()).collect()
}

fn capital_only(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn split(name: &str) -> Vec<Word> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < letters.len() {
        match initialism(&letters[at..]) {
            Some(known) => {
                casual(&letters[plain..at], &mut words);
                words.push(Word { text: known.to_owned(), initialism: Some(known) });
                at += known.len();
                plain = at;
            }
            None => at += 1,
        }
    }
    casual(&letters[plain..], &mut words);
    words
}

/// The longest abbreviation that the letters begin with, and that is no beginning of a longer word.
fn initialism(letters: &[char]) -> Option<&'static str> {
    let fits = |known: &&&str| {
        let length = known.len();
        letters.len() >= length
            && known.chars().eq(letters[..length].iter().copied())
            && !letters.get(length).is_some_and(|next| next.is_lowercase())
    };
    INITIALISMS.iter().filter(fits).max_by_key(|known| known.len()).copied()
}

fn casual(letters: &[char], words: &mut Vec<Word>) {
    let mut text = String::new();
    let end = |text: &mut String, words: &mut Vec<Word>| {
        if !text.is_empty() {
            let text = std::mem::take(text);
            let initialism =
                INITIALISMS.iter().find(|known| known.eq_ignore_ascii_case(text.trim())).copied();
            words.push(Word { text, initialism });
        }
    };
    for letter in letters {
        let spelled = match letter {
            '@' => Some("At "),
            '&' => Some("And "),
            '|' => Some("Pipe "),
            '$' => Some("Dollar "),
            '!' => Some("Bang "),
            letter if letter.is_alphanumeric() => None,
            _ => Some(""),
        };
        if let Some(spelled) = spelled {
            end(&mut text, words);
            text.push_str(spelled);
            end(&mut text, words);
            continue;
        }
        if letter.is_uppercase() {
            end(&mut text, words);
        }
        text.push(*letter);
    }
    end(&mut text, words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_and_words_names() {
        for (name, expected) in [
            ("networking.istio.io.v1.VirtualServiceSpec", "NetworkingIstioIoV1VirtualServiceSpec"),
            ("http items0", "HTTPItems0"),
            ("httpProtocolIPv6", "HTTPProtocolIPV6"),
            ("kmsKeyID", "KmsKeyID"),
            ("EC2NodeClass", "EC2NodeClass"),
            ("allowIPs", "AllowIPs"),
            ("security-groups", "SecurityGroups"),
            ("x", "X"),
            ("3d", "X3d"),
            ("$ref", "DollarRef"),
        ] {
            assert_eq!(pascal(name), expected, "{name}");
        }
        for (name, expected) in [
            ("networking.istio.io.v1.VirtualService", "networking_istio_io_v1_virtual_service"),
            ("karpenter.k8s.aws.v1beta1.EC2NodeClass", "karpenter_k8s_aws_v1beta1_e_c2_node_class"),
            ("a.AWSClusterRoleIdentity", "a_a_w_s_cluster_role_identity"),
            ("HTTPRoute", "http_route"),
        ] {
            assert_eq!(snake(name), expected, "{name}");
        }
        assert_eq!(human("serviceAccountName"), "service account name");
        assert_eq!(human("targetURL"), "target URL");
        assert_eq!(human("http"), "http");
    }
}
