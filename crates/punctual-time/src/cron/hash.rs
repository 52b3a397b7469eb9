//! `H`: a value that is arbitrary but always the same for one schedule, so that fleets spread.

use super::Field;

/// A number from the schedule's id and the field, stable across releases, platforms and processes.
///
/// FNV-1a over the id, then a full avalanche, so that ids which differ in their last digit land far apart.
pub(super) fn spread(seed: &str, field: Field) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let hashed =
        seed.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut mixed = hashed ^ (field as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_an_id_never_changes() {
        assert_eq!(spread("nightly-backup", Field::Minute) % 60, 37);
        assert_eq!(spread("nightly-backup", Field::Hour) % 24, 4);
        assert_eq!(spread("", Field::Minute) % 60, 11);
    }

    #[test]
    fn ten_thousand_ids_spread_evenly_over_the_hour() {
        let mut minutes = [0_u32; 60];
        for id in 0..10_000 {
            minutes[(spread(&format!("job-{id}"), Field::Minute) % 60) as usize] += 1;
        }
        assert!(minutes.iter().all(|&count| (110..=230).contains(&count)), "{minutes:?}");
    }
}
