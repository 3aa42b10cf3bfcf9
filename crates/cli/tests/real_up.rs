//! `mizzen up` as its users meet it: the sample, the three things to try, files that change and break, processes that die.

#![allow(clippy::unwrap_used, reason = "tests")]

mod up;

use mizzen_testkit::{Envoy, needs};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};
use up::{Mesh, folder, get, mizzen, said, until};

fn end(pid: u64) {
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
}

#[test]
fn the_three_things_to_try_do_what_they_say() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    let told = mesh.said();
    assert!(
        told.contains("Three things to try") && told.contains(&format!("http://{}/", mesh.ingress)),
        "{told}"
    );

    // By header.
    for _ in 0..5 {
        assert_eq!(mesh.shop(&[])["reviews"]["version"], "v1");
        let ana = mesh.shop(&["x-user: ana"]);
        assert_eq!(
            (&ana["reviews"]["version"], &ana["reviews"]["ratings"]["stars"]),
            (&"v3".into(), &4.into())
        );
    }
    let page = mesh.get("/", &[]).unwrap().body;
    assert!(page.contains("Compass") && page.contains("44.00") && page.contains("Reviews v1"), "{page}");

    // Calls between services prove who calls.
    let shop = mesh.shop(&["x-user: ana"]);
    let caller = |value: &Value| value["caller"].as_str().unwrap_or_default().to_owned();
    let account = |name: &str| format!("spiffe://cluster.local/ns/default/sa/{name}");
    assert_eq!(caller(&shop), account("istio-ingressgateway"));
    for name in ["catalog", "prices", "reviews"] {
        assert_eq!(caller(&shop[name]), account("shop"), "{name}");
    }
    assert_eq!(caller(&shop["catalog"]["stock"]), account("catalog"));
    assert_eq!(caller(&shop["reviews"]["ratings"]), account("reviews"));

    // A weight.
    let (objects, tried) = (mesh.objects(), mesh.folder.join(".mizzen/sample/try"));
    fs::copy(tried.join("half-v2.yaml"), objects.join("reviews.yaml")).unwrap();
    until("version 2", || match mesh.shop(&[])["reviews"]["version"].as_str() {
        Some("v2") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let versions: Vec<Value> = (0..60).map(|_| mesh.shop(&[])["reviews"]["version"].clone()).collect();
    for version in ["v1", "v2"] {
        let count = versions.iter().filter(|one| *one == version).count();
        assert!((10..=50).contains(&count), "{version}: {count} of 60");
    }

    // A fault.
    fs::copy(tried.join("ratings-fail.yaml"), objects.join("ratings-fail.yaml")).unwrap();
    until("the fault", || match mesh.shop(&["x-user: ana"])["reviews"]["ratings"]["error"].as_str() {
        Some("status 555") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    fs::remove_file(objects.join("ratings-fail.yaml")).unwrap();
    until("the fault to go", || match mesh.shop(&["x-user: ana"])["reviews"]["ratings"]["stars"].as_u64() {
        Some(4) => Ok(()),
        other => Err(format!("{other:?}")),
    });

    // What was called is seen.
    let view = until("the calls to be counted", || {
        let view = mesh.view();
        let edges = view["edges"].as_array().unwrap().clone();
        let has = |from: &str, to: &str| {
            edges.iter().any(|edge| edge["from"] == from && edge["to"] == to && edge["mtls"] == true)
        };
        let all = [
            ("ingress", "shop-v1"),
            ("shop-v1", "reviews-v1"),
            ("shop-v1", "reviews-v3"),
            ("shop-v1", "prices-v1"),
            ("reviews-v3", "ratings-v1"),
            ("catalog-v1", "stock-v1"),
        ];
        match all.iter().find(|(from, to)| !has(from, to)) {
            None => Ok(view),
            Some(missing) => Err(format!("{missing:?}: {edges:?}")),
        }
    });
    assert_eq!(view["workloads"].as_array().unwrap().len(), 8, "{view}");
    until("every proxy to be in step", || {
        let behind = |workload: &&Value| {
            let types = workload["proxy"]["sync"]["types"].as_array().unwrap();
            types.len() < 4 || types.iter().any(|one| one["state"] != "synced")
        };
        match mesh.view()["workloads"].as_array().unwrap().iter().find(behind) {
            None => Ok(()),
            Some(workload) => Err(workload.to_string()),
        }
    });
    let routes = get(mesh.page, "/api/routes?service=reviews", &[]).unwrap().json();
    let rules = routes["virtualHosts"][0]["rules"].as_array().unwrap();
    assert_eq!(
        rules[0]["when"],
        serde_json::json!(["path starts with /", "header x-user is ana"]),
        "{routes}"
    );
    assert_eq!(
        (&rules[1]["to"][1]["subset"], &rules[1]["to"][1]["weight"]),
        (&"v2".into(), &50.into()),
        "{routes}"
    );
    let status = mesh.mizzen(&["status"]);
    let told = said(&status);
    assert!(status.status.success(), "{told}");
    for word in ["8 of 8 workloads are ready", "reviews-v3", "synced", "yes ("] {
        assert!(told.contains(word), "{word}: {told}");
    }
    mesh.down();
}

#[test]
fn a_broken_file_is_told_at_its_line_and_the_last_good_mesh_goes_on() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    let file = mesh.objects().join("reviews.yaml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("weight: 100", "weight: [")).unwrap();
    until("the problem to be told", || {
        let told = mesh.said();
        if told.contains("problem:") && told.contains("reviews.yaml:") { Ok(()) } else { Err(told) }
    });
    assert_eq!(mesh.shop(&[])["reviews"]["version"], "v1");
    assert_eq!(mesh.shop(&["x-user: ana"])["reviews"]["version"], "v3");
    let status = mesh.mizzen(&["status"]);
    assert_eq!(status.status.code(), Some(1), "{}", said(&status));
    assert!(said(&status).contains("reviews.yaml:"), "{}", said(&status));

    // One that can be read and means nothing good is told with its object.
    fs::write(&file, good.replace("weight: 100", "weight: -5")).unwrap();
    until("the object to say so", || {
        let view = mesh.view();
        let objects = view["objects"].as_array().unwrap();
        let found = objects
            .iter()
            .find(|one| one["kind"] == "VirtualService" && one["name"] == "reviews")
            .unwrap()
            .clone();
        if found["state"] == "problem" { Ok(()) } else { Err(found.to_string()) }
    });
    assert_eq!(mesh.shop(&[])["reviews"]["version"], "v1");

    fs::write(&file, &good).unwrap();
    until("it to be fixed", || {
        let told = mesh.said();
        let fine = mesh.view()["problems"].as_array().unwrap().is_empty();
        if told.contains("fixed:") && fine { Ok(()) } else { Err(told) }
    });
    mesh.down();
}

#[test]
fn whoever_is_killed_comes_back() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    for (workload, which) in [("reviews-v1", "app"), ("reviews-v1", "proxy"), ("shop-v1", "proxy")] {
        let before = mesh.pid(workload, which);
        end(before);
        until("it to come back", || {
            let now = mesh.pid(workload, which);
            let answer = mesh.get("/", &["accept: application/json"]).map_err(|error| error.to_string())?;
            let version = answer.status == 200 && answer.json()["reviews"]["version"] == "v1";
            if now != 0 && now != before && version { Ok(()) } else { Err(format!("{now}: {}", answer.body)) }
        });
    }
    assert!(mesh.said().contains("reviews-v1 has ended (signal: 9 (SIGKILL))"), "{}", mesh.said());
    mesh.down();
}

#[test]
fn no_request_fails_while_the_control_plane_is_killed_and_comes_back() {
    needs!(Envoy::NEEDS);
    let mesh = Mesh::up(folder());
    let over = Arc::new(AtomicBool::new(false));
    let (ingress, flag) = (mesh.ingress, Arc::clone(&over));
    let caller = thread::spawn(move || {
        let (mut all, mut failed) = (0, Vec::new());
        while !flag.load(Relaxed) {
            all += 1;
            match get(ingress, "/", &["accept: application/json"]) {
                Ok(answer) if answer.status == 200 && !answer.body.contains("error") => {}
                Ok(answer) => failed.push(format!("{}: {}", answer.status, answer.body)),
                Err(error) => failed.push(error.to_string()),
            }
        }
        (all, failed)
    });
    for _ in 0..3 {
        let before = mesh.view()["controlPlane"]["pid"].as_u64().unwrap();
        end(before);
        until("the control plane to come back with all of its proxies", || {
            let view = mesh.view();
            let pid = view["controlPlane"]["pid"].as_u64().unwrap_or_default();
            let connected = view["workloads"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|one| one["proxy"]["sync"]["connected"] == true)
                .count();
            let ready = view["controlPlane"]["state"] == "ready";
            if pid != 0 && pid != before && ready && connected == 8 {
                Ok(())
            } else {
                Err(format!("{pid}, {connected} connected"))
            }
        });
        thread::sleep(Duration::from_millis(500));
    }
    // It still leads: a change gets through.
    let tried = mesh.folder.join(".mizzen/sample/try/half-v2.yaml");
    fs::copy(tried, mesh.objects().join("reviews.yaml")).unwrap();
    until("version 2", || match mesh.shop(&[])["reviews"]["version"].as_str() {
        Some("v2") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    over.store(true, Relaxed);
    let (all, failed) = caller.join().unwrap();
    assert!(all > 20, "{all} requests are too few to say anything");
    assert_eq!(failed, Vec::<String>::new(), "of {all}");
    mesh.down();
}

#[test]
fn a_second_up_is_told_where_the_first_is_and_down_leaves_nothing() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    fs::write(folder.join("mine.txt"), "untouched").unwrap();
    let mesh = Mesh::up(folder.clone());
    let second = mesh.mizzen(&["up"]);
    let told = said(&second);
    assert_eq!(second.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("process {}", mesh.up.id())) && told.contains(&mesh.page.to_string()),
        "{told}"
    );
    assert!(told.contains("down"), "{told}");
    mesh.down();
    let names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut unexpected: Vec<&String> =
        names.iter().filter(|name| !["mine.txt", ".mizzen", "up.out"].contains(&name.as_str())).collect();
    unexpected.sort();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert!(!folder.join(".mizzen/run").exists() && !folder.join(".mizzen/run.json").exists());
    assert!(folder.join(".mizzen/logs/control-plane.log").exists(), "logs stay, to be looked at");
    let again = mizzen(&folder, &["down"]).output().unwrap();
    assert!(again.status.success() && said(&again).contains("no mesh is up here"), "{}", said(&again));
}

#[test]
fn after_kill_9_everything_ends_by_itself_and_the_next_up_starts_clean() {
    needs!(Envoy::NEEDS);
    let folder = folder();
    // A grandchild that leaves its group is not tied to anything.
    fs::create_dir_all(folder.join("mesh")).unwrap();
    let run = "sh -c 'setsid sleep 1000 & exec python3 -m http.server --bind 127.0.0.1 $PORT'";
    fs::write(folder.join("mesh.yaml"), format!("services:\n  web:\n    port: 8000\n    run: {run}\n"))
        .unwrap();
    let mut mesh = Mesh::up(folder.clone());
    assert!(mesh.processes().iter().any(|process| process.contains("sleep 1000")), "{:?}", mesh.processes());
    mesh.up.kill().unwrap();
    mesh.up.wait().unwrap();
    until("everything to end", || match mesh.processes() {
        none if none.is_empty() => Ok(()),
        some => Err(format!("{some:?}")),
    });
    // Its keeper, too: what is left is found by the next.
    let mut mesh = Mesh::up(folder.clone());
    let keepers: Vec<u64> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let command = fs::read(entry.path().join("cmdline")).ok()?;
            let ours = command.starts_with(up::BINARY.as_bytes())
                && String::from_utf8_lossy(&command).contains(&*folder.to_string_lossy());
            (ours && String::from_utf8_lossy(&command).contains("keeper-of-up"))
                .then(|| entry.file_name().to_str()?.parse().ok())?
        })
        .collect();
    assert_eq!(keepers.len(), 1);
    end(keepers[0]);
    mesh.up.kill().unwrap();
    mesh.up.wait().unwrap();
    // What a shell started is a grandchild, which only a keeper or the next `up` finds.
    let is_grandchild = |process: &String| process.contains("sleep 1000") || process.contains("http.server");
    until("the children to end with their parent", || match mesh.processes() {
        left if left.iter().all(is_grandchild) => Ok(()),
        some => Err(format!("{some:?}")),
    });
    let mesh = Mesh::up(folder);
    assert!(mesh.said().contains("left of a mesh that was here before"), "{}", mesh.said());
    mesh.down();
}
