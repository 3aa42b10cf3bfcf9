//! Whether the mesh that is there may become the one that is wanted: the rules of Kyma's older reconciler, but for going back, which is
//! refused unless somebody insists, and for proxies that only wait to be made anew.

use mizzen_install::Version;
use std::collections::BTreeSet;

/// Tags, such as `1.31.0-distroless`. What is not there is compatible with everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions {
    /// What this program can install of the wanted kind.
    pub(super) client: String,
    pub(super) pilot: Option<String>,
    pub(super) data_plane: BTreeSet<String>,
    pub(super) target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Install,
    /// The same version is brought to what it should be, too.
    Update,
}

pub(super) fn decide(versions: &Versions, force: bool) -> Result<Verdict, String> {
    let Versions { client, pilot, data_plane, target } = versions;
    let other = pilot.as_ref().and_then(|pilot| data_plane.iter().find(|proxy| !are_same(pilot, proxy)));
    if let (Some(pilot), Some(proxy)) = (pilot, other)
        && !force
        && !is_half_done(pilot, data_plane, target)
    {
        return Err(format!(
            "Istio components version mismatch detected: pilot version: {pilot}, data plane version: {proxy}"
        ));
    }
    if !is_within_one_minor(client, target) {
        return Err(format!(
            "Istio could not be updated since the binary version {client} is not compatible with the target version \
             {target} - the difference between versions exceeds one minor version"
        ));
    }
    if pilot.is_none() && data_plane.is_empty() {
        return Ok(Verdict::Install);
    }
    let parts =
        pilot.iter().map(|tag| ("Pilot", tag)).chain(data_plane.iter().map(|tag| ("Data plane", tag)));
    for (part, current) in parts {
        if !is_within_one_minor(current, target) {
            let what = change(current, target);
            return Err(format!(
                "could not perform {what} for {part} from version {current} to version {target} - the difference between \
                 versions exceed one minor version"
            ));
        }
        if change(current, target) == "downgrade" && !force {
            return Err(format!(
                "target Istio version ({target}) is lower than current version ({current}) - downgrade not supported"
            ));
        }
    }
    Ok(Verdict::Update)
}

/// Whether the control plane has arrived and proxies have not: what is left is to make them anew.
fn is_half_done(pilot: &str, data_plane: &BTreeSet<String>, target: &str) -> bool {
    are_same(pilot, target) && data_plane.iter().all(|proxy| is_within_one_minor(proxy, target))
}

/// Whether proxies may be made anew: not while a part of the mesh is too far away for them.
pub(super) fn may_reset(versions: &Versions) -> Result<(), String> {
    let Versions { pilot, data_plane, target, .. } = versions;
    let far = pilot.iter().chain(data_plane).find(|current| !is_within_one_minor(current, target));
    match far {
        None => Ok(()),
        Some(far) => Err(format!(
            "proxies are not reset: {far} is running, and {target} is more than one minor version away"
        )),
    }
}

fn numbers(tag: &str) -> Option<(u32, u32, u32)> {
    Version::of_tag(tag).map(|version| (version.major, version.minor, version.patch))
}

