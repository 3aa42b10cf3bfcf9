//! KCL: schemas laid out, named and worded as kcl-openapi has them, so that programs that import its models can import
//! ours; and, unless its exact text is wanted, with what it loses: groups of which one may be given, and rules.

mod declaration;
mod group;
mod limits;
mod model;
mod rule;
mod value;

pub use declaration::{Attribute, DURATION, Declaration, REGEX, head};
pub use value::{escaped, identifier, literal};

use crate::{
    File,
    crd::Definition,
    metadata::{Of, PARTS},
    names,
    words::snake,
};

/// Where the types that all objects share are, as a package and as a folder.
const SHARED: &str = "k8s.apimachinery.pkg.apis.meta.v1";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// kcl-openapi's text, with what it loses and what it leaves unquoted.
    pub exact: bool,
    pub names: Names,
}

/// What the schemas of parts are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// By group, version, kind and the whole path.
    #[default]
    Long,
    /// By kind and as much of the path's end as is needed.
    Short,
}

pub(crate) fn files(definitions: &[Definition], style: Style, package: &str) -> Vec<File> {
    let mut files = Vec::new();
    for definition in definitions {
        for version in &definition.versions {
            let path = format!("{}.k", names::file(definition, version));
            files.push(File::new(path, model::file(definition, version, style)));
        }
    }
    if !files.is_empty() {
        files.extend(PARTS.iter().map(shared));
        // The models import each other from the top of their package, which this makes one.
        if !style.exact {
            let name = package.rsplit('/').next().unwrap_or(package);
            let text = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
            files.push(File { beginning: true, ..File::new("kcl.mod".to_owned(), text) });
        }
    }
    files
}

fn shared(part: &crate::metadata::Part) -> File {
    let module = snake(part.name);
    let attributes = part.fields.iter().map(|field| {
        let kind = match field.of {
            Of::Text => "str".to_owned(),
            Of::Int => "int".to_owned(),
            Of::Truth => "bool".to_owned(),
            Of::Any => "any".to_owned(),
            Of::Texts => "[str]".to_owned(),
            Of::Map => "{str:str}".to_owned(),
            Of::List(part) => format!("[{part}]"),
        };
        Attribute { required: field.required, ..Attribute::new(field.name, &kind, field.about) }
    });
    let declaration = Declaration {
        name: part.name.to_owned(),
        about: part.about.to_owned(),
        attributes: attributes.collect(),
        ..Declaration::default()
    };
    let first = format!("This is the {module} module in {SHARED} package.");
    let text = format!("{}{declaration}", head(Some(&first), &[], ""));
    File::new(format!("{}/{module}.k", SHARED.replace('.', "/")), text)
}
