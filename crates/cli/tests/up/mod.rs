//! A mesh of `mizzen up` under test: the real binary with real Envoys in a folder of its own.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use mizzen_testkit::run::{MARK, run};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mizzen");
/// Generous: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) fn folder() -> PathBuf {
    run().part_folder("up").unwrap()
}

/// The binary in that folder, with the cache in which the tests have their Envoy.
pub(crate) fn mizzen(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .args(words)
        .current_dir(folder)
        .env("MIZZEN_TOOLS", mizzen_testkit::tools::cache())
        .env(MARK, run().folder())
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .stdin(Stdio::null());
    command
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) struct Mesh {
    pub(crate) folder: PathBuf,
    pub(crate) up: Child,
    pub(crate) ingress: SocketAddr,
    pub(crate) page: SocketAddr,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Mesh {
    /// The sample, or the mesh whose file is in the folder already.
    pub(crate) fn up(folder: PathBuf) -> Self {
        let said = File::create(folder.join("up.out")).unwrap();
        let up = mizzen(&folder, &["up"]).stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap();
        let mut mesh = Self { folder, up, ingress: ([0; 4], 0).into(), page: ([0; 4], 0).into() };
        let record = until("the mesh to be ready", || {
            if let Some(status) = mesh.up.try_wait().unwrap() {
                panic!("up ended with {status}: {}", mesh.said());
            }
            let text = fs::read(mesh.folder.join(".mizzen/run.json")).map_err(|error| error.to_string())?;
            let record: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
            // One that was killed leaves its record behind.
            let ours = record["ready"] == true
                && record["pid"] == mesh.up.id()
                && mesh.said().contains("A mesh is up");
            if ours { Ok(record) } else { Err(mesh.said()) }
        });
        let address = |name: &str| record[name].as_str().unwrap().parse().unwrap();
        (mesh.ingress, mesh.page) = (address("ingress"), address("page"));
        mesh
    }

    /// What it has printed.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.folder.join("up.out")).unwrap_or_default()
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> io::Result<Answer> {
        get(self.ingress, path, headers)
    }

    /// The shop's answer, as data.
    pub(crate) fn shop(&self, headers: &[&str]) -> Value {
        let mut all = vec!["accept: application/json"];
        all.extend(headers);
        let answer = self.get("/", &all).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    pub(crate) fn view(&self) -> Value {
        get(self.page, "/api/view", &[]).unwrap().json()
    }

    pub(crate) fn mizzen(&self, words: &[&str]) -> Output {
        mizzen(&self.folder, words).output().unwrap()
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join(".mizzen/sample/mesh")
    }

    /// The process of a workload: `app` or `proxy`.
    pub(crate) fn pid(&self, workload: &str, which: &str) -> u64 {
        let view = self.view();
        let workloads = view["workloads"].as_array().unwrap();
        let found = workloads.iter().find(|one| one["name"] == workload).unwrap();
        let process = if which == "app" { &found["app"] } else { &found["proxy"]["process"] };
        process["pid"].as_u64().unwrap_or_default()
    }

    /// Everything that carries this mesh's mark.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = format!("MIZZEN_UP={}", self.folder.canonicalize().unwrap().join(".mizzen").display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push(format!(
                    "{} {}",
                    entry.path().display(),
                    String::from_utf8_lossy(&command).replace('\0', " ")
                ));
            }
        }
        found
    }

    pub(crate) fn down(mut self) {
        let output = self.mizzen(&["down"]);
        assert!(output.status.success(), "{}", said(&output));
        // When it says so, it is so.
        assert_eq!(self.processes(), Vec::<String>::new());
        assert!(!self.folder.join(".mizzen/run").exists());
        until("up to end", || match self.up.try_wait().unwrap() {
            Some(status) if status.success() => Ok(()),
            other => Err(format!("{other:?}: {}", self.said())),
        });
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        // A test that failed; the keeper of the tests ends the rest.
        let _ = self.up.kill();
        let _ = self.up.wait();
    }
}

pub(crate) fn get(address: SocketAddr, path: &str, headers: &[&str]) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n")?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| io::Error::other("no answer"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(Answer { status: status.ok_or_else(|| io::Error::other("no status"))?, body: body.to_owned() })
}

/// Until it is so; the error of the last attempt is told otherwise.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let since = Instant::now();
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(reason) if since.elapsed() > PATIENCE => panic!("waited in vain for {what}: {reason}"),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    }
}
