//! `mizzen up` with processes of the user's own, and everything that can be wrong with them and their machine.

#![allow(clippy::unwrap_used, reason = "tests")]

mod up;

use mizzen_testkit::{Envoy, needs, needs::ROOT};
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};
use up::{Mesh, folder, get, mizzen, said, until};

/// What `up` says when it does not start.
fn refused(folder: &Path, words: &[&str]) -> String {
    let mut all = vec!["up"];
    all.extend(words);
    let output = mizzen(folder, &all).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let told = said(&output);
    assert!(told.contains("error"), "{told}");
    told
}

fn write(folder: &Path, mesh: &str) {
    fs::create_dir_all(folder.join("mesh")).unwrap();
    fs::write(folder.join("mesh.yaml"), mesh).unwrap();
}

#[test]
fn a_mesh_of_ones_own_begins_with_init_and_runs_in_the_background() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    let run = |words: &[&str]| mizzen(&folder, words).output().unwrap();
    let init = run(&["up", "--init"]);
    assert!(init.status.success() && folder.join("mesh.yaml").exists(), "{}", said(&init));
    let again = run(&["up", "--init"]);
    assert!(again.status.code() == Some(1) && said(&again).contains("already"), "{}", said(&again));

    let up = run(&["up", "--detach"]);
    assert!(up.status.success() && said(&up).contains("background"), "{}", said(&up));
    let second = run(&["up", "--detach"]);
    assert!(
        second.status.code() == Some(1) && said(&second).contains("up here already"),
        "{}",
        said(&second)
    );

    let traffic = run(&["traffic", "/mesh.yaml", "--rate", "50", "--duration", "2s", "-o", "json"]);
    assert!(traffic.status.success(), "{}", said(&traffic));
    let report: serde_json::Value = serde_json::from_slice(&traffic.stdout).unwrap();
    assert!(
        report["requests"].as_u64().unwrap() > 10 && report["succeeded"] == report["requests"],
        "{report}"
    );
    assert!(report["answers"]["200"].as_u64().unwrap() > 10, "the starter serves its own folder: {report}");

    until("the calls to be counted", || {
        let status = run(&["status", "-o", "json"]);
        let view: serde_json::Value =
            serde_json::from_slice(&status.stdout).map_err(|error| error.to_string())?;
        if view["edges"][0]["requests"].as_u64() > Some(10) { Ok(()) } else { Err(view.to_string()) }
    });
    let names = run(&["logs"]);
    assert_eq!(said(&names), "control-plane\ningress\nweb-v1\nweb-v1-proxy\n");
    let logs = run(&["logs", "web-v1", "--tail", "3"]);
    assert!(said(&logs).contains("GET /mesh.yaml"), "{}", said(&logs));
    let logs = run(&["logs", "web-v1-proxy", "--tail", "1"]);
    assert!(said(&logs).contains("GET /mesh.yaml"), "each call is in the sidecar's log: {}", said(&logs));
    let unknown = run(&["logs", "wbe-v1"]);
    assert!(
        unknown.status.code() == Some(2) && said(&unknown).contains("did you mean web-v1?"),
        "{}",
        said(&unknown)
    );

    let down = run(&["down"]);
    assert!(down.status.success() && said(&down).contains("has ended"), "{}", said(&down));
    let status = run(&["status"]);
    assert!(
        status.status.code() == Some(1) && said(&status).contains("no mesh is up here"),
        "{}",
        said(&status)
    );
}

#[test]
fn a_process_that_somebody_else_starts_is_taken_in_when_it_answers() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    write(&folder, &format!("services:\n  web:\n    port: 8000\n    at: 127.0.0.1:{port}\n"));
    let starter = mizzen(&folder, &["up", "--init"]).output().unwrap();
    assert_eq!(starter.status.code(), Some(1), "it is not written over");
    fs::write(
        folder.join("mesh/in.yaml"),
        "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: g}\nspec:\n  selector: {istio: ingressgateway}\n  \
         servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]\n---\napiVersion: networking.istio.io/v1\n\
         kind: VirtualService\nmetadata: {name: web}\nspec: {hosts: ['*'], gateways: [g], http: [{route: [{destination: {host: web}}]}]}\n",
    )
    .unwrap();
    let mesh = Mesh::up(folder.clone());
    assert!(mesh.said().contains("web-v1 is not ready"), "{}", mesh.said());
    until("the ingress to have nobody behind it", || {
        let status = mesh.get("/", &[]).map_err(|error| error.to_string())?.status;
        if status == 503 { Ok(()) } else { Err(status.to_string()) }
    });
    let mut own = Command::new("python3")
        .args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it to be taken in", || {
        let answer = mesh.get("/mesh.yaml", &[]).map_err(|error| error.to_string())?;
        if answer.status == 200 { Ok(()) } else { Err(format!("{}: {}", answer.status, answer.body)) }
    });
    own.kill().unwrap();
    own.wait().unwrap();
    until("it to be taken out", || {
        let ready = mesh.view()["workloads"][0]["ready"].clone();
        if ready == false { Ok(()) } else { Err(ready.to_string()) }
    });
    mesh.down();
}

