//! Zones as people write them: `EST`, `New York time`, `in Europe/Berlin`, `UTC+2`.

use super::draft::Place;
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words;
use crate::Zone;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// Abbreviations with one common meaning, and the zone they stand for.
const KNOWN: &[(&str, &str)] = &[
    ("utc", "UTC"),
    ("z", "UTC"),
    ("zulu", "UTC"),
    ("gmt", "GMT"),
    ("est", "America/New_York"),
    ("edt", "America/New_York"),
    ("et", "America/New_York"),
    ("eastern", "America/New_York"),
    ("ct", "America/Chicago"),
    ("central", "America/Chicago"),
    ("mst", "America/Denver"),
    ("mdt", "America/Denver"),
    ("mt", "America/Denver"),
    ("mountain", "America/Denver"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("pt", "America/Los_Angeles"),
    ("pacific", "America/Los_Angeles"),
    ("akst", "America/Anchorage"),
    ("akdt", "America/Anchorage"),
    ("hst", "Pacific/Honolulu"),
    ("cet", "Europe/Berlin"),
    ("cest", "Europe/Berlin"),
    ("eet", "Europe/Athens"),
    ("eest", "Europe/Athens"),
    ("wet", "Europe/Lisbon"),
    ("west", "Europe/Lisbon"),
    ("msk", "Europe/Moscow"),
    ("jst", "Asia/Tokyo"),
    ("kst", "Asia/Seoul"),
    ("hkt", "Asia/Hong_Kong"),
    ("sgt", "Asia/Singapore"),
    ("pkt", "Asia/Karachi"),
    ("wib", "Asia/Jakarta"),
    ("aest", "Australia/Sydney"),
    ("aedt", "Australia/Sydney"),
    ("acst", "Australia/Adelaide"),
    ("acdt", "Australia/Adelaide"),
    ("awst", "Australia/Perth"),
    ("nzst", "Pacific/Auckland"),
    ("nzdt", "Pacific/Auckland"),
    ("sast", "Africa/Johannesburg"),
    ("brt", "America/Sao_Paulo"),
];

/// Abbreviations that mean different things in different places: never guessed.
const AMBIGUOUS: &[(&str, &[&str])] = &[
    ("cst", &["America/Chicago", "Asia/Shanghai", "America/Havana"]),
    ("cdt", &["America/Chicago", "America/Havana"]),
    ("ist", &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
    ("bst", &["Europe/London", "Asia/Dhaka", "Pacific/Bougainville"]),
    ("ast", &["America/Halifax", "Asia/Riyadh"]),
    ("adt", &["America/Halifax", "Atlantic/Bermuda"]),
    ("gst", &["Asia/Dubai", "Atlantic/South_Georgia"]),
    ("sst", &["Pacific/Pago_Pago", "Asia/Singapore"]),
    ("amt", &["America/Manaus", "Asia/Yerevan"]),
    ("ect", &["America/Guayaquil", "America/Martinique"]),
    ("lmt", &["Europe/London", "UTC"]),
];

/// Cities and countries that have no zone of their own name.
const PLACES: &[(&str, &str)] = &[
    ("san francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("california", "America/Los_Angeles"),
    ("boston", "America/New_York"),
    ("washington", "America/New_York"),
    ("miami", "America/New_York"),
    ("atlanta", "America/New_York"),
    ("dallas", "America/Chicago"),
    ("houston", "America/Chicago"),
    ("texas", "America/Chicago"),
    ("montreal", "America/Toronto"),
    ("rio de janeiro", "America/Sao_Paulo"),
    ("uk", "Europe/London"),
    ("british", "Europe/London"),
    ("edinburgh", "Europe/London"),
    ("munich", "Europe/Berlin"),
    ("hamburg", "Europe/Berlin"),
    ("frankfurt", "Europe/Berlin"),
    ("german", "Europe/Berlin"),
    ("germany", "Europe/Berlin"),
    ("central european", "Europe/Berlin"),
    ("eastern european", "Europe/Athens"),
    ("geneva", "Europe/Zurich"),
    ("milan", "Europe/Rome"),
    ("barcelona", "Europe/Madrid"),
    ("france", "Europe/Paris"),
    ("mumbai", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("new delhi", "Asia/Kolkata"),
    ("bangalore", "Asia/Kolkata"),
    ("india", "Asia/Kolkata"),
    ("indian", "Asia/Kolkata"),
    ("beijing", "Asia/Shanghai"),
    ("china", "Asia/Shanghai"),
    ("japan", "Asia/Tokyo"),
    ("osaka", "Asia/Tokyo"),
    ("us eastern", "America/New_York"),
    ("us central", "America/Chicago"),
    ("us pacific", "America/Los_Angeles"),
    ("us mountain", "America/Denver"),
    ("eastern standard", "America/New_York"),
    ("pacific standard", "America/Los_Angeles"),
    ("mountain standard", "America/Denver"),
];

/// The most words a place has.
const PLACE_WORDS_MAX: usize = 4;

/// How a place may be recognised: after `in` its name is enough, elsewhere `time` must follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    In,
    Nothing,
}

impl Parser<'_> {
    /// A zone without `in`: an IANA name, an abbreviation, or a place followed by `time`.
    pub(super) fn zone_phrase(&mut self) -> Result<bool, Trouble> {
        self.zone(After::Nothing)
    }

    /// After `in`: as above, and places by name alone.
    pub(super) fn zone_after_in(&mut self) -> Result<bool, Trouble> {
        self.zone(After::In)
    }

    /// `+02:00` after a time.
    pub(super) fn bare_offset(&mut self) -> Result<bool, Trouble> {
        let is_clock = matches!(self.cursor.kind_at(1), Some(Kind::Clock { .. }));
        if is_clock && let Some(name) = self.offset() {
            return self.place(name, None);
        }
        // A dash with spaces around it is punctuation.
        let is_dash = self.cursor.kind() == Some(Kind::Mark('-')) && !self.cursor.is_glued();
        self.cursor.skip();
        Ok(is_dash && !self.cursor.is_glued() && !self.cursor.is_done())
    }

    /// A city right after a time: `9am London`. Words that mean something else come first.
    pub(super) fn city_after_time(&mut self) -> Result<bool, Trouble> {
        let Some(word) = self.cursor.word() else { return Ok(false) };
        let is_known = words::weekday(word).is_some()
            || words::month(word).is_some()
            || words::unit(word).is_some()
            || words::weekday_group(word).is_some()
            || words::is_filler(word)
            || matches!(word, "christmas" | "easter" | "center" | "central" | "every" | "each");
        if is_known { Ok(false) } else { self.zone(After::In) }
    }

    fn zone(&mut self, after: After) -> Result<bool, Trouble> {
        let start = self.cursor;
        if self.cursor.eat_any(&["local time", "my time", "my timezone", "my time zone"]) {
            return Ok(true);
        }
        let is_announced = self.cursor.eat_any(&["timezone", "time zone", "tz"]);
        let after = if is_announced { After::In } else { after };
        self.cursor.eat_mark(':');
        if after == After::In {
            self.cursor.eat("the");
        }
        if let Some(Kind::Zone(name)) = self.cursor.kind() {
            let span = self.cursor.span();
            let zone = Zone::get(name).map_err(|error| {
                let hint = error.hint().unwrap_or("write an IANA name such as `Europe/Berlin`").to_owned();
                let written = self.text.get(span.clone()).unwrap_or(name);
                Trouble::new(Code::UnknownZone, span.clone(), format!("`{written}` is not a time zone"))
                    .hint(hint)
            })?;
            self.cursor.skip();
            self.cursor.eat_any(&["timezone", "time zone", "time", "tz"]);
            return self.place(zone.name().to_owned(), None);
        }
        let many = 2..=PLACE_WORDS_MAX;
        if self.named_place(after, many)? || self.abbreviation()? || self.named_place(after, 1..=1)? {
            return Ok(true);
        }
        self.cursor = start;
        Ok(false)
    }

    fn abbreviation(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let Some(word) = start.word() else { return Ok(false) };
        if let Some((_, candidates)) = AMBIGUOUS.iter().find(|(short, _)| *short == word) {
            let message = format!("`{}` is more than one time zone", word.to_uppercase());
            let names: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            return Err(Trouble::new(Code::Ambiguous, start.span(), message)
                .hint(format!("write {}", super::example::either(&names))));
        }
        let Some((short, name)) = KNOWN.iter().find(|(short, _)| *short == word) else { return Ok(false) };
        let mut here = start;
        here.skip();
        let is_word = matches!(*short, "eastern" | "central" | "mountain" | "pacific");
        here.eat_any(&["standard time", "daylight time", "timezone", "time zone", "time", "tz"]);
        self.cursor = here;
        if matches!(*short, "utc" | "gmt")
            && let Some(offset) = self.offset()
        {
            return self
                .place(offset, Some(format!("`{}` with an offset is a fixed zone", short.to_uppercase())));
        }
        let note = match *short {
            "utc" | "z" | "zulu" | "gmt" => None,
            short if is_word => Some(format!("{short} time is read as {name}")),
            short => Some(format!("`{}` is read as {name}", short.to_uppercase())),
        };
        self.place((*name).to_owned(), note)
    }

    /// `+2` or `-05:00` after UTC. The names of fixed zones count the other way round.
    fn offset(&mut self) -> Option<String> {
        let mut here = self.cursor;
        let sign = if here.eat_mark('+') {
            '-'
        } else if here.eat_mark('-') {
            '+'
        } else {
            return None;
        };
        let hours = match here.kind()? {
            Kind::Number { value, .. } => value,
            Kind::Clock { hour, minute: 0, second: None } => hour,
            _ => return None,
        };
        here.skip();
        let name = if hours == 0 { "UTC".to_owned() } else { format!("Etc/GMT{sign}{hours}") };
        Zone::get(&name).ok()?;
        self.cursor = here;
        Some(name)
    }

    fn named_place(&mut self, after: After, sizes: RangeInclusive<usize>) -> Result<bool, Trouble> {
        for count in sizes.rev() {
            let mut here = self.cursor;
            let mut words = Vec::new();
            while words.len() < count
                && let Some(word) = here.word()
            {
                words.push(word);
                here.skip();
            }
            if words.len() < count {
                continue;
            }
            let had_time = here.eat_any(&["local time", "timezone", "time zone", "time", "tz"]);
            if !had_time && after == After::Nothing {
                continue;
            }
            if let Some(name) = place_zone(&words.join(" ")) {
                self.cursor = here;
                let said = words.iter().map(|word| super::every::title(word)).collect::<Vec<_>>().join(" ");
                let note = format!("{said} is read as {name}");
                return self.place(name, Some(note));
            }
        }
        Ok(false)
    }

    fn place(&mut self, name: String, note: Option<String>) -> Result<bool, Trouble> {
        match &self.draft.zone {
            Some(old) if old.name != name => Err(Trouble::new(
                Code::Contradiction,
                self.cursor.span_before(),
                format!("`{}` and `{name}` are two time zones", old.name),
            )
            .hint("write one schedule for each")),
            _ => {
                self.draft.zone = Some(Place { name, note });
                Ok(true)
            }
        }
    }
}

/// The zone of a city: from the table, or the zone whose last part is its name.
fn place_zone(words: &str) -> Option<String> {
    if let Some((_, zone)) = PLACES.iter().find(|(place, _)| *place == words) {
        return Some((*zone).to_owned());
    }
    let cities = cities();
    let at = cities.binary_search_by(|(city, _)| city.as_str().cmp(words)).ok()?;
    Some(cities[at].1.clone())
}

/// All cities of the tz database in lower case, in order, each with its zone. Made once: a text with an unknown word
/// would otherwise read the whole list several times.
fn cities() -> &'static [(String, String)] {
    static CITIES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    CITIES.get_or_init(|| {
        let city =
            |name: &str| name.rsplit('/').next().map(|city| city.replace('_', " ").to_ascii_lowercase());
        let mut found: Vec<(String, String)> = Zone::names()
            .filter(|name| name.contains('/') && !name.starts_with("Etc/"))
            .filter_map(|name| Some((city(&name)?, name)))
            .collect();
        found.sort();
        found.dedup_by(|later, first| later.0 == first.0);
        found
    })
}
