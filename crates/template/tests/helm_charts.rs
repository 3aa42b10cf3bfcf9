//! Charts out of folders, archives and files: what is a chart, what is none, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test may end here")]

use std::{fs, io::Write, path::PathBuf};

use flate2::{Compression, write::GzEncoder};
use mizzen_template::helm::{ArchiveError, ArchiveLimits, Chart, ChartError, unpack};
use serde_json::json;
use tar::{Builder, EntryType, Header};

const CHART: &str = "apiVersion: v2\nname: a\nversion: 1.0.0\n";

fn files(files: &[(&str, &str)]) -> Result<Chart, ChartError> {
    Chart::from_files(files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())))
}

/// A .tgz whose names are written as they are: `Builder` would refuse the bad ones.
fn archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, kind, data) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *data).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mizzen-helm-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn files_go_to_their_places() {
    let chart = files(&[
        ("Chart.yaml", CHART),
        ("values.yaml", "\u{feff}x: 1\n"),
        ("values.schema.json", "{}"),
        ("templates/b.yaml", "b"),
        ("templates/a.yaml", "a"),
        ("templates/sub/c.yaml", "c"),
        ("README.md", "read me"),
        ("crds/one.yaml", "kind: CustomResourceDefinition"),
        ("crds/README.md", "no definition"),
        ("files/data.txt", "data"),
        ("charts/z/Chart.yaml", "name: z\nversion: 0.1.0"),
        ("charts/z/templates/x.yaml", "x"),
        ("charts/_ignored/Chart.yaml", "nonsense: ["),
        ("charts/README.md", "no chart"),
    ])
    .unwrap();
    assert_eq!(chart.values, json!({"x": 1}));
    assert!(chart.schema.is_some());
    let names: Vec<_> = chart.templates.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["templates/a.yaml", "templates/b.yaml", "templates/sub/c.yaml"]);
    let names: Vec<_> = chart.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["README.md", "crds/README.md", "crds/one.yaml", "files/data.txt"]);
    assert_eq!(chart.dependencies.len(), 1);
    assert_eq!(chart.dependencies[0].templates[0].name, "templates/x.yaml");
    assert_eq!(chart.crds()[0].0, "a/crds/one.yaml");
}

#[test]
fn a_mistake_in_a_chart_is_told_with_its_place() {
    for (given, told) in [
        (
            &[("values.yaml", "")][..],
            "the chart has no Chart.yaml, so it is no chart: give the folder or the .tgz of one",
        ),
        (&[("Chart.yaml", CHART), ("values.yaml", "a: [\n")], "a/values.yaml:"),
        (&[("Chart.yaml", CHART), ("values.yaml", "- 1\n")], "a/values.yaml:1:1: this must be a map"),
        (&[("Chart.yaml", CHART), ("Chart.yaml", CHART)], "the chart has the file Chart.yaml twice"),
        (
            &[("Chart.yaml", CHART), ("charts/b/values.yaml", "")],
            "sub-chart b of a: charts/b has no Chart.yaml",
        ),
        (
            &[("Chart.yaml", CHART), ("charts/b.tgz", "garbage")],
            "sub-chart b.tgz of a: this is no gzip-compressed tar archive",
        ),
    ] {
        let error = files(given).unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    }
}

#[test]
fn charts_do_not_nest_without_end() {
    let deep = "charts/x/".repeat(1000);
    let mut all = vec![("Chart.yaml".to_owned(), CHART.as_bytes().to_vec())];
    for depth in 1..=1000 {
        all.push((format!("{}Chart.yaml", &deep[..depth * 9]), CHART.as_bytes().to_vec()));
    }
    let error = Chart::from_files(all).unwrap_err().to_string();
    assert!(error.contains("nested more than 32 deep"), "{error}");
}

