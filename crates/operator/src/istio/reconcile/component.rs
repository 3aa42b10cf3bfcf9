//! The parts of Kyma that are known here, and how people name them.

use mizzen_text::{
    At, Source, nearest,
    yaml::{self, Options},
};
use serde_json::Value;
use std::{fmt, iter};

/// In the order in which they are worked on: each needs those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// Namespaces, the priority class, the definitions of Istio's kinds.
    ClusterEssentials,
    /// The mesh.
    Istio,
    /// What stands on the mesh: the gateway of the cluster's domain, mutual TLS, health, monitoring.
    IstioResources,
}

impl Component {
    pub const ALL: [Self; 3] = [Self::ClusterEssentials, Self::Istio, Self::IstioResources];

    pub fn name(self) -> &'static str {
        match self {
            Self::ClusterEssentials => "cluster-essentials",
            Self::Istio => "istio",
            Self::IstioResources => "istio-resources",
        }
    }

    /// Where it is, which nobody chooses.
    fn namespace(self) -> &'static str {
        match self {
            Self::Istio => super::MESH,
            Self::ClusterEssentials | Self::IstioResources => super::NAMESPACE,
        }
    }

    fn named(name: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::name);
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            let meant =
                nearest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("there is no component `{name}`: there are {}{meant}", known.join(", "))
        })
    }

    /// `istio`, `istio@istio-system` or `{istio,istio-system,,}`: name, namespace, address and version of a chart.
    fn read(text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        let fields: Vec<&str> = match inner {
            Some(inner) => inner.split(',').map(str::trim).collect(),
            None => text.split('@').map(str::trim).collect(),
        };
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        if fields.len() > if inner.is_some() { 4 } else { 2 } {
            return Err(format!("`{text}` is no component: write it as NAME or NAME@NAMESPACE"));
        }
        let component = Self::named(field(0))?;
        component.in_namespace(field(1))?;
        if !field(2).is_empty() || !field(3).is_empty() {
            return Err(format!(
                "`{text}`: a component does not say where its charts are, nor which version they have; --manifests does"
            ));
        }
        Ok(component)
    }

    fn in_namespace(self, namespace: &str) -> Result<Self, String> {
        let own = self.namespace();
        if namespace.is_empty() || namespace == own {
            return Ok(self);
        }
        Err(format!("{} is in the namespace {own}, and cannot be in {namespace}", self.name()))
    }

    /// A list as it is typed.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut inside = false;
        let parts = text.split(|c: char| {
            inside = if inside { c != '}' } else { c == '{' };
            c == ',' && !inside
        });
        sorted(parts.map(str::trim).filter(|part| !part.is_empty()).map(Self::read))
    }

    /// The lists `prerequisites` and `components` of a file such as Kyma's.
    pub fn file(source: &Source) -> Result<Vec<Self>, String> {
        let document = yaml::load_all(source, &Options::KUBERNETES).next().transpose();
        let Some(document) = document.map_err(|diagnostic| diagnostic.for_people(false))? else {
            return sorted(iter::empty());
        };
        let at = |at: &At<'_>, why: String| format!("{}: {why}", document.place(&at.path()));
        if !document.value.is_object() {
            return Err(at(
                &At::TOP,
                "it must be a map with the lists `prerequisites` and `components`".to_owned(),
            ));
        }
        let mut all = Vec::new();
        for list in ["prerequisites", "components"] {
            let way = At::TOP.field(list);
            let items = match &document.value[list] {
                Value::Null => continue,
                Value::Array(items) => items,
                _ => return Err(at(&way, format!("`{list}` must be a list"))),
            };
            for (index, item) in items.iter().enumerate() {
                let way = way.index(index);
                let one = Self::item(item).map_err(|(field, why)| at(&way.field(field), why))?;
                all.push(Ok(one));
            }
        }
        sorted(all.into_iter()).map_err(|why| at(&At::TOP, why))
    }

    /// Of a list in a file; or which of its fields is wrong, and why.
    fn item(item: &Value) -> Result<Self, (&'static str, String)> {
        let text = |key: &'static str| match &item[key] {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text.as_str()),
            _ => Err((key, format!("`{key}` must be a text"))),
        };
        if text("name")?.is_empty() {
            return Err(("name", "a component has a `name`".to_owned()));
        }
        let one = Self::named(text("name")?).map_err(|why| ("name", why))?;
        one.in_namespace(text("namespace")?).map_err(|why| ("namespace", why))
    }
}