#[test]
fn a_process_that_ends_at_once_is_told_and_the_others_run() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    write(
        &folder,
        "services:\n  good:\n    port: 8000\n    run: [python3, -m, http.server, --bind, 127.0.0.1, '20999']\n    listens: 20999\n  \
         bad:\n    port: 8001\n    run: echo no such database >&2; exit 7\n  worse:\n    port: 8002\n    run: [/does/not/exist]\n",
    );
    let mesh = Mesh::up(folder);
    let told = mesh.said();
    assert!(told.contains("bad-v1 is not ready") && told.contains("no such database"), "{told}");
    assert!(told.contains("exit status: 7") && told.contains("logs bad-v1"), "{told}");
    assert!(told.contains("worse-v1") && told.contains("/does/not/exist cannot be started"), "{told}");
    let view = mesh.view();
    let ready: Vec<bool> =
        view["workloads"].as_array().unwrap().iter().map(|one| one["ready"] == true).collect();
    // In the order of the file's keys: bad, good, worse.
    assert_eq!(ready.iter().filter(|ready| **ready).count(), 1, "{view}");
    mesh.down();
}

#[test]
fn a_port_that_is_taken_is_named_with_who_has_it() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    write(&folder, &format!("ingress: {port}\nservices: {{web: {{port: 8000, run: sleep 1}}}}\n"));
    let told = refused(&folder, &[]);
    assert!(
        told.contains(&format!("port {port} is taken by")) && told.contains("`ingress` in mesh.yaml"),
        "{told}"
    );
    // On every address: no network of the mesh's own is free.
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = everywhere.local_addr().unwrap().port();
    write(&folder, &format!("services: {{web: {{port: {port}, run: sleep 1}}}}\n"));
    let told = refused(&folder, &[]);
    assert!(told.contains(&format!("port {port} is taken by")) && told.contains("service web"), "{told}");
    assert!(!folder.join(".mizzen/run").exists(), "nothing is left of an attempt");
}

