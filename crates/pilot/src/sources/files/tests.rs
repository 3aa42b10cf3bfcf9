use super::folder::{Changes, Folder};
use mizzen_mesh::Event;
use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::{Duration, SystemTime},
};

struct Scene {
    folder: Folder,
    path: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl Scene {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("mizzen-files-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self { folder: Folder::new(vec![path.clone()], true), path }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Some time after the last write.
    fn changes(&mut self) -> Changes {
        self.folder.read(SystemTime::now() + Duration::from_secs(1))
    }

    fn events(&mut self) -> Vec<String> {
        let tell = |event: Event| match event {
            Event::Gone(key) => format!("- {key}"),
            Event::Broken { key, .. } => format!("! {key}"),
            other => format!("+ {}", other.key().unwrap()),
        };
        self.changes().events.into_iter().map(tell).collect()
    }
}

/// What is wrong, in one text.
fn told(changes: &Changes) -> String {
    changes.problems.as_ref().map(|problems| problems.join("\n")).unwrap_or_default()
}

fn service(name: &str, port: u32) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{ports: [{{port: {port}}}]}}\n---\n"
    )
}

fn gateway(name: &str, port: u32) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {{name: {name}}}\nspec:\n  servers:\n  - hosts: ['*']\n    \
         port: {{number: {port}, name: http, protocol: HTTP}}\n---\n"
    )
}

#[test]
fn objects_come_change_and_go_with_their_files() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &(service("one", 80) + &gateway("g", 80)));
    scene.write("below/b.json", r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#);
    scene.write("notes.txt", "not: read");
    scene.write(".hidden.yaml", &service("hidden", 80));
    assert_eq!(scene.events(), ["+ Service shop/one", "+ Namespace shop", "+ Gateway default/g"]);
    assert!(scene.events().is_empty(), "nothing has changed");
    scene.write("a.yaml", &(service("one", 8080) + &gateway("g", 80)));
    assert_eq!(scene.events(), ["+ Service shop/one"]);
    fs::remove_file(scene.path.join("a.yaml")).unwrap();
    assert_eq!(scene.events(), ["- Service shop/one", "- Gateway default/g"]);
}

#[test]
fn a_refused_object_is_told_at_its_line_and_its_neighbours_count() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &(gateway("g", 80) + &gateway("h", 81)));
    assert_eq!(scene.events(), ["+ Gateway default/g", "+ Gateway default/h"]);
    scene.write("a.yaml", &(gateway("g", 0) + &gateway("h", 82)));
    let changes = scene.changes();
    let Event::Broken { key, reason } = &changes.events[0] else { panic!("{:?}", changes.events) };
    assert_eq!(key.to_string(), "Gateway default/g");
    assert!(reason.contains("a.yaml:7:"), "{reason}");
    assert_eq!(changes.events.len(), 2);
    assert!(told(&changes).contains("Gateway default/g"));
    scene.write("a.yaml", &(gateway("g", 80) + &gateway("h", 82)));
    let changes = scene.changes();
    assert_eq!((changes.events.len(), changes.problems), (1, Some(Vec::new())));
}

#[test]
fn what_a_broken_file_had_before_stays() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &(service("one", 80) + &service("two", 80)));
    assert_eq!(scene.events().len(), 2);
    scene.write("a.yaml", &(service("one", 81) + "kind: [\n"));
    let changes = scene.changes();
    assert_eq!(changes.events.len(), 1, "one has changed, two stays");
    assert!(told(&changes).contains("a.yaml:6"));
    scene.write("a.yaml", &service("one", 81));
    assert_eq!(scene.events(), ["- Service shop/two"]);
}

