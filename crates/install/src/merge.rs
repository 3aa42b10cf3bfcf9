//! Profile, files and flags → one IstioOperator, as istioctl has it before it is validated.
//!
//! Weakest first: the default profile, the chosen one, the images that the program was built with, files, flags; then
//! fields that charts know as values are copied there, and the user's own values are laid on top once more.

use mizzen_text::{
    Code, Diagnostic, Path, Severity, Step,
    yaml::{self, Document, Options},
};
use serde_json::{Value, json};

use crate::{Charts, Input, Origins, Refused, translate::translate, tree, user::User};

/// The IstioOperator that everything else follows from.
#[derive(Debug)]
pub struct Merged {
    /// The whole object.
    pub tree: Value,
    /// The user's own `spec.values`; null where there are none.
    pub user_values: Value,
    pub profile: String,
    /// Where each field was written.
    pub origins: Origins,
    pub warnings: Vec<Diagnostic>,
}

pub fn merge(input: &Input, charts: &dyn Charts) -> Result<Merged, Refused> {
    let user = User::read(input)?;
    blocks_are_maps(&user)?;
    let profile = profile_name(&user)?;
    let (mut tree, documents) = profile_tree(&profile, &user, charts)?;
    if let Some(images) = &input.images {
        tree::merge(&mut tree, &json!({"spec": {"hub": images.hub, "tag": images.tag}}));
    }
    let profile_values = tree::get(&tree, &["spec", "values"]).cloned().unwrap_or_default();
    let user_values = tree::get(&user.tree, &["spec", "values"]).filter(|values| values.is_object());
    let user_values = user_values.cloned().unwrap_or_default();
    tree::merge(&mut tree, &user.tree);
    translate(&mut tree, &profile_values, &user_values);
    user.finish(&mut tree);
    let User { mut origins, warnings, .. } = user;
    origins.below(documents);
    Ok(Merged { tree, user_values, profile, origins, warnings })
}

/// What is no map here could not be laid over anything.
fn blocks_are_maps(user: &User) -> Result<(), Refused> {
    let field = |name: &str| Step::Field(name.to_owned());
    let blocks =
        ["spec", "spec.values", "spec.components", "spec.meshConfig", "spec.unvalidatedValues", "metadata"];
    let wrong = blocks.into_iter().filter_map(|block| {
        let way: Vec<&str> = block.split('.').collect();
        tree::get(&user.tree, &way).filter(|found| !found.is_object() && !found.is_null())?;
        let path = Path(way.into_iter().map(field).collect());
        let mut diagnostic = Diagnostic::new(Code::WrongType, format!("`{block}` must be a map"));
        diagnostic.place = user.origins.place(&path);
        Some(diagnostic.path(path))
    });
    let wrong: Vec<_> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(Refused(wrong)) }
}

/// Where the user wants charts from: `--manifests`, or `installPackagePath` of a file or a flag.
pub fn package_path(input: &Input) -> Result<Option<String>, Refused> {
    let user = User::read(input)?;
    let path = tree::text(&user.tree, &["spec", "installPackagePath"]).unwrap_or_default();
    Ok((!path.is_empty()).then(|| path.to_owned()))
}

/// A profile as it is used: laid over the default one.
pub fn profile(name: &str, charts: &dyn Charts) -> Result<Value, Refused> {
    let mut tree = json!({});
    for document in load(name, charts)? {
        tree::merge(&mut tree, &document.value);
    }
    Ok(tree)
}

fn profile_path() -> Path {
    Path(["spec", "profile"].map(|name| Step::Field(name.to_owned())).to_vec())
}

fn profile_name(user: &User) -> Result<String, Refused> {
    match tree::get(&user.tree, &["spec", "profile"]) {
        None | Some(Value::Null) => Ok("default".to_owned()),
        Some(Value::String(name)) if name.is_empty() => Ok("default".to_owned()),
        Some(Value::String(name)) => Ok(name.clone()),
        Some(_) => {
            let path = profile_path();
            let mut diagnostic = Diagnostic::new(Code::WrongType, "the name of a profile is a text");
            diagnostic.place = user.origins.place(&path);
            Err(diagnostic.path(path).into())
        }
    }
}

fn profile_tree(name: &str, user: &User, charts: &dyn Charts) -> Result<(Value, Vec<Document>), Refused> {
    let documents = load(name, charts).map_err(|mut refused| {
        for diagnostic in refused.0.iter_mut().filter(|diagnostic| diagnostic.place.is_none()) {
            diagnostic.path = profile_path();
            diagnostic.place = user.origins.place(&diagnostic.path);
        }
        refused
    })?;
    let mut tree = json!({});
    for document in &documents {
        tree::merge(&mut tree, &document.value);
    }
    Ok((tree, documents))
}

/// The documents of a profile, the default one first.
fn load(name: &str, charts: &dyn Charts) -> Result<Vec<Document>, Refused> {
    let names: &[&str] = if name == "default" { &["default"] } else { &["default", name] };
    let mut documents = Vec::new();
    for name in names {
        let source = charts.profile(name).map_err(|error| {
            Diagnostic::new(Code::Unreadable, error.to_string()).severity(Severity::Error)
        })?;
        let read = yaml::load_all(&source, &Options::KUBERNETES).next();
        documents.extend(read.transpose()?);
    }
    Ok(documents)
}
