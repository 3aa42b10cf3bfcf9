//! `mizzen up --init`: a file to start from, and the folder that it names.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What was written.
#[derive(Debug)]
pub struct Written {
    pub file: PathBuf,
    pub objects: PathBuf,
}

const FILE: &str = include_str!("starter/mesh.yaml");
const INGRESS: &str = include_str!("starter/ingress.yaml");

/// Never over something that is there.
pub fn init(folder: &Path) -> io::Result<Written> {
    let objects = folder.join("mesh");
    let written = Written { file: folder.join(super::FILE), objects: objects.clone() };
    new(&written.file, FILE)?;
    fs::create_dir_all(&objects)?;
    match new(&objects.join("ingress.yaml"), INGRESS) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(written),
        other => other.map(|()| written),
    }
}

fn new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{super::read, *};

    #[test]
    fn the_starter_can_be_read_and_is_not_written_over() {
        let folder = std::env::temp_dir().join(format!("mizzen-starter-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let written = init(&folder).unwrap();
        let config = read(&written.file).unwrap_or_else(|refused| panic!("{refused}"));
        assert!(!config.services.is_empty());
        fs::write(&written.file, "mine").unwrap();
        assert_eq!(init(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&written.file).unwrap(), "mine");
        fs::remove_dir_all(folder).unwrap();
    }
}