/// The flavour does not count; what is no version is compared as it stands.
fn are_same(one: &str, other: &str) -> bool {
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn is_within_one_minor(one: &str, other: &str) -> bool {
    match (numbers(one), numbers(other)) {
        (Some(one), Some(other)) => one.0 == other.0 && one.1.abs_diff(other.1) <= 1,
        _ => one == other,
    }
}

fn change(current: &str, target: &str) -> &'static str {
    match (numbers(current), numbers(target)) {
        (Some(current), Some(target)) if target < current => "downgrade",
        (Some(current), Some(target)) if target == current => "reconciliation",
        _ => "upgrade",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(client: &str, pilot: &str, data_plane: &str, target: &str) -> Versions {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Versions {
            client: client.to_owned(),
            pilot: some(pilot),
            data_plane: data_plane.split_whitespace().map(str::to_owned).collect(),
            target: target.to_owned(),
        }
    }

    /// Row of the table, client, pilot, data plane, target, insisted; what comes of it.
    type Row = (u8, &'static str, &'static str, &'static str, &'static str, bool, &'static str);

    #[test]
    fn every_row_of_the_table_holds() {
        const APART: &str = "the difference between versions exceed one minor version";
        const MISMATCH: &str = "Istio components version mismatch detected";
        let rows: [Row; 30] = [
            (1, "1.31.0", "1.30.0", "1.29.0", "1.31.0", false, MISMATCH),
            (1, "1.31.0", "1.30.0", "1.30.0 1.31.0", "1.31.0", false, MISMATCH),
            (1, "1.31.0", "1.31.0", "1.31.0 1.30.0", "1.31.1", false, MISMATCH),
            (1, "1.31.0", "1.31.0", "1.30.0 1.29.0", "1.31.0", false, MISMATCH),
            (1, "1.31.0", "1.31.0", "1.30.0 dev", "1.31.0", false, MISMATCH),
            (1, "1.31.0", "1.31.0-distroless", "1.31.0-debug", "1.31.0", false, "Update"),
            (1, "1.31.0", "1.31.0", "1.30.0", "1.31.0", true, "Update"),
            (1, "1.31.0", "", "1.30.0", "1.31.0", false, "Update"),
            (
                2,
                "1.29.0",
                "",
                "",
                "1.31.0",
                false,
                "the binary version 1.29.0 is not compatible with the target version 1.31.0",
            ),
            (
                2,
                "1.31.0",
                "",
                "",
                "1.29.9",
                false,
                "the difference between versions exceeds one minor version",
            ),
            (2, "1.31.0", "", "", "latest", false, "is not compatible with the target version latest"),
            (2, "1.31.0", "", "", "2.31.0", true, "is not compatible"),
            (2, "1.31.0", "", "", "1.30.0", false, "Install"),
            (3, "1.31.0", "", "", "1.31.0-distroless", false, "Install"),
            (4, "1.31.0", "1.30.9", "", "1.31.0", false, "Update"),
            (4, "1.31.0", "1.29.0", "", "1.31.0", false, APART),
            (
                5,
                "1.31.0",
                "",
                "1.29.0",
                "1.31.0",
                false,
                "could not perform upgrade for Data plane from version 1.29.0 to version 1.31.0",
            ),
            (6, "1.31.0", "1.30.0", "1.30.0", "1.31.0", false, "Update"),
            (6, "1.31.0", "1.31.0", "1.31.0", "1.31.0", false, "Update"),
            (6, "latest", "latest", "latest", "latest", false, "Update"),
            (
                7,
                "1.31.0",
                "1.28.3",
                "1.28.3",
                "1.31.0",
                false,
                "could not perform upgrade for Pilot from version 1.28.3 to version 1.31.0 - ",
            ),
            (7, "1.31.0", "1.33.0", "", "1.31.0", true, "could not perform downgrade for Pilot"),
            (7, "1.31.0", "2.31.0", "", "1.31.0", false, APART),
            (7, "1.31.0", "dev", "", "1.31.0", false, APART),
            // Ours: an upgrade that was cut off before its proxies.
            (0, "1.31.0", "1.31.0", "1.30.0", "1.31.0", false, "Update"),
            (0, "1.31.0", "1.31.0-distroless", "1.31.0 1.30.2", "1.31.0", false, "Update"),
            (0, "1.31.0", "1.31.0", "1.32.0", "1.31.0", false, "downgrade not supported"),
            // Ours: going back.
            (
                0,
                "1.31.0",
                "1.32.0",
                "1.32.0",
                "1.31.0",
                false,
                "target Istio version (1.31.0) is lower than current version (1.32.0) - downgrade not supported",
            ),
            (0, "1.31.0", "1.31.2", "", "1.31.1", false, "downgrade not supported"),
            (0, "1.31.0", "1.32.0", "1.32.0", "1.31.0", true, "Update"),
        ];
        for (row, client, pilot, data_plane, target, force, expected) in rows {
            let versions = of(client, pilot, data_plane, target);
            let told = match decide(&versions, force) {
                Ok(verdict) => format!("{verdict:?}"),
                Err(why) => why,
            };
            assert!(told.contains(expected), "row {row}: {versions:?}: {told}");
        }
    }

    #[test]
    fn row_8_proxies_are_reset_only_where_all_are_near() {
        assert_eq!(may_reset(&of("", "1.30.0", "1.31.0", "1.31.0")), Ok(()));
        assert_eq!(may_reset(&of("", "", "", "1.31.0")), Ok(()));
        assert!(may_reset(&of("", "1.29.0", "", "1.31.0")).is_err());
        assert!(may_reset(&of("", "1.31.0", "1.31.0 1.29.0", "1.31.0")).is_err());
    }
}
