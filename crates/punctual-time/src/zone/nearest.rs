//! The refusal of an unknown zone, with the name that was probably meant.

use crate::Error;

/// Names further away than this many letters are not offered.
const DISTANCE_MAX: usize = 3;
/// Longer words than any zone has are not compared.
const NAME_LEN_MAX: usize = 64;

pub(super) fn unknown(name: &str) -> Error {
    let error = Error::new("unknown_zone", format!("`{name}` is not a time zone")).at(0..name.len());
    match nearest(name) {
        Some(found) => error.with_hint(format!("did you mean `{found}`?")).with_fix(found),
        None => error.with_hint("write an IANA name such as `Europe/Paris`, or `UTC`"),
    }
}

fn nearest(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > NAME_LEN_MAX {
        return None;
    }
    let wanted = name.to_ascii_lowercase().replace(' ', "_");
    let city = |zone: &str| zone.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    super::Zone::names()
        .filter(|zone| zone.contains('/') && !zone.starts_with("Etc/"))
        .filter_map(|zone| {
            let lower = zone.to_ascii_lowercase();
            let away = distance(&wanted, &lower).min(distance(&wanted, &city(&zone)));
            (away <= DISTANCE_MAX.min(wanted.len() / 3)).then_some((away, zone))
        })
        .min()
        .map(|(_, zone)| zone)
}

/// How many letters must be put, dropped or replaced to make one word of the other; more than the bound is not
/// counted out.
fn distance(one: &str, other: &str) -> usize {
    if one.len().abs_diff(other.len()) > DISTANCE_MAX {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, a) in one.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = at + 1;
        for (i, b) in other.bytes().enumerate() {
            let put = row[i].min(row[i + 1]) + 1;
            let replace = corner + usize::from(a != b);
            corner = row[i + 1];
            row[i + 1] = put.min(replace);
        }
    }
    row[other.len()]
}