#[test]
fn an_envoy_that_is_missing_or_old_is_told_with_a_way_out() {
    let folder = folder();
    let without = |command: &mut Command| {
        let nothing = folder.join("nothing");
        command
            .env("MIZZEN_TOOLS", &nothing)
            .env("XDG_CACHE_HOME", &nothing)
            .env("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
            .env("PIP_NO_INDEX", "true")
            .env_remove("PIP_FIND_LINKS")
            .output()
            .unwrap()
    };
    let output = without(&mut mizzen(&folder, &["up"]));
    let told = said(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("there is no Envoy here, and it cannot be installed") && told.contains("--envoy"),
        "{told}"
    );

    let old = folder.join("old-envoy");
    fs::write(&old, "#!/bin/sh\necho 'envoy  version: abc/1.20.0/Clean/RELEASE/BoringSSL'\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let told = refused(&folder, &["--envoy", old.to_str().unwrap()]);
    assert!(told.contains("1.20.0") && told.contains("oldest"), "{told}");
    let told = refused(&folder, &["--envoy", "/does/not/exist"]);
    assert!(told.contains("/does/not/exist is no Envoy"), "{told}");
}

#[test]
fn an_envoy_that_ends_at_once_ends_the_attempt() {
    let folder = folder();
    let broken = folder.join("broken-envoy");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'x: abc/1.40.0/Clean/RELEASE/BoringSSL' && exit 0\necho cannot map memory >&2; exit 3\n";
    fs::write(&broken, script).unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let told = refused(&folder, &["--envoy", broken.to_str().unwrap()]);
    assert!(told.contains("no Envoy starts") && told.contains("cannot map memory"), "{told}");
}

#[test]
fn a_folder_or_file_that_cannot_be_used_is_named() {
    let folder = folder();
    fs::write(folder.join("mesh.yaml"), "services: {web: {port: 8000, run: sleep 1}}\n").unwrap();
    let told = refused(&folder, &[]);
    assert!(told.contains("there is no folder") && told.contains("`objects`"), "{told}");
    fs::write(folder.join("mesh"), "a file").unwrap();
    let told = refused(&folder, &[]);
    assert!(told.contains("mesh cannot be read"), "{told}");
    let told = refused(&folder, &["-f", "nowhere.yaml"]);
    assert!(told.contains("nowhere.yaml") && told.contains("--init"), "{told}");
    assert!(!folder.join("nowhere").exists());
    fs::write(folder.join("mesh.yaml"), "services:\n  web:\n    prot: 8000\n").unwrap();
    let told = refused(&folder, &[]);
    assert!(told.contains("mesh.yaml:3:5") && told.contains("did you mean `port`?"), "{told}");
    // As root everything can be written; a file in the folder's place cannot.
    fs::remove_dir_all(folder.join(".mizzen")).unwrap();
    fs::write(folder.join(".mizzen"), "").unwrap();
    fs::write(folder.join("mesh.yaml"), "services: {web: {port: 8000, run: sleep 1}}\n").unwrap();
    let told = refused(&folder, &[]);
    assert!(told.contains(".mizzen cannot be used"), "{told}");
}

#[test]
fn a_full_disk_is_told_and_leaves_no_process() {
    needs!(&[ROOT], &["unshare"], Envoy::NEEDS);
    let folder = folder();
    let script = format!(
        "mount -t tmpfs -o size=40k none {0} && cd {0} && head -c 30000 /dev/zero > fill && exec {1} up",
        folder.display(),
        up::BINARY
    );
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", &script])
        .env("MIZZEN_TOOLS", mizzen_testkit::tools::cache())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = said(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("No space left") && told.contains("disk full"), "{told}");
    sleep(Duration::from_millis(100));
    let left = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let mark = format!("MIZZEN_UP={}", folder.join(".mizzen").display());
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn the_page_answers_only_this_machine_and_only_questions() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    let page = get(mesh.page, "/", &[]).unwrap();
    assert!(page.status == 200 && page.body.contains("<html"), "{}", page.body);
    assert_eq!(get(mesh.page, "/no/such/file", &[]).unwrap().status, 404);
    assert_eq!(get(mesh.page, "/api/routes", &[]).unwrap().status, 400);
    assert_eq!(get(mesh.page, "/api/routes?service=nobody", &[]).unwrap().status, 404);
    use std::io::{Read, Write};
    let ask = |text: &str| {
        let mut stream = std::net::TcpStream::connect(mesh.page).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let stranger = ask("GET /api/view HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    assert!(stranger.starts_with("HTTP/1.1 403"), "{stranger}");
    let writer =
        ask("POST /api/view HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    assert!(writer.starts_with("HTTP/1.1 405"), "{writer}");
    mesh.down();
}

#[test]
fn with_namespaces_everything_is_redirected_and_nothing_is_left() {
    needs!(&[ROOT], &["ip", "iptables"], Envoy::NEEDS);
    let folder = folder();
    let run = |words: &[&str]| mizzen(&folder, words).output().unwrap();
    let links = || Command::new("ip").arg("link").output().unwrap().stdout;
    let before = links();
    let up = run(&["up", "--capture", "netns", "--detach"]);
    assert!(up.status.success(), "{}", said(&up));
    let status = run(&["status", "-o", "json"]);
    let view: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(view["capture"], "netns");
    let ingress = view["ingress"].as_str().unwrap().parse().unwrap();
    let shop = get(ingress, "/", &["accept: application/json", "x-user: ana"]).unwrap().json();
    let account = |name: &str| format!("spiffe://cluster.local/ns/default/sa/{name}");
    // Nobody was told of a proxy, and yet it was the sidecars that called; port 80 included.
    assert_eq!(shop["prices"]["caller"], account("shop"), "{shop}");
    assert_eq!(shop["reviews"]["ratings"]["caller"], account("reviews"), "{shop}");
    assert_eq!(shop["reviews"]["version"], "v3", "{shop}");
    until("the proxies to be seen in step", || {
        let status = run(&["status"]);
        let told = said(&status);
        if told.matches("synced").count() == 9 { Ok(()) } else { Err(told) }
    });
    assert_eq!(before, links(), "the machine's own network is as it was");
    let down = run(&["down"]);
    assert!(down.status.success(), "{}", said(&down));

    write(&folder, "services: {web: {port: 8000, at: 127.0.0.1:9}}\n");
    let told = refused(&folder, &["--capture", "netns"]);
    assert!(told.contains("web-v1") && told.contains("--capture"), "{told}");
}

#[test]
fn without_root_it_is_the_same() {
    needs!(&[ROOT], Envoy::NEEDS);
    // Somebody who has nothing but this folder: the programs are copied there, because root's are out of reach.
    const NOBODY: u32 = 65_534;
    let folder = folder();
    let home = folder.join("home");
    fs::create_dir(&home).unwrap();
    for (from, name) in
        [(up::BINARY.into(), "mizzen"), (mizzen_testkit::tools::command("envoy").unwrap(), "envoy")]
    {
        fs::copy(from, folder.join(name)).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(folder.join("mizzen"));
        command.args(words).current_dir(&home).env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
        std::os::unix::process::CommandExt::gid(&mut command, NOBODY);
        std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
        command.stdin(Stdio::null()).output().unwrap()
    };
    let envoy = folder.join("envoy");
    let up = run(&["up", "--detach", "--envoy", envoy.to_str().unwrap()]);
    assert!(up.status.success() && said(&up).contains("80 is root's"), "{}", said(&up));
    let view: serde_json::Value = serde_json::from_slice(&run(&["status", "-o", "json"]).stdout).unwrap();
    let shop = get(view["ingress"].as_str().unwrap().parse().unwrap(), "/", &["accept: application/json"])
        .unwrap()
        .json();
    assert_eq!(shop["prices"]["caller"], "spiffe://cluster.local/ns/default/sa/shop", "{shop}");
    // Keys are nobody else's to read.
    for entry in fs::read_dir(home.join(".mizzen/run")).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        let is_socket = entry.file_name().to_str().unwrap().ends_with(".sock");
        assert!(!is_socket || mode & 0o077 == 0, "{:?} {mode:o}", entry.path());
    }
    let mode = fs::metadata(home.join(".mizzen")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    let told = run(&["up", "--capture", "netns"]);
    assert!(said(&told).contains("up here already"), "{}", said(&told));
    assert!(run(&["down"]).status.success());
    let told = run(&["up", "--capture", "netns", "--envoy", envoy.to_str().unwrap()]);
    assert!(told.status.code() == Some(1) && said(&told).contains("need root"), "{}", said(&told));
}

#[test]
fn what_a_killed_shell_has_started_goes_with_it_and_a_stranger_is_not_taken_for_it() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    write(
        &folder,
        &format!(
            "services:\n  web: {{port: 8000, run: 'echo one; python3 -m http.server --bind 127.0.0.1 $PORT; echo two'}}\n  \
             other: {{port: 8001, run: exit 3, listens: {port}}}\n"
        ),
    );
    let mesh = Mesh::up(folder);
    let ready = |view: &serde_json::Value, name: &str| {
        view["workloads"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["ready"].clone()
    };
    assert_eq!(ready(&mesh.view(), "web-v1"), true);
    // Once it is known to end at once, whoever answers there is not it.
    until("the other one to be known", || {
        let view = mesh.view();
        let other = view["workloads"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "other-v1")
            .unwrap()
            .clone();
        let known = other["app"]["restarts"].as_u64() >= Some(2) && other["ready"] == false;
        if known { Ok(()) } else { Err(other.to_string()) }
    });
    for _ in 0..10 {
        assert_eq!(ready(&mesh.view(), "other-v1"), false);
        sleep(Duration::from_millis(100));
    }
    let before = mesh.pid("web-v1", "app");
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(i32::try_from(before).unwrap()),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    until("another shell with another server", || {
        let now = mesh.pid("web-v1", "app");
        let log = fs::read_to_string(mesh.folder.join(".mizzen/logs/web-v1.log")).unwrap_or_default();
        let fine = now != 0 && now != before && ready(&mesh.view(), "web-v1") == true;
        if fine && !log.contains("Address already in use") { Ok(()) } else { Err(log) }
    });
    mesh.down();
}
