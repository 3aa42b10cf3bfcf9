//! A file in the folder of Istio's objects that belongs to an application: written in one step, because the folder is followed.

use crate::state::write;
use mizzen_text::{Source, yaml};
use serde_json::Value;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The file of an application.
pub fn file(folder: &Path, app: &str) -> PathBuf {
    folder.join(format!("app-{app}.yaml"))
}

/// What an application has there; nothing if it has no file. One that cannot be read is an error: somebody has edited it.
pub fn read(file: &Path) -> io::Result<Vec<Value>> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes?,
    };
    let source = Source::new(file.display().to_string(), bytes);
    let mut objects = Vec::new();
    for document in yaml::load_all(&source, &yaml::Options::KUBERNETES) {
        let document = document.map_err(|diagnostic| io::Error::other(diagnostic.message))?;
        objects.push(document.value);
    }
    Ok(objects)
}

pub fn put(file: &Path, objects: &[Value]) -> io::Result<()> {
    let mut text = "# Written by `mizzen app apply --local`, and written over by the next.\n".to_owned();
    for object in objects {
        text.push_str("---\n");
        text.push_str(&yaml::to_string(object));
    }
    write(file, text.as_bytes())
}

/// Whether there was one.
pub fn remove(file: &Path) -> io::Result<bool> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_an_application_has_is_read_as_it_was_written_and_goes_again() {
        let folder = std::env::temp_dir().join(format!("mizzen-objects-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = file(&folder, "shop");
        assert_eq!(read(&file).unwrap(), Vec::<Value>::new());
        let objects = [json!({"kind": "A", "metadata": {"name": "one"}}), json!({"kind": "B"})];
        put(&file, &objects).unwrap();
        assert_eq!(read(&file).unwrap(), objects);
        assert!(remove(&file).unwrap() && !remove(&file).unwrap());
        fs::remove_dir_all(folder).unwrap();
    }
}
