//! The verbs of Istio's own programs. Whoever types one that is not here yet learns that, not that it is a typo.

use crate::program::Program;

/// First words only, with aliases; from Istio 1.31, and for `istioctl` the verbs that older lines had.
const ISTIOCTL: &str = "admin istiod analyze apply authz bug-report completion create-remote-secret d dash \
    dashboard exp experimental help install kube-inject manifest operator options pc profile proxy-config \
    proxy-status ps remote-clusters tag uninstall upgrade v validate verify-install version waypoint x zc \
    ztunnel-config";
const PILOT_DISCOVERY: &str = "completion discovery help request version";
const PILOT_AGENT: &str = "completion help istio-iptables proxy request version wait";

/// `mizzen` itself takes the verbs of all of them.
pub(crate) fn knows(program: Program, word: &str) -> bool {
    let has = |list: &str| list.split_whitespace().any(|verb| verb == word);
    match program {
        Program::Mizzen => has(ISTIOCTL) || has(PILOT_DISCOVERY) || has(PILOT_AGENT),
        Program::Istioctl => has(ISTIOCTL),
        Program::PilotDiscovery => has(PILOT_DISCOVERY),
        Program::PilotAgent => has(PILOT_AGENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_knows_its_own_verbs_and_mizzen_all() {
        assert!(knows(Program::Istioctl, "analyze") && knows(Program::Mizzen, "analyze"));
        assert!(knows(Program::PilotDiscovery, "discovery") && knows(Program::Mizzen, "discovery"));
        assert!(knows(Program::PilotAgent, "wait") && knows(Program::Mizzen, "wait"));
        assert!(!knows(Program::Istioctl, "discovery"));
        assert!(!knows(Program::PilotAgent, "analyze"));
        assert!(!knows(Program::Mizzen, "anlyze"));
    }
}
