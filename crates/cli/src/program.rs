//! The names this binary answers to. A link to it named as one of Istio's programs makes it present that program.

use std::{ffi::OsStr, path::Path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Mizzen,
    Istioctl,
    PilotDiscovery,
    PilotAgent,
}

impl Program {
    pub(crate) const ALL: &[Self] = &[Self::Mizzen, Self::Istioctl, Self::PilotDiscovery, Self::PilotAgent];

    /// From `argv[0]`. A name that means nothing to us is just another name for `mizzen`.
    pub(crate) fn called(as_name: &OsStr) -> Self {
        let name = Path::new(as_name).file_stem().and_then(OsStr::to_str);
        Self::ALL.iter().copied().find(|program| Some(program.name()) == name).unwrap_or(Self::Mizzen)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mizzen => "mizzen",
            Self::Istioctl => "istioctl",
            Self::PilotDiscovery => "pilot-discovery",
            Self::PilotAgent => "pilot-agent",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Mizzen => {
                "Mizzen: one binary that installs, operates and is an Istio-compatible service mesh"
            }
            Self::Istioctl => "Mizzen in the place of istioctl: install and inspect a mesh",
            Self::PilotDiscovery => "Mizzen in the place of pilot-discovery: the control plane",
            Self::PilotAgent => "Mizzen in the place of pilot-agent: the companion of a proxy",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_the_path_decides() {
        let cases = [
            ("mizzen", Program::Mizzen),
            ("/usr/local/bin/istioctl", Program::Istioctl),
            ("./pilot-discovery", Program::PilotDiscovery),
            ("pilot-agent", Program::PilotAgent),
            ("istioctl.exe", Program::Istioctl),
            ("/opt/istioctl/mz", Program::Mizzen),
            ("", Program::Mizzen),
        ];
        for (name, program) in cases {
            assert_eq!(Program::called(OsStr::new(name)), program, "{name}");
        }
    }
}
