//! Dumps of the real istiod, a folder a scenario: what each proxy was given, and what istiod was shown.

use std::{fs, path::Path, time::Instant};

use anyhow::Result;
use mizzen_parity::{
    Cluster, Dump, Scenario,
    cluster::everything,
    run::{QUIET, connect},
};
use mizzen_testkit::{ApiServer, Istiod, istiod::Options};
use mizzen_text::yaml;

pub(crate) async fn dump(folder: &Path, only: &[String]) -> Result<bool> {
    let scenarios = Scenario::all(only)?;
    let server = ApiServer::start().await?;
    Istiod::install_kinds(&server).await?;
    let mut cluster = Cluster::new(&server)?;
    for scenario in &scenarios {
        let start = Instant::now();
        cluster.create(scenario, everything).await?;
        write(&server, &cluster, scenario, &folder.join(&scenario.name)).await?;
        cluster.delete(everything).await?;
        println!(
            "{}: {} proxies, {:.1} s",
            scenario.name,
            scenario.proxies.len(),
            start.elapsed().as_secs_f32()
        );
    }
    Ok(true)
}

async fn write(server: &ApiServer, cluster: &Cluster, scenario: &Scenario, folder: &Path) -> Result<()> {
    let options = Options { mesh_config: scenario.mesh.clone(), ..Options::default() };
    let istiod = Istiod::start(server, options).await?;
    let mut dump = Dump::default();
    let proxies = connect(&istiod, scenario).await?;
    for (name, proxy) in &proxies {
        proxy.settled(QUIET).await?;
        dump.0.insert(name.clone(), proxy.dump()?);
    }
    dump.write(folder)?;
    for who in &scenario.proxies {
        let node = who.identity(scenario)?.to_json()?;
        fs::write(folder.join(who.name()).join("node.json"), serde_json::to_string_pretty(&node)? + "\n")?;
    }
    let objects: Vec<String> = cluster.objects().await?.iter().map(yaml::to_string).collect();
    fs::write(folder.join("objects.yaml"), objects.join("---\n"))?;
    fs::write(folder.join("mesh.yaml"), yaml::to_string(&scenario.mesh))?;
    Ok(())
}
