//! Zones by name, and `local` for the one of this host.

use jiff::tz::TimeZone;

use crate::Failure;

/// The IANA name of a zone: the name itself, or for `local` the one of this host.
///
/// It is resolved before anything is stored, so that a ledger means the same on every host.
///
/// # Errors
/// When `local` is asked for and the host does not say in which zone it is.
///
/// ```
/// assert_eq!(punctual_app::zone_name("Europe/Paris")?, "Europe/Paris");
/// # Ok::<(), punctual_app::Failure>(())
/// ```
pub fn zone_name(name: &str) -> Result<String, Failure> {
    if !name.eq_ignore_ascii_case("local") {
        return Ok(name.to_owned());
    }
    let host = TimeZone::try_system().ok().and_then(|zone| zone.iana_name().map(str::to_owned));
    host.ok_or_else(|| {
        Failure::invalid(
            "this host does not say in which time zone it is",
            "write an IANA name such as `Europe/Paris`",
        )
    })
}
