//! What a control plane gave to the proxies of a scenario, and the same as a folder:
//! `PROXY/{clusters,endpoints,listeners,routes}.json`, each one object of messages by name.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use mizzen_testkit::proxy::{Configuration, Kind};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump(pub BTreeMap<String, Configuration>);

impl Dump {
    pub fn write(&self, folder: &Path) -> Result<()> {
        for (proxy, configuration) in &self.0 {
            let folder = folder.join(proxy);
            fs::create_dir_all(&folder)?;
            for (kind, messages) in &configuration.0 {
                let text = serde_json::to_string_pretty(messages)? + "\n";
                fs::write(folder.join(format!("{}.json", kind.word())), text)?;
            }
        }
        Ok(())
    }

    pub fn read(folder: &Path) -> Result<Self> {
        let mut proxies = BTreeMap::new();
        for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let name = entry.file_name().to_string_lossy().into_owned();
                proxies.insert(name, configuration(&entry.path())?);
            }
        }
        Ok(Self(proxies))
    }
}

fn configuration(folder: &Path) -> Result<Configuration> {
    let mut kinds = BTreeMap::new();
    for kind in Kind::ALL {
        let path = folder.join(format!("{}.json", kind.word()));
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let messages: BTreeMap<String, Value> =
            serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
        kinds.insert(kind, messages);
    }
    Ok(Configuration(kinds))
}