#[test]
fn a_folder_is_read_without_what_it_ignores() {
    let folder = folder(
        "ignore",
        &[
            ("Chart.yaml", CHART),
            (".helmignore", "# comment\n*.bak\n.git/\n/secret\n"),
            ("templates/a.yaml", "a"),
            ("templates/a.yaml.bak", "old"),
            ("templates/.hidden", "hidden"),
            (".git/config", "git"),
            ("secret", "secret"),
            ("deep/secret", "no secret"),
        ],
    );
    let chart = Chart::from_folder(&folder).unwrap();
    assert_eq!(chart.templates.len(), 1);
    let names: Vec<_> = chart.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, [".helmignore", "deep/secret"]);
    std::os::unix::fs::symlink(&folder, folder.join("deep/circle")).unwrap();
    let error = Chart::from_folder(&folder).unwrap_err().to_string();
    assert!(error.contains("holds itself through a link"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_is_no_chart_is_told() {
    let folder = folder("none", &[("values.yaml", "")]);
    let error = Chart::from_folder(&folder).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{} has no Chart.yaml, so it is no chart: give the folder or the .tgz of one",
            folder.display()
        )
    );
    let error = Chart::from_folder(folder.join("nowhere")).unwrap_err().to_string();
    assert!(error.contains("nowhere: No such file"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_archive_is_a_chart_whatever_its_folder_is_called() {
    let bytes = archive(&[
        ("any/", EntryType::Directory, b""),
        ("any/Chart.yaml", EntryType::Regular, CHART.as_bytes()),
        ("any/./templates//a.yaml", EntryType::Regular, b"a"),
        ("any\\windows.txt", EntryType::Regular, b"w"),
    ]);
    let chart = Chart::from_archive(&bytes).unwrap();
    assert_eq!(chart.templates[0].name, "templates/a.yaml");
    assert_eq!(chart.files[0].name, "windows.txt");
}

#[test]
fn an_archive_that_reaches_out_is_refused() {
    let file = EntryType::Regular;
    for (name, kind, wanted) in [
        ("../evil", file, ArchiveError::Outside("../evil".into())),
        ("a/../../evil", file, ArchiveError::Outside("a/../../evil".into())),
        ("a/b/../c", file, ArchiveError::Outside("a/b/../c".into())),
        ("/etc/passwd", file, ArchiveError::Outside("/etc/passwd".into())),
        ("c:\\evil", file, ArchiveError::Outside("c:\\evil".into())),
        ("a/link", EntryType::Symlink, ArchiveError::Irregular("a/link".into())),
        ("a/hard", EntryType::Link, ArchiveError::Irregular("a/hard".into())),
        ("a/pipe", EntryType::Fifo, ArchiveError::Irregular("a/pipe".into())),
        ("a/Chart.yaml", file, ArchiveError::Twice("a/Chart.yaml".into())),
        ("top", file, ArchiveError::Outside("top".into())),
    ] {
        let bytes = archive(&[("a/Chart.yaml", file, CHART.as_bytes()), (name, kind, b"")]);
        let error = Chart::from_archive(&bytes).unwrap_err();
        assert!(matches!(&error, ChartError::Archive(found) if *found == wanted), "{name}: {error}");
    }
}

#[test]
fn an_archive_that_is_damaged_is_refused() {
    let whole = archive(&[("a/Chart.yaml", EntryType::Regular, CHART.as_bytes())]);
    for length in 0..whole.len() {
        assert!(Chart::from_archive(&whole[..length]).is_err(), "cut to {length} of {}", whole.len());
    }
    for at in 10..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        assert!(Chart::from_archive(&flipped).is_err(), "byte {at}");
    }
    assert!(matches!(
        Chart::from_archive(b"apiVersion: v2"),
        Err(ChartError::Archive(ArchiveError::NotGzip))
    ));
}

#[test]
fn a_bomb_is_not_unpacked() {
    // Four megabytes of zeros that say that they are a gigabyte.
    let mut header = Header::new_ustar();
    header.set_path("a/zeros").unwrap();
    header.set_entry_type(EntryType::Regular);
    header.set_size(1 << 30);
    header.set_cksum();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(header.as_bytes()).unwrap();
    gzip.write_all(&vec![0; 4 << 20]).unwrap();
    let bytes = gzip.finish().unwrap();
    let error = Chart::from_archive(&bytes).unwrap_err();
    assert!(matches!(error, ChartError::Archive(ArchiveError::FileTooLarge { .. })), "{error}");
    // Nor is it read to its end where nobody wants the file.
    let limits = ArchiveLimits { stream: 1 << 20, ..ArchiveLimits::CHART };
    assert_eq!(unpack(&bytes, &limits, |_| false), Err(ArchiveError::TooLarge { limit: 1 << 20 }));
}

#[test]
fn many_small_files_are_no_way_around_the_limit() {
    let names: Vec<String> = (0..50).map(|number| format!("a/{number}")).collect();
    let data = vec![b'x'; 100];
    let entries: Vec<_> =
        names.iter().map(|name| (name.as_str(), EntryType::Regular, data.as_slice())).collect();
    let bytes = archive(&entries);
    let limits = ArchiveLimits { total: 4000, file: 1000, files: 100, stream: 1 << 20 };
    assert_eq!(unpack(&bytes, &limits, |_| true), Err(ArchiveError::TooLarge { limit: 4000 }));
    let limits = ArchiveLimits { total: 400_000, files: 10, ..limits };
    assert_eq!(unpack(&bytes, &limits, |_| true), Err(ArchiveError::TooMany { limit: 10 }));
}
