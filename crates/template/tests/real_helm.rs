//! The real `helm template`, and Helm's library as istioctl links it, beside our own rendering.
#![allow(clippy::unwrap_used, reason = "a test may end here")]
#![allow(clippy::print_stderr, reason = "how much was compared is told")]

#[path = "real_helm/own.rs"]
mod own;
#[path = "real_helm/sets.rs"]
mod sets;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use mizzen_template::helm::{self, Capabilities, Chart, ManifestOptions, Release, RenderOptions};
use mizzen_testkit::{Oracle, needs, tools};
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};

const NEEDS: &[&str] = &["helm", "modules/istio"];

#[test]
fn every_chart_of_istio_renders_as_helm_renders_it() {
    needs!(NEEDS);
    let charts = tools::folder("modules/istio").unwrap().join("manifests/charts");
    let mut tally = Tally::default();
    for (chart, sets) in sets::CHARTS {
        tally.chart(&charts.join(chart), sets);
    }
    assert_eq!(tally.total, sets::CHARTS.len() * 6);
    tally.tell("charts of Istio");
}

#[test]
fn the_umbrella_chart_of_the_samples_renders_as_helm_renders_it() {
    needs!(NEEDS);
    let manifests = tools::folder("modules/istio").unwrap().join("manifests");
    let folder = Folder::new("ambient");
    copy(&manifests.join("sample-charts/ambient"), &folder.0);
    for (name, from) in sets::AMBIENT_DEPENDENCIES {
        copy(&manifests.join("charts").join(from), &folder.0.join("charts").join(name));
    }
    let mut tally = Tally::default();
    tally.chart(&folder.0, &sets::AMBIENT.1);
    tally.tell("umbrella chart");
}

#[test]
fn charts_of_our_own_render_as_helm_renders_them() {
    needs!(NEEDS);
    let mut tally = Tally::default();
    for (index, case) in own::RENDERED.iter().enumerate() {
        let folder = Folder::of(&format!("own-{index}"), case.files);
        tally.compare(&folder.0, case.values, case.name);
    }
    tally.tell("charts of our own");
}

#[test]
fn what_helm_refuses_we_refuse_and_name_it() {
    needs!(NEEDS);
    for (index, (case, named)) in own::REFUSED.iter().enumerate() {
        let folder = Folder::of(&format!("refused-{index}"), case.files);
        let theirs = real(&folder.0, case.values);
        assert!(theirs.is_err(), "{}: helm takes it", case.name);
        let error = ours(&folder.0, case.values).expect_err(case.name);
        assert!(error.contains(named), "{}: {error:?} does not name {named:?}", case.name);
        assert_eq!(error.trim().lines().count(), 1, "{}: {error:?} is more than a sentence", case.name);
    }
    eprintln!("refused by both: {0} / {0}", own::REFUSED.len());
}

/// Helm 4.2's library has some of its own ways: here it is asked itself, file by file.
#[test]
fn charts_of_our_own_render_as_the_library_in_istioctl_renders_them() {
    needs!(Oracle::NEEDS);
    let questions: Vec<Value> = own::RENDERED
        .iter()
        .map(|case| {
            json!({
                "chart": case.files.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
                "values": values(case.values),
                "release": {"name": "istio", "namespace": "istio-system", "isInstall": true, "revision": 1},
                "dependencies": true,
            })
        })
        .collect();
    let answers = Oracle::shared().templates(&questions).unwrap();
    let mut equal = 0;
    for (case, answer) in own::RENDERED.iter().zip(answers) {
        assert_eq!(answer.error, None, "{}", case.name);
        let files = case.files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes()));
        let chart = Chart::from_files(files).unwrap();
        let rendered = render(&chart, case.values).unwrap();
        let theirs = answer.files.into_iter().filter(|(name, _)| !name.ends_with("NOTES.txt"));
        assert_eq!(rendered.files, theirs.collect::<Vec<_>>(), "{}", case.name);
        equal += 1;
    }
    eprintln!("charts of our own beside Helm 4.2: {equal} / {} byte-equal", own::RENDERED.len());
}

#[derive(Default)]
struct Tally {
    total: usize,
    bytes: usize,
    objects: usize,
}

impl Tally {
    /// The chart as it is, and with each set, which must change something.
    fn chart(&mut self, chart: &Path, sets: &[&str]) {
        let bare = self.compare(chart, "", "no values");
        let without_effect = sets.iter().filter(|set| self.compare(chart, set, set) == bare);
        let without_effect: Vec<_> = without_effect.collect();
        assert!(without_effect.is_empty(), "{}: these change nothing: {without_effect:?}", chart.display());
    }

    fn compare(&mut self, chart: &Path, values: &str, what: &str) -> String {
        let place = format!("{} with {what}", chart.display());
        let theirs = real(chart, values).unwrap_or_else(|error| panic!("{place}: helm refuses: {error}"));
        let ours = ours(chart, values).unwrap_or_else(|error| panic!("{place}: {error}"));
        let (our_objects, their_objects) = (objects(&ours), objects(&theirs));
        assert_eq!(our_objects.len(), their_objects.len(), "{place}");
        for (ours, theirs) in our_objects.iter().zip(&their_objects) {
            assert_eq!(ours, theirs, "{place}");
        }
        self.objects += their_objects.len();
        self.total += 1;
        if ours == theirs {
            self.bytes += 1;
        } else {
            eprintln!("not the same bytes: {place}");
        }
        theirs
    }

    fn tell(&self, what: &str) {
        let Self { total, bytes, objects } = self;
        eprintln!("{what}: {total} / {total} equal as {objects} objects, {bytes} / {total} byte-equal");
    }
}

fn real(chart: &Path, values: &str) -> Result<String, String> {
    let mut command = Command::new(tools::command("helm").unwrap());
    command.args(["template", "istio", "--namespace", "istio-system", "--values", "-"]).arg(chart);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), values.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn ours(chart: &Path, values: &str) -> Result<String, String> {
    let chart = Chart::from_folder(chart).map_err(|error| error.to_string())?;
    let rendered = render(&chart, values).map_err(|error| error.to_string())?;
    helm::manifest(&rendered, ManifestOptions::default()).map_err(|error| error.to_string())
}

fn render(chart: &Chart, text: &str) -> Result<helm::Rendered, helm::HelmError> {
    let release = Release {
        name: "istio".into(),
        namespace: "istio-system".into(),
        is_install: true,
        revision: 1,
        ..Release::default()
    };
    let options = RenderOptions { dependencies: true, ..RenderOptions::default() };
    helm::render(chart, &values(text), &release, &Capabilities::default(), &options)
}

fn values(text: &str) -> Value {
    objects(text).pop().unwrap_or_else(|| json!({}))
}

fn objects(text: &str) -> Vec<Value> {
    let source = Source::new("output", text);
    yaml::load_all(&source, &yaml::Options::KUBERNETES).map(|document| document.unwrap().value).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mizzen-real-helm-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn of(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = Self::new(name);
        for (file, text) in files {
            let path = folder.0.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
