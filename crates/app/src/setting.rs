//! What the front ends must know of the application that they are part of.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) app: String,
    pub(crate) env: String,
    pub(crate) cluster: Option<String>,
    pub(crate) namespace: String,
    /// The objects of the application's blocks, by the word of their kind and their key.
    pub(crate) own: BTreeMap<(&'static str, String), ObjectName>,
    /// The platform's Gateways: which pods they are for.
    pub(crate) gateway_selector: BTreeMap<String, String>,
    /// On a mesh of this machine pods are known by the name of their service alone.
    pub(crate) local: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Setting {
    pub(crate) fn own(&self, word: &'static str, key: &str) -> Option<&ObjectName> {
        self.own.get(&(word, key.to_owned()))
    }

    /// `wordpress-dev`, whatever the case of its parts.
    pub(crate) fn instance(&self) -> String {
        format!("{}-{}", self.app, self.env).to_lowercase()
    }

    /// The labels by which the application's own pods are found.
    pub(crate) fn selector(&self) -> Vec<(&'static str, String)> {
        if self.local {
            return vec![("app", self.app.clone())];
        }
        vec![("app.kubernetes.io/instance", self.instance()), ("app.kubernetes.io/name", self.app.clone())]
    }
}
