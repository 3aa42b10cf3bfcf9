/// How YAML is read: what a duplicate key means, and how much is read before it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub duplicates: Duplicates,
    /// Whether a key is its text as it is written. Otherwise it is what kubectl makes of it: `on` is `true`, `1.10` is `1.1`.
    pub plain_keys: bool,
    /// Bytes of one input.
    pub max_bytes: usize,
    /// Documents of one input.
    pub max_documents: usize,
    /// Maps and lists in each other. Whoever walks the value may recurse: this keeps every stack small.
    pub max_depth: usize,
    /// What aliases may add to one document, in bytes: 64 for each value and the length of its text. The default is
    /// about where kubectl draws its line (400,000 values).
    pub max_expansion: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The last one counts, as kubectl has it, with a warning.
    Warn,
    /// The document is refused.
    Refuse,
}

impl Options {
    /// Kubernetes objects: what kubectl accepts is accepted.
    pub const KUBERNETES: Self = Self {
        duplicates: Duplicates::Warn,
        plain_keys: false,
        max_bytes: 64 << 20,
        max_documents: 100_000,
        max_depth: 256,
        max_expansion: 32 << 20,
    };

    /// Formats of our own.
    pub const OWN: Self = Self { duplicates: Duplicates::Refuse, plain_keys: true, ..Self::KUBERNETES };
}

impl Default for Options {
    fn default() -> Self {
        Self::KUBERNETES
    }
}
