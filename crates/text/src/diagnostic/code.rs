//! Every code that a diagnostic can have. A number, once released, keeps its meaning and is never used again.
//!
//! `MZ00xx` the input as a whole, `MZ01xx` YAML, `MZ02xx` the object in it, `MZ03xx` an application's file.

use crate::Severity;

macro_rules! codes {
    ($($variant:ident = $id:literal, $name:literal, $severity:ident, $summary:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $variant,)+
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// `MZ0101`
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id),+ }
            }

            /// `yaml-syntax`
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// One sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),+ }
            }

            /// How much it matters where nobody says otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),+ }
            }
        }
    };
}

codes! {
    Unreadable = "MZ0001", "unreadable", Error, "The input cannot be read.";
    TooLarge = "MZ0002", "too-large", Error, "The input has more bytes than are read.";
    NotText = "MZ0003", "not-text", Error, "The input is not UTF-8, or holds a character that no text has.";
    Syntax = "MZ0101", "yaml-syntax", Error, "The document is not YAML.";
    Separator = "MZ0102", "yaml-separator", Error, "A document separator is followed by something else on its line.";
    TooDeep = "MZ0103", "yaml-too-deep", Error, "Maps and lists are nested deeper than is read.";
    TooManyDocuments = "MZ0104", "yaml-too-many-documents", Error, "The input has more documents than are read.";
    Expansion = "MZ0105", "yaml-expansion", Error, "Aliases make the document much bigger than it is written.";
    Alias = "MZ0106", "yaml-alias", Error, "An alias names no anchor, or one that contains the alias.";
    Merge = "MZ0107", "yaml-merge", Error, "`<<` merges something that is no map.";
    Tag = "MZ0108", "yaml-tag", Error, "A value cannot be read as what its tag says.";
    NotJson = "MZ0109", "not-json", Error, "A value or key has no counterpart in JSON.";
    DuplicateKey = "MZ0110", "duplicate-key", Warning, "A key stands twice in one map; the last one counts.";
    NotRead = "MZ0111", "not-read", Warning, "Text after the end of a document is not read.";
    Invalid = "MZ0201", "invalid", Error, "A rule of the object's kind refuses a field.";
    Doubtful = "MZ0202", "doubtful", Warning, "A field is accepted, but probably not what was meant.";
    UnknownField = "MZ0203", "unknown-field", Error, "The object's kind has no such field.";
    WrongType = "MZ0204", "wrong-type", Error, "A field holds another type than its kind says.";
    PassedBy = "MZ0205", "passed-by", Info, "The object is of no kind that is checked.";
    AppFile = "MZ0301", "app-file", Error, "A file of the application is not there, is empty or is no map.";
    AppUnknown = "MZ0302", "app-unknown-attribute", Error, "There is no such attribute.";
    AppType = "MZ0303", "app-wrong-type", Error, "An attribute holds another type than it can.";
    AppMissing = "MZ0304", "app-missing-attribute", Error, "An attribute that is needed is not there.";
    AppWord = "MZ0305", "app-not-allowed", Error, "A value is none of those that are allowed.";
    AppValue = "MZ0306", "app-value", Error, "A value is of the right type, but cannot be taken.";
    AppTogether = "MZ0307", "app-together", Error, "Attributes exclude or need each other.";
    AppName = "MZ0308", "app-name", Error, "Kubernetes refuses the name of an object.";
    AppTwice = "MZ0309", "app-twice", Error, "Two objects have the same name.";
    AppForbidden = "MZ0310", "app-forbidden-kind", Error, "The platform does not allow the kind.";
    AppStack = "MZ0311", "app-stack", Error, "There is no such stack, or stacks extend each other in a circle.";
    AppReference = "MZ0312", "app-reference", Warning, "Something is named that nothing defines.";
    AppDoubtful = "MZ0313", "app-doubtful", Warning, "An attribute is accepted, but probably not what was meant.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_and_name() {
        let mut ids: Vec<_> = Code::ALL.iter().map(|code| code.id()).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        ids.extend(Code::ALL.iter().map(|code| code.name()));
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
