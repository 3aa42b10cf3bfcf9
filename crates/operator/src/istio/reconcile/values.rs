//! `--value key=value,…`: what is said to every component by `global.…`, and to one by its name.

use super::{Component, fields::Fields};
use mizzen_check::schema::names;
use mizzen_install::{SetError, set_path};
use mizzen_text::nearest;
use serde_json::{Value, json};

/// What is known of all that can be said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The domain of the cluster.
    pub(super) domain: Option<String>,
    /// Whether namespaces are to be injected; nothing is another answer than no.
    pub(super) sidecar_migration: Option<bool>,
    pub(super) dashboards: bool,
    pub(super) monitoring: bool,
    pub(super) operator: Fields,
    /// Keys that nothing here reads.
    pub unused: Vec<String>,
}

const GLOBAL: &str = "global";

impl Values {
    /// Each text may have several, parted by commas; `\,` is a comma.
    pub fn read(texts: &[String]) -> Result<Self, String> {
        let mut tree = json!({});
        let (mut operator, mut unread) = (Fields::default(), Vec::new());
        for text in texts {
            for part in parts(text) {
                let (key, value) = part.split_once('=').ok_or_else(|| {
                    format!(
                        "`{part}` is no value: write it as KEY=VALUE, such as global.domainName=example.com"
                    )
                })?;
                addressed(key)?;
                let wrong = |wrong: SetError| format!("--value {part}: {wrong}");
                match key.strip_prefix("istio.") {
                    Some(path) => {
                        if !operator.add(&part, path, value).map_err(wrong)? {
                            unread.push(key.to_owned());
                        }
                    }
                    // An address or a version is no number, whatever it looks like.
                    None => drop(set_path(&mut tree, key, value.into()).map_err(wrong)?),
                }
            }
        }
        let mut values = Self::of(&tree)?;
        values.operator = operator;
        values.unused.extend(unread);
        Ok(values)
    }

    fn of(tree: &Value) -> Result<Self, String> {
        let mut unused = Vec::new();
        let known = [
            "global.domainName",
            "global.ingress.domainName",
            "global.sidecarMigration",
            "istio-resources.dashboards.enabled",
            "istio-resources.monitoring.enabled",
        ];
        leaves(tree, "", &mut |key| {
            if !known.contains(&key) {
                unused.push(key.to_owned());
            }
        });
        let text = |key: &str| {
            let pointer = format!("/{}", key.replace('.', "/"));
            tree.pointer(&pointer).and_then(Value::as_str)
        };
        let switch = |key: &str| match text(key) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(format!("{key} is `{other}`: it is true or false")),
        };
        Ok(Self {
            domain: domain(text(known[0]), text(known[1]))?,
            sidecar_migration: switch(known[2])?,
            dashboards: switch(known[3])?.unwrap_or(false),
            monitoring: switch(known[4])?.unwrap_or(true),
            operator: Fields::default(),
            unused,
        })
    }
}

/// Parted by commas that are not behind a backslash.
fn parts(text: &str) -> Vec<String> {
    const COMMA: char = '\u{0}';
    let text = text.replace("\\,", &COMMA.to_string());
    let parts = text.split(',').map(|part| part.trim().replace(COMMA, ","));
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether somebody listens to the key.
fn addressed(key: &str) -> Result<(), String> {
    let names: Vec<&str> = [GLOBAL].into_iter().chain(Component::ALL.map(Component::name)).collect();
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    if names.contains(&first) && !rest.is_empty() {
        return Ok(());
    }
    let meant = nearest(first, names.iter().copied()).filter(|near| *near != first);
    let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(format!("the value `{key}` is for nobody: keys begin with {}, and a dot{meant}", names.join(", ")))
}

/// Both keys are one thing by two names.
fn domain(plain: Option<&str>, of_ingress: Option<&str>) -> Result<Option<String>, String> {
    if let (Some(plain), Some(other)) = (plain, of_ingress)
        && plain != other
    {
        return Err(format!(
            "global.domainName is {plain}, and global.ingress.domainName {other}: they are the same thing"
        ));
    }
    let Some(domain) = plain.or(of_ingress) else { return Ok(None) };
    names::subdomain(domain).map_err(|why| format!("global.domainName `{domain}` {why}"))?;
    Ok(Some(domain.to_owned()))
}

fn leaves(tree: &Value, way: &str, told: &mut dyn FnMut(&str)) {
    match tree {
        Value::Object(fields) => {
            for (name, below) in fields {
                let way = if way.is_empty() { name.clone() } else { format!("{way}.{name}") };
                leaves(below, &way, told);
            }
        }
        _ => told(way),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Result<Values, String> {
        Values::read(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_line_of_the_design_document_can_be_read() {
        let values = read(&["global.ingress.domainName=example.com,global.domainName=example.com"]).unwrap();
        assert_eq!((values.domain.as_deref(), values.unused.len()), (Some("example.com"), 0));
        assert_eq!((values.dashboards, values.monitoring, values.sidecar_migration), (false, true, None));
    }

    #[test]
    fn a_value_reaches_whom_it_names_and_what_nobody_reads_is_told() {
        let values = read(&[
            "istio.tag=1.31,istio.values.pilot.autoscaleMin=2",
            "istio.values.pilot.env.A=b\\,c, istio-resources.dashboards.enabled=true",
            "global.sidecarMigration=false,global.isLocalEnv=true,cluster-essentials.x.y=1",
        ])
        .unwrap();
        let mut operator = json!({});
        values.operator.lay(&mut operator).unwrap();
        assert_eq!(
            operator["spec"],
            json!({ "tag": "1.31", "values": { "pilot": { "autoscaleMin": 2, "env": { "A": "b,c" } } } })
        );
        assert!(values.dashboards);
        assert_eq!(values.sidecar_migration, Some(false));
        assert_eq!(values.unused, ["cluster-essentials.x.y", "global.isLocalEnv"]);
    }

    #[test]
    fn what_only_istioctl_reads_is_told_too() {
        let values = read(&["istio.namespace=foo,istio.installPackagePath=/charts,global.x=1"]).unwrap();
        assert_eq!(values.unused, ["global.x", "istio.namespace", "istio.installPackagePath"]);
        assert_eq!(values.operator, Fields::default());
    }

    #[test]
    fn bad_values_are_told_by_their_key() {
        let cases = [
            ("global.domainName", "`global.domainName` is no value: write it as KEY=VALUE"),
            ("globl.domainName=a", "is for nobody"),
            ("globl.domainName=a", "did you mean `global`?"),
            ("global=a", "is for nobody"),
            ("domainName=a", "is for nobody"),
            ("global.domainName=*.example.com", "global.domainName `*.example.com`"),
            ("global.domainName=a.b,global.ingress.domainName=c.d", "they are the same thing"),
            ("istio.components.ingressGateways[x]=1", "--value istio.components.ingressGateways[x]=1: `[x]`"),
            ("global.sidecarMigration=yes", "global.sidecarMigration is `yes`: it is true or false"),
        ];
        for (text, words) in cases {
            let told = read(&[text]).unwrap_err();
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
