//! What stands in an image, read back from the tar that was written.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use mizzen_image::{Image, Written};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A folder that goes away with its test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("mizzen-image-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

type Entries = BTreeMap<String, (u32, Vec<u8>)>;

/// Entries of a tar: path → (mode, content or target of a link), after checking that nothing dates or owns them.
fn entries(bytes: &[u8]) -> Entries {
    let mut archive = tar::Archive::new(bytes);
    let mut order = Vec::new();
    let mut entries = BTreeMap::new();
    for entry in archive.entries().expect("a tar") {
        let mut entry = entry.expect("an entry");
        let header = entry.header();
        assert_eq!((header.mtime().ok(), header.uid().ok(), header.gid().ok()), (Some(0), Some(0), Some(0)));
        let mode = header.mode().expect("a mode");
        let path = entry.path().expect("a path").display().to_string();
        let mut content = entry.link_name_bytes().map(|target| target.into_owned()).unwrap_or_default();
        entry.read_to_end(&mut content).expect("its content");
        order.push(path.trim_end_matches('/').to_owned());
        entries.insert(path, (mode, content));
    }
    assert_eq!(order.len(), entries.len(), "no path comes twice");
    entries
}

/// The image of a file: (index, manifest, configuration, entries of the layer). Every blob has its digest's name.
fn open(path: &Path) -> (Value, Value, Value, Entries) {
    let outer = entries(&fs::read(path).expect("the image"));
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON");
    assert_eq!(parse(&outer["oci-layout"].1), json!({ "imageLayoutVersion": "1.0.0" }));
    let blob = |descriptor: &Value| {
        let digest = descriptor["digest"].as_str().expect("a digest");
        let hex = digest.strip_prefix("sha256:").expect("SHA-256");
        let (_, content) = &outer[&format!("blobs/sha256/{hex}")];
        let real: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(real, hex);
        assert_eq!(descriptor["size"], json!(content.len()));
        content.clone()
    };
    let index = parse(&outer["index.json"].1);
    let manifest = parse(&blob(&index["manifests"][0]));
    let configuration = parse(&blob(&manifest["config"]));
    let layer = blob(&manifest["layers"][0]);
    (index, manifest, configuration, entries(&layer))
}

fn write(image: &Image, folder: &Folder, name: &str) -> (Written, PathBuf) {
    let path = folder.0.join(name);
    (image.write(&path).expect("an image"), path)
}

#[test]
fn the_documents_name_each_other_and_the_image() {
    let folder = Folder::new();
    let image = Image::new("localhost/app:7")
        .text("hello", "/etc/greeting", 0o644)
        .env("LANG", "C")
        .user("1337")
        .entrypoint(["/app", "serve"]);
    let (written, path) = write(&image, &folder, "app.tar");
    let (index, manifest, configuration, _) = open(&path);

    assert_eq!(index["mediaType"], "application/vnd.oci.image.index.v1+json");
    let entry = &index["manifests"][0];
    assert_eq!(entry["digest"], json!(written.digest.to_string()));
    assert_eq!(entry["mediaType"], "application/vnd.oci.image.manifest.v1+json");
    assert_eq!(entry["annotations"]["io.containerd.image.name"], "localhost/app:7");
    assert_eq!(entry["annotations"]["org.opencontainers.image.ref.name"], "7");
    assert_eq!(entry["platform"]["os"], "linux");
    assert_eq!(manifest["mediaType"], entry["mediaType"]);
    assert_eq!(manifest["config"]["mediaType"], "application/vnd.oci.image.config.v1+json");
    assert_eq!(manifest["layers"][0]["mediaType"], "application/vnd.oci.image.layer.v1.tar");
    assert_eq!(configuration["rootfs"]["type"], "layers");
    assert_eq!(configuration["rootfs"]["diff_ids"], json!([manifest["layers"][0]["digest"]]));
    assert_eq!(
        configuration["config"],
        json!({ "User": "1337", "Env": ["LANG=C"], "Entrypoint": ["/app", "serve"], "WorkingDir": "/" })
    );
}

