//! `mizzen up` with its sample: how long until the first request is answered, what each process keeps in memory, and how long it takes
//! from a file that is written to traffic that is different.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::side::build;
use crate::{keeper::keep, result, tools};

/// A mesh that does not come up, or a change that does not, is a failure and no measurement.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let (starts, edits) = if quick { (1, 2) } else { (7, 20) };
    if let Some(lack) = tools::ensure(|tool| tool == "envoy", false)?.first() {
        bail!("not installed: {lack}");
    }
    let mizzen = build(quick)?;
    let folder = std::env::temp_dir().join(format!("mizzen-bench-up-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&mizzen, &folder, starts, edits);
    let _ = fs::remove_dir_all(&folder);
    let row = measured?;
    println!("{row:#}");
    if save {
        result::save("up", &row)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(mizzen: &Path, folder: &Path, starts: usize, edits: usize) -> anyhow::Result<Value> {
    let mut answered = Vec::new();
    let mut last = None;
    for _ in 0..starts {
        drop(last.take());
        let (mesh, seconds) = Mesh::up(mizzen, folder)?;
        answered.push(seconds);
        last = Some(mesh);
    }
    let mesh = last.context("no mesh was started")?;
    // What is resident after some traffic, not in the first moment.
    for _ in 0..200 {
        mesh.shop(&[])?;
    }
    sleep(Duration::from_secs(2));
    let memory = mesh.memory()?;
    let mut changes = Vec::new();
    for number in 0..edits {
        changes.push(mesh.edit(if number % 2 == 0 { "v2" } else { "v1" })?);
        // The next one finds a mesh at rest.
        sleep(Duration::from_millis(300));
    }
    let all: u64 = memory.values().sum();
    Ok(json!({
        "sample": "6 services, 8 workloads, 9 Envoys",
        "secondsToFirstAnswer": summary(&mut answered),
        "memoryBytes": memory,
        "memoryBytesInAll": all,
        "secondsFromFileToTraffic": summary(&mut changes),
    }))
}

fn summary(values: &mut [f64]) -> Value {
    values.sort_by(f64::total_cmp);
    json!({ "count": values.len(), "median": values[values.len() / 2], "spread": [values[0], values[values.len() - 1]] })
}

struct Mesh {
    up: Child,
    folder: PathBuf,
    ingress: String,
    page: String,
}

impl Mesh {
    /// With the seconds from its start to the first answer.
    fn up(mizzen: &Path, folder: &Path) -> anyhow::Result<(Self, f64)> {
        let begun = Instant::now();
        let mut command = Command::new(mizzen);
        command.arg("up").current_dir(folder).env_remove("http_proxy").env_remove("HTTP_PROXY");
        let up =
            keep(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut mesh = Self { up, folder: folder.to_owned(), ingress: String::new(), page: String::new() };
        loop {
            if let Some(status) = mesh.up.try_wait()? {
                let mut said = String::new();
                mesh.up.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
                bail!("up ended with {status}: {said}");
            }
            if begun.elapsed() > PATIENCE {
                bail!("no request was answered within {} s", PATIENCE.as_secs());
            }
            if mesh.ingress.is_empty()
                && let Ok(text) = fs::read(folder.join(".mizzen/run.json"))
                && let Ok(record) = serde_json::from_slice::<Value>(&text)
                && record["pid"] == mesh.up.id()
            {
                let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
                (mesh.ingress, mesh.page) = (text("ingress"), text("page"));
            }
            // Whole: with catalog, prices and reviews behind it.
            if !mesh.ingress.is_empty()
                && mesh.shop(&[]).is_ok_and(|shop| !shop.to_string().contains("error"))
            {
                return Ok((mesh, begun.elapsed().as_secs_f64()));
            }
            sleep(Duration::from_millis(5));
        }
    }

    fn shop(&self, headers: &[&str]) -> anyhow::Result<Value> {
        let mut all = vec!["accept: application/json"];
        all.extend(headers);
        get(&self.ingress, "/", &all)
    }

    fn memory(&self) -> anyhow::Result<BTreeMap<String, u64>> {
        let view = get(&self.page, "/api/view", &[])?;
        let mut memory = BTreeMap::new();
        let mut add = |process: &Value| {
            if let (Some(name), Some(bytes)) = (process["name"].as_str(), process["memory"].as_u64()) {
                memory.insert(name.to_owned(), bytes);
            }
        };
        add(&view["controlPlane"]);
        add(&view["gateway"]["process"]);
        for workload in view["workloads"].as_array().into_iter().flatten() {
            add(&workload["app"]);
            add(&workload["proxy"]["process"]);
        }
        let status = fs::read_to_string(format!("/proc/{}/status", self.up.id()))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kilobytes: u64 = resident.trim().trim_end_matches("kB").trim().parse()?;
        memory.insert("up".to_owned(), kilobytes * 1_024);
        Ok(memory)
    }

    /// All callers get another version of the reviews: seconds until the first of them does.
    fn edit(&self, version: &str) -> anyhow::Result<f64> {
        let other = if version == "v1" { "v2" } else { "v1" };
        let text = format!(
            "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: reviews}}\nspec:\n  host: reviews\n  \
             subsets: [{{name: v1, labels: {{version: v1}}}}, {{name: v2, labels: {{version: v2}}}}]\n---\n\
             apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: reviews}}\nspec:\n  hosts: [reviews]\n  http:\n  \
             - route:\n    - {{destination: {{host: reviews, subset: {version}}}, weight: 100}}\n    \
             - {{destination: {{host: reviews, subset: {other}}}, weight: 0}}\n"
        );
        let begun = Instant::now();
        fs::write(self.folder.join(".mizzen/sample/mesh/reviews.yaml"), text)?;
        while self.shop(&[])?["reviews"]["version"] != version {
            if begun.elapsed() > PATIENCE {
                bail!("a file was changed and the traffic was not");
            }
        }
        Ok(begun.elapsed().as_secs_f64())
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.up.id()) {
            let _ =
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM);
        }
        let _ = self.up.wait();
    }
}

fn get(address: &str, path: &str, headers: &[&str]) -> anyhow::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("no answer")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{}", head.lines().next().unwrap_or_default());
    }
    Ok(serde_json::from_str(body)?)
}