#[test]
fn what_cannot_be_looked_into_takes_nothing_with_it() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &service("one", 80));
    scene.write("below/deep/b.yaml", &service("two", 80));
    assert_eq!(scene.events().len(), 2);
    fs::rename(scene.path.join("below"), scene.path.join(".away")).unwrap();
    // A link to itself can be opened by nobody, not even by root.
    std::os::unix::fs::symlink("below", scene.path.join("below")).unwrap();
    scene.write("a.yaml", &service("one", 81));
    let changes = scene.changes();
    assert_eq!(changes.events.len(), 1, "one has changed, two stays");
    assert!(told(&changes).contains("below: "));
    fs::remove_file(scene.path.join("below")).unwrap();
    fs::rename(scene.path.join(".away"), scene.path.join("below")).unwrap();
    let changes = scene.changes();
    assert_eq!((changes.events.len(), changes.problems), (0, Some(Vec::new())));
    fs::remove_dir_all(scene.path.join("below")).unwrap();
    assert_eq!(scene.events(), ["- Service shop/two"]);
}

#[test]
fn links_in_a_circle_are_walked_once() {
    let mut scene = Scene::new();
    scene.write("below/a.yaml", &service("one", 80));
    for name in ["x", "y", "z"] {
        std::os::unix::fs::symlink(".", scene.path.join("below").join(name)).unwrap();
    }
    assert_eq!(scene.events(), ["+ Service shop/one"]);
}

#[test]
fn of_two_files_with_one_object_the_first_counts_until_it_goes() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &service("one", 80));
    scene.write("b.yaml", &service("one", 81));
    let changes = scene.changes();
    assert_eq!(changes.events.len(), 1);
    assert!(told(&changes).contains("b.yaml: Service shop/one is in"), "{}", told(&changes));
    fs::remove_file(scene.path.join("a.yaml")).unwrap();
    assert_eq!(scene.events(), ["+ Service shop/one"]);
}

#[test]
fn a_file_that_is_being_written_is_left_alone() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &service("one", 80));
    assert_eq!(scene.events(), ["+ Service shop/one"]);
    scene.write("a.yaml", "");
    let changes = scene.folder.read(SystemTime::now());
    assert!(changes.events.is_empty() && changes.again.is_some());
    scene.write("a.yaml", &service("one", 81));
    assert_eq!(scene.events(), ["+ Service shop/one"]);
}

#[test]
fn a_folder_that_disappears_takes_nothing_with_it() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &service("one", 80));
    assert_eq!(scene.events(), ["+ Service shop/one"]);
    let away = scene.path.with_extension("away");
    fs::rename(&scene.path, &away).unwrap();
    let changes = scene.changes();
    assert!(changes.events.is_empty() && !told(&changes).is_empty());
    fs::rename(&away, &scene.path).unwrap();
    let changes = scene.changes();
    assert!(changes.events.is_empty());
    assert_eq!(changes.problems, Some(Vec::new()));
}

#[test]
fn with_a_cluster_services_in_files_are_passed_by() {
    let mut scene = Scene::new();
    scene.folder = Folder::new(vec![scene.path.clone()], false);
    scene.write("a.yaml", &(service("one", 80) + &gateway("g", 80)));
    assert_eq!(scene.events(), ["+ Gateway default/g"]);
}

#[test]
fn a_namespace_that_is_no_text_is_refused() {
    let mut scene = Scene::new();
    scene.write("a.yaml", &service("one", 80).replace("namespace: shop", "namespace: n"));
    let changes = scene.changes();
    assert!(!matches!(changes.events[..], [Event::Service(_)]), "{:?}", changes.events);
    assert!(told(&changes).contains("a.yaml"));
}

#[test]
fn of_two_folders_one_may_be_missing_and_the_first_counts_where_both_have_an_object() {
    let mut scene = Scene::new();
    let (own, other) = (scene.path.join("own"), scene.path.join("other"));
    scene.folder = Folder::new(vec![own.clone(), other], true);
    scene.write("own/a.yaml", &service("one", 80));
    let changes = scene.changes();
    assert_eq!(changes.events.len(), 1);
    assert!(told(&changes).contains("other: "), "{}", told(&changes));
    scene.write("other/b.yaml", &service("two", 80));
    let changes = scene.changes();
    assert_eq!((changes.events.len(), changes.problems), (1, Some(Vec::new())));
    fs::rename(&own, scene.path.join("away")).unwrap();
    assert!(scene.events().is_empty(), "what was read there stays");
}