#[test]
fn the_same_input_gives_the_same_bytes_whatever_the_order_and_the_clock() {
    let folder = Folder::new();
    let (one, two) = (folder.file("one", "1"), folder.file("two", "2"));
    let (first, there) = write(
        &Image::new("localhost/app:1").file(&one, "/b/one", 0o600).file(&two, "/a/two", 0o644),
        &folder,
        "first.tar",
    );
    // The same contents, written anew: other times on disk.
    fs::remove_file(&one).unwrap();
    let one = folder.file("one", "1");
    fs::File::open(&one).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let (second, here) = write(
        &Image::new("localhost/app:1").file(&two, "/a/two", 0o644).file(&one, "/b/one", 0o600),
        &folder,
        "second.tar",
    );
    assert_eq!(first, second);
    assert_eq!(fs::read(there).unwrap(), fs::read(here).unwrap());

    let changed = folder.file("one", "!");
    let (third, _) = write(
        &Image::new("localhost/app:1").file(&two, "/a/two", 0o644).file(changed, "/b/one", 0o600),
        &folder,
        "third.tar",
    );
    assert_ne!(first.digest, third.digest);
}

#[test]
fn files_folders_and_links_arrive_with_their_modes_and_parents() {
    let folder = Folder::new();
    let tool = folder.file("tree/bin/tool", "#!");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("tool", folder.0.join("tree/bin/alias")).unwrap();
    let image = Image::new("localhost/app:1")
        .folder(folder.0.join("tree"), "/opt")
        .file(&tool, "/usr/bin/tool", 0o4755)
        .directory("/tmp", 0o1777)
        .link("../bin/tool", "/usr/sbin/tool");
    let (_, path) = write(&image, &folder, "app.tar");
    let layer = open(&path).3;
    let mode_of = |path: &str| layer[path].0;
    assert_eq!(layer["opt/bin/tool"], (0o750, b"#!".to_vec()));
    assert_eq!(layer["opt/bin/alias"].1, b"tool");
    assert_eq!(mode_of("usr/bin/tool"), 0o4755);
    assert_eq!(mode_of("tmp/"), 0o1777);
    assert_eq!(layer["usr/sbin/tool"].1, b"../bin/tool");
    assert_eq!((mode_of("usr/"), mode_of("usr/sbin/")), (0o755, 0o755));
    let paths: Vec<_> = layer.keys().collect();
    assert!(paths.is_sorted());
}

#[test]
fn paths_longer_than_a_tar_header_survive() {
    let folder = Folder::new();
    let long = format!("/{}/end", "a-long-name/".repeat(30).trim_end_matches('/'));
    let (_, path) = write(&Image::new("localhost/app:1").text("x", &long, 0o644), &folder, "app.tar");
    assert_eq!(open(&path).3[long.trim_start_matches('/')].1, b"x");
}

#[test]
fn a_program_comes_with_what_it_needs_to_start() {
    let folder = Folder::new();
    let image =
        Image::new("localhost/app:1").program(std::env::current_exe().unwrap(), "/app").entrypoint(["/app"]);
    let (written, path) = write(&image, &folder, "app.tar");
    let layer = open(&path).3;
    assert_eq!(layer["app"].0, 0o755);
    for part in ["/libc.so", "/ld-linux"] {
        assert!(layer.keys().any(|path| path.contains(part)), "{part} is not in {:?}", layer.keys());
    }
    assert!(written.size > fs::metadata(std::env::current_exe().unwrap()).unwrap().len());
}

#[test]
fn what_is_missing_or_refused_is_named_and_nothing_is_left_behind() {
    let folder = Folder::new();
    let text = folder.file("text", &"#".repeat(200));
    let name = || Image::new("localhost/app:1");
    let cases: [(&str, Image); 8] = [
        ("/nowhere/app", name().file("/nowhere/app", "/app", 0o755)),
        ("/nowhere/prog", name().program("/nowhere/prog", "/app")),
        ("/nowhere/folder", name().folder("/nowhere/folder", "/app")),
        ("no ELF header", name().program(&text, "/app")),
        ("/app/../../etc/passwd", name().text("x", "/app/../../etc/passwd", 0o644)),
        ("/app/below", name().text("x", "/app", 0o644).text("y", "/app/below", 0o644)),
        ("neither a file", name().file(&folder.0, "/app", 0o755)),
        ("app:1", Image::new("app:1").text("x", "/x", 0o644)),
    ];
    for (words, image) in cases {
        let target = folder.0.join("app.tar");
        let error = image.write(&target).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let left: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["text"]);
}

#[test]
fn an_image_that_was_there_stays_when_writing_the_next_fails() {
    let folder = Folder::new();
    let (_, path) = write(&Image::new("localhost/app:1").text("x", "/x", 0o644), &folder, "app.tar");
    let before = fs::read(&path).unwrap();
    let broken = Image::new("localhost/app:1").file("/nowhere", "/x", 0o644);
    assert!(broken.write(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
}
