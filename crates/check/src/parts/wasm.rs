//! A WebAssembly module for proxies: where it comes from and what it is given. WasmPlugin has it at its top,
//! TrafficExtension in a field.

use crate::{
    Findings,
    value::{Verdict, number, url},
};
use mizzen_api::proto::istio::{
    extensions::v1alpha1::{EnvValueSource, VmConfig},
    r#type::v1beta1::PortSelector,
};
use mizzen_text::At;
use std::collections::BTreeSet;

const LONGEST_SECRET: usize = 253;
const LONGEST_NAME: usize = 256;

/// The fields that both kinds have.
pub(crate) struct Module<'a> {
    pub url: &'a str,
    pub sha256: &'a str,
    pub image_pull_secret: &'a str,
    pub plugin_name: &'a str,
    pub vm_config: Option<&'a VmConfig>,
}

pub(crate) fn check(module: &Module<'_>, at: &At<'_>, found: &mut Findings) {
    let rules = [
        ("url", address(module.url)),
        ("sha256", sha256(module.sha256)),
        ("imagePullSecret", at_most(LONGEST_SECRET, module.image_pull_secret)),
        ("pluginName", at_most(LONGEST_NAME, module.plugin_name)),
    ];
    for (field, verdict) in rules {
        if let Err(wrong) = verdict {
            found.error(&at.field(field), wrong);
        }
    }
    if let Some(vm) = module.vm_config {
        environment(vm, &at.field("vmConfig").field("env"), found);
    }
}

/// `match[].ports` of either kind.
pub(crate) fn ports(ports: &[PortSelector], at: &At<'_>, found: &mut Findings) {
    for (index, port) in ports.iter().enumerate() {
        if let Err(wrong) = number::port(port.number) {
            found.error(&at.index(index).field("number"), wrong);
        }
    }
}

fn address(text: &str) -> Verdict {
    if text.is_empty() {
        return Err("url field needs to be set".to_owned());
    }
    let failed = |wrong| format!("failed to parse url {text:?}: {wrong}");
    let url = match url::parse_request(text) {
        Ok(url) => {
            url::parse(text).map_err(failed)?;
            url
        }
        // The name of an image stands without a scheme.
        Err(wrong) => {
            let with_scheme = format!("http://{text}");
            let url = url::parse_request(&with_scheme).map_err(|_| failed(wrong))?;
            url::parse(&with_scheme).map_err(failed)?;
            url
        }
    };
    if matches!(url.scheme.as_str(), "" | "file" | "http" | "https" | "oci") {
        Ok(())
    } else {
        Err(format!("url contains unsupported scheme: {}; use oci, http, https or file", url.scheme))
    }
}

fn sha256(text: &str) -> Verdict {
    if text.is_empty() {
        return Ok(());
    }
    if text.len() != 64 {
        return Err("sha256 field must be 64 characters long".to_owned());
    }
    if text.bytes().all(|byte| matches!(byte, b'a'..=b'f' | b'0'..=b'9')) {
        Ok(())
    } else {
        Err("sha256 field must match [a-f0-9]{64} pattern".to_owned())
    }
}

fn at_most(longest: usize, text: &str) -> Verdict {
    if text.len() > longest { Err(format!("must not be longer than {longest} characters")) } else { Ok(()) }
}

fn environment(vm: &VmConfig, at: &At<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (index, variable) in vm.env.iter().enumerate() {
        let at = at.index(index);
        let name = &variable.name;
        if name.is_empty() {
            found.error(&at.field("name"), "a variable must have a name");
        } else if let Err(wrong) = at_most(LONGEST_NAME, name) {
            found.error(&at.field("name"), wrong);
        } else if !seen.insert(name) {
            found.error(&at.field("name"), format!("duplicate env {name:?}"));
        }
        // By number: one that is not known is not INLINE either.
        if variable.value_from != EnvValueSource::Inline as i32 && !variable.value.is_empty() {
            found.error(&at.field("value"), "value may only be set when valueFrom is INLINE");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_from_a_registry_a_server_or_a_file() {
        for good in
            ["oci://r.io/a:v1", "r.io/a:v1", "http://a/b.wasm", "https://a", "file:///a.wasm", "/a.wasm", "a"]
        {
            assert_eq!(address(good), Ok(()), "{good}");
        }
        for bad in ["", "ftp://a", "a:b:c", "a b", "docker://a", "r.io:5000/a"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_digest_is_64_hexadecimal_digits() {
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!((sha256(""), sha256(&digest)), (Ok(()), Ok(())));
        for bad in ["abc", &digest.to_uppercase(), &"g".repeat(64), &"ä".repeat(32)] {
            assert!(sha256(bad).is_err(), "{bad}");
        }
    }
}
