//! The parts of Kyma that are known here, and how people name them.

use mizzen_text::{
    Source, nearest,
    yaml::{self, Options},
};
use serde_json::Value;
use std::fmt;

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
        let document: Option<Value> = yaml::load_first(source, &Options::KUBERNETES)
            .map_err(|diagnostic| diagnostic.for_people(false))?;
        let document = document.unwrap_or_default();
        let items = ["prerequisites", "components"]
            .into_iter()
            .flat_map(|list| document[list].as_array().into_iter().flatten());
        let item = |item: &Value| {
            let text = |key: &str| item[key].as_str().unwrap_or_default();
            let at = |why: String| format!("{}: {why}", source.name());
            Self::named(text("name")).and_then(|one| one.in_namespace(text("namespace"))).map_err(at)
        };
        sorted(items.map(item))
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
        let unknown = of("components: [{ name: istio }, { name: logging }]").unwrap_err();
        assert!(unknown.starts_with("components.yaml: there is no component `logging`"), "{unknown}");
        assert!(of("components: [{ name: istio, namespace: here }]").is_err());
        assert!(of("other: 1").is_err() && of("").is_err() && of("components: [").is_err());
    }
}
