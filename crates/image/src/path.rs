//! Paths inside an image: absolute, without dots, never one that an unpacking program would take for something else.

use std::path::{Component, Path};

use crate::error::Error;

/// `/usr/bin/x` → `usr/bin/x`, the form that a layer holds.
pub(crate) fn inside(path: &str) -> Result<String, Error> {
    let refused = |reason| Error::Path { path: path.to_owned(), reason };
    if !path.starts_with('/') {
        return Err(refused("it must be absolute"));
    }
    let mut parts = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().ok_or(refused("it must be UTF-8"))?),
            Component::ParentDir => return Err(refused("`..` could lead out of the image")),
            Component::Prefix(_) => return Err(refused("it must be absolute")),
        }
    }
    if parts.iter().any(|part| part.starts_with(".wh.")) {
        return Err(refused("names with `.wh.` mean deletion in a layer"));
    }
    if parts.is_empty() {
        return Err(refused("the root is always there"));
    }
    Ok(parts.join("/"))
}

/// `usr/bin/x` → `usr`, `usr/bin`.
pub(crate) fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::{inside, parents};

    #[test]
    fn a_path_is_kept_without_its_root() {
        assert_eq!(inside("/usr//bin/./x").unwrap(), "usr/bin/x");
    }

    #[test]
    fn paths_that_could_do_harm_are_refused_by_name() {
        for path in ["/../etc/passwd", "/usr/../../x", "relative", "", "/", "/a/.wh.b"] {
            let error = inside(path).unwrap_err().to_string();
            assert!(error.contains(&format!("{path:?}")), "{error}");
        }
    }

    #[test]
    fn parents_come_outermost_first() {
        assert_eq!(parents("usr/bin/x").collect::<Vec<_>>(), ["usr", "usr/bin"]);
        assert_eq!(parents("x").count(), 0);
    }
}
