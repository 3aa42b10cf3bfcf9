//! The metadata that every Kubernetes object has, which definitions do not describe: its structure, and a few words of ours.

/// A type of it.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: &'static [Field],
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) of: Of,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum Of {
    Text,
    Int,
    Truth,
    Any,
    Texts,
    /// Text under keys.
    Map,
    /// A list of another part.
    List(&'static str),
}

const fn field(name: &'static str, of: Of, about: &'static str) -> Field {
    Field { name, of, required: false, about }
}

const fn needed(name: &'static str, of: Of, about: &'static str) -> Field {
    Field { name, of, required: true, about }
}

pub(crate) const OBJECT_META: &str = "ObjectMeta";

/// What is said of the two fields that every object has besides, where a definition says nothing.
pub(crate) const API_VERSION: &str = "The group and version that the object is written in.";
pub(crate) const KIND: &str = "The kind of the object.";

pub(crate) static PARTS: [Part; 3] = [
    Part {
        name: "ManagedFieldsEntry",
        about: "Which fields one manager has set.",
        fields: &[
            field("apiVersion", Of::Text, "The version that the fields are written in."),
            field("fieldsType", Of::Text, "The format of fieldsV1."),
            field("fieldsV1", Of::Any, "The fields."),
            field("manager", Of::Text, "Who has set them."),
            field("operation", Of::Text, "Apply or Update."),
            field("time", Of::Text, "When it did."),
        ],
    },
    Part {
        name: OBJECT_META,
        about: "What every object says of itself.",
        fields: &[
            field("annotations", Of::Map, "Anything that tools want to keep with the object."),
            field("clusterName", Of::Text, "No longer used."),
            field("creationTimestamp", Of::Text, "When the object was made; set by the server."),
            field(
                "deletionGracePeriodSeconds",
                Of::Int,
                "How long it may take to be deleted; set by the server.",
            ),
            field("deletionTimestamp", Of::Text, "When it will be deleted; set by the server."),
            field("finalizers", Of::Texts, "Who must agree before the object is gone."),
            field("generateName", Of::Text, "What the server's name for it begins with, where it has none."),
            field("generation", Of::Int, "Counts the changes of what is wanted; set by the server."),
            field("labels", Of::Map, "Words by which objects are found."),
            field(
                "managedFields",
                Of::List("ManagedFieldsEntry"),
                "Who has set which fields; kept by the server.",
            ),
            field("name", Of::Text, "Its name, one of its kind in a namespace."),
            field("namespace", Of::Text, "Where it lives, if its kind lives in namespaces."),
            field("ownerReferences", Of::List("OwnerReference"), "What it is deleted with."),
            field("resourceVersion", Of::Text, "Its version in the store; set by the server."),
            field("selfLink", Of::Text, "No longer used."),
            field("uid", Of::Text, "One of its own for all time; set by the server."),
        ],
    },
    Part {
        name: "OwnerReference",
        about: "An object that another belongs to; both are in one namespace, or the owner is in none.",
        fields: &[
            needed("apiVersion", Of::Text, "The owner's group and version."),
            field("blockOwnerDeletion", Of::Truth, "Whether the owner stays until this is gone."),
            field("controller", Of::Truth, "Whether the owner is the one that manages the object."),
            needed("kind", Of::Text, "The owner's kind."),
            needed("name", Of::Text, "The owner's name."),
            needed("uid", Of::Text, "The owner's uid."),
        ],
    },
];
