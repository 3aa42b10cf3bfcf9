//! IstioManager: which of several versions of Istio a mesh goes through.
//!
//! Without another word it becomes the newest. Where that is more than one minor version away from what is installed, it goes there step by
//! step, by the charts of each version on the way.

use super::client::{IstioClient, Minor};
use mizzen_api::istio::Status;

#[derive(Default)]
pub struct IstioManager {
    /// The oldest first.
    clients: Box<[IstioClient]>,
}

/// What is there.
pub(super) struct Installed {
    /// Of the control plane's image.
    tag: String,
    /// On its way over several versions it has come to this one, and proxies have yet to follow: none is left two versions behind.
    stays: bool,
}

impl Installed {
    /// The status may be of the version before, if somebody was cut off.
    pub(super) fn told(tag: String, status: &Status) -> Self {
        let stays = !status.next_version.is_empty() && status.installed_version == tag;
        Self { tag, stays }
    }
}

/// The charts for now.
pub(super) struct Picked<'m> {
    pub(super) client: &'m IstioClient,
    /// The version that follows when these are there.
    pub(super) next: Option<Minor>,
}

impl IstioManager {
    /// A sentence where two are of one version.
    pub fn new(mut clients: Vec<IstioClient>) -> Result<Self, String> {
        clients.sort_by_key(IstioClient::minor);
        let twice = clients.windows(2).find(|two| two[0].minor() == two[1].minor());
        match twice {
            None => Ok(Self { clients: clients.into_boxed_slice() }),
            Some(two) => Err(format!(
                "two sets of charts are of Istio {}: {}, and {}",
                two[0].minor(),
                two[0].charts().describe(),
                two[1].charts().describe()
            )),
        }
    }

    /// `images` is the tag of the images which the process was given.
    pub(super) fn pick(
        &self,
        installed: Option<&Installed>,
        images: Option<&str>,
    ) -> Result<Option<Picked<'_>>, String> {
        let minors: Vec<Minor> = self.clients.iter().map(IstioClient::minor).collect();
        let stays = installed.is_some_and(|installed| installed.stays);
        let installed = installed.and_then(|installed| Minor::of_tag(&installed.tag));
        let place = pick(&minors, installed, stays, images.and_then(Minor::of_tag))?;
        Ok(place.and_then(|(place, next)| {
            let next = next.and_then(|next| minors.get(next)).copied();
            Some(Picked { client: self.clients.get(place)?, next })
        }))
    }
}

/// The place of the charts for now, and of those that follow. Nothing where there are none.
fn pick(
    minors: &[Minor],
    installed: Option<Minor>,
    stays: bool,
    images: Option<Minor>,
) -> Result<Option<(usize, Option<usize>)>, String> {
    let Some(newest) = minors.len().checked_sub(1) else { return Ok(None) };
    // Images are of one version, and so are the charts that know how to run them; one set of charts is all that there is.
    if let Some(images) = images.filter(|_| newest > 0) {
        let place = minors.iter().position(|minor| *minor == images);
        let known: Vec<String> = minors.iter().map(ToString::to_string).collect();
        let place = place.ok_or_else(|| {
            format!("the operator was given images of Istio {images}, and charts of {}", known.join(", "))
        })?;
        return Ok(Some((place, None)));
    }
    let Some(Minor(major, minor)) = installed else { return Ok(Some((newest, None))) };
    let farthest = if stays { minor } else { minor + 1 };
    let reached = minors.iter().rposition(|one| one.0 == major && one.1 >= minor && one.1 <= farthest);
    let follows = |place: usize| {
        let (one, next) = (minors.get(place)?, minors.get(place + 1)?);
        (next.0 == one.0 && next.1 == one.1 + 1).then_some(place + 1)
    };
    Ok(Some(match reached.and_then(|place| Some((place, follows(place)?))) {
        Some((place, next)) => (place, Some(next)),
        // Whether it may follow is not decided here.
        _ => (newest, None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Charts, what is installed, the images; which charts for now, and which then.
    type Case = (&'static [u32], Option<u32>, Option<u32>, Option<(usize, Option<usize>)>);

    #[test]
    fn a_mesh_goes_to_the_newest_version_a_minor_at_a_time() {
        let of = |minors: &[u32], installed: Option<u32>, images: Option<u32>| {
            let minors: Vec<Minor> = minors.iter().map(|minor| Minor(1, *minor)).collect();
            pick(&minors, installed.map(|minor| Minor(1, minor)), false, images.map(|minor| Minor(1, minor)))
        };
        let cases: [Case; 14] = [
            (&[], None, None, None),
            (&[31], None, None, Some((0, None))),
            (&[30, 31], None, None, Some((1, None))),
            (&[30, 31], Some(30), None, Some((1, None))),
            (&[30, 31], Some(31), None, Some((1, None))),
            (&[30, 31], Some(29), None, Some((0, Some(1)))),
            (&[29, 30, 31], Some(29), None, Some((1, Some(2)))),
            // Too far, and back: whoever compares versions says so.
            (&[30, 31], Some(27), None, Some((1, None))),
            (&[30, 31], Some(32), None, Some((1, None))),
            (&[29, 31], Some(29), None, Some((1, None))),
            (&[29, 30, 33], Some(29), None, Some((2, None))),
            (&[30, 31], Some(29), Some(31), Some((1, None))),
            (&[30, 31], None, Some(30), Some((0, None))),
            (&[31], Some(30), Some(29), Some((0, None))),
        ];
        for (minors, installed, images, expected) in cases {
            assert_eq!(of(minors, installed, images), Ok(expected), "{minors:?} {installed:?} {images:?}");
        }
        let told = of(&[30, 31], None, Some(29)).unwrap_err();
        assert_eq!(told, "the operator was given images of Istio 1.29, and charts of 1.30, 1.31");
    }

    #[test]
    fn it_stays_at_a_version_on_the_way_while_proxies_wait_for_their_turn() {
        let of = |minors: &[u32], installed: u32| {
            let minors: Vec<Minor> = minors.iter().map(|minor| Minor(1, *minor)).collect();
            pick(&minors, Some(Minor(1, installed)), true, None).unwrap()
        };
        assert_eq!(of(&[29, 30, 31], 30), Some((1, Some(2))));
        assert_eq!(of(&[29, 30, 31], 31), Some((2, None)), "it has arrived");
        assert_eq!(of(&[31], 30), Some((0, None)), "there are no charts to stay with");
        let told = |installed: &str, next: &str| {
            let status = Status {
                installed_version: installed.into(),
                next_version: next.into(),
                ..Status::default()
            };
            Installed::told("1.30.2".to_owned(), &status).stays
        };
        assert_eq!(
            [told("1.30.2", "1.31"), told("1.30.2", ""), told("1.29.5", "1.30")],
            [true, false, false]
        );
    }
}