impl fmt::Display for Component {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Each once, in the order of the work.
fn sorted(all: impl Iterator<Item = Result<Component, String>>) -> Result<Vec<Component>, String> {
    let mut all = all.collect::<Result<Vec<_>, String>>()?;
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Err(format!(
            "no component is named: there are {}",
            Component::ALL.map(Component::name).join(", ")
        ));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Component::{ClusterEssentials, Istio, IstioResources};

    #[test]
    fn components_are_named_with_or_without_their_namespace() {
        let good: [(&str, &[Component]); 6] = [
            ("istio", &[Istio]),
            ("istio-resources, istio ,cluster-essentials", &[ClusterEssentials, Istio, IstioResources]),
            ("istio@istio-system,istio", &[Istio]),
            ("istio-resources@kyma-system", &[IstioResources]),
            ("{istio,istio-system,,},{cluster-essentials}", &[ClusterEssentials, Istio]),
            (",istio,", &[Istio]),
        ];
        for (text, expected) in good {
            assert_eq!(Component::list(text).as_deref(), Ok(expected), "{text}");
        }
        let bad = [
            ("", "no component is named: there are cluster-essentials, istio, istio-resources"),
            (
                "istoi",
                "there is no component `istoi`: there are cluster-essentials, istio, istio-resources; did you mean `istio`?",
            ),
            ("istio,ory", "there is no component `ory`"),
            ("istio@default", "istio is in the namespace istio-system, and cannot be in default"),
            ("istio@istio-system@x", "write it as NAME or NAME@NAMESPACE"),
            ("{istio,istio-system,https://charts.example,}", "--manifests does"),
            ("{istio,istio-system,,1.30.0}", "--manifests does"),
        ];
        for (text, words) in bad {
            let told = Component::list(text).unwrap_err();
            assert!(told.contains(words), "{text}: {told}");
        }
    }

    #[test]
    fn a_file_has_two_lists() {
        let of = |text: &str| Component::file(&Source::new("components.yaml", text));
        let kymas = "defaultNamespace: kyma-system\nprerequisites:\n- name: cluster-essentials\n- name: istio\n  \
                     namespace: istio-system\ncomponents:\n- name: istio-resources\n";
        assert_eq!(of(kymas).as_deref(), Ok(&Component::ALL[..]));
        assert_eq!(of("prerequisites:\ncomponents: [{ name: istio }]").as_deref(), Ok(&[Istio][..]));
        let bad = [
            (
                "components:\n- name: istio\n- name: logging\n",
                "components.yaml:3:9: there is no component `logging`",
            ),
            (
                "components:\n- name: istio\n  namespace: here\n",
                "components.yaml:3:14: istio is in the namespace",
            ),
            ("components:\n  name: istio\n", "components.yaml:2:3: `components` must be a list"),
            ("prerequisites: istio\n", "components.yaml:1:16: `prerequisites` must be a list"),
            ("components: [istio]\n", "components.yaml:1:14: a component has a `name`"),
            ("components: [{ name: 1 }]\n", "components.yaml:1:22: `name` must be a text"),
            ("- name: istio\n", "components.yaml:1:1: it must be a map"),
            ("other: 1\n", "components.yaml:1:1: no component is named"),
            ("", "no component is named"),
            ("components: [", "components.yaml:1:"),
        ];
        for (text, words) in bad {
            let told = of(text).unwrap_err();
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
