//! Sentences that are understood, to offer the nearest when one is not. A test parses them all.

use super::words;

/// One of each kind.
pub(super) const SENTENCES: &[&str] = &[
    "every minute",
    "every 15 minutes",
    "every 45 minutes",
    "every hour",
    "every hour at minute 15",
    "every 2 hours",
    "every day at 9am",
    "every day at 9am and 5pm",
    "every day at 6 until 1 june",
    "every day except on weekends",
    "every weekday at 9am",
    "every weekday at 9am except holidays",
    "every weekend at 10am",
    "every monday at 10:30",
    "every monday and thursday at noon",
    "every other friday at noon",
    "every 2 weeks on monday at 9am",
    "every 3 days at 8am",
    "every month on the 15th at noon",
    "on the 1st and 15th at midnight",
    "first day of the month at midnight",
    "last day of the month at 18:00",
    "last weekday of the month at 17:00",
    "first monday of the month at 9am",
    "last friday of march at 5pm",
    "every quarter",
    "every year on december 25th",
    "twice a day",
    "three times an hour",
    "15 minutes past every hour",
    "every 10 minutes between 9am and 5pm on weekdays",
    "every hour during business hours",
    "every day at 9am in Europe/Berlin",
    "every day at 9am New York time",
    "every day at 9am starting tomorrow",
    "tomorrow at 8am",
    "in 20 minutes",
    "next friday at noon",
    "on 2030-12-24 at 18:00",
];

/// How many sentences are offered.
const OFFERED: usize = 3;

/// The most words of a refused text that are compared.
const WORDS_MAX: usize = 40;

/// The hint under an error: the word that may have been meant, and the nearest sentences.
pub(super) fn hint(text: &str, word: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let said: Vec<&str> = lower.split_whitespace().take(WORDS_MAX).collect();
    let mut ranked: Vec<(usize, &str)> = SENTENCES
        .iter()
        .map(|sentence| (distance(&said, &sentence.split_whitespace().collect::<Vec<_>>()), *sentence))
        .collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    let nearest: Vec<String> =
        ranked.iter().take(OFFERED).map(|(_, sentence)| format!("`{sentence}`")).collect();
    let offer = format!("try {}", either(&nearest));
    match likely(&word.to_ascii_lowercase()) {
        Some(likely) => format!("did you mean `{likely}`? otherwise {offer}"),
        None => offer,
    }
}

/// `a`, `b` or `c`.
pub(super) fn either(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The word of the vocabulary that is one slip away.
fn likely(word: &str) -> Option<&'static str> {
    const OTHERS: [&str; 24] = [
        "every", "minute", "minutes", "hour", "hours", "second", "seconds", "day", "days", "week", "weeks",
        "month", "months", "weekday", "weekdays", "weekend", "noon", "midnight", "between", "until",
        "except", "tomorrow", "starting", "daily",
    ];
    if word.len() < 4 {
        return None;
    }
    let letters: Vec<char> = word.chars().take(WORDS_MAX).collect();
    let near = |known: &str| distance(&letters, &known.chars().collect::<Vec<_>>());
    let known = OTHERS.iter().chain(&words::WEEKDAYS).chain(&words::MONTHS);
    let best = known.map(|known| (near(known), *known)).min_by_key(|(distance, _)| *distance)?;
    (best.0 > 0 && best.0 <= 1 + letters.len() / 6).then_some(best.1)
}

/// Edits that turn one list into the other.
fn distance<T: PartialEq>(from: &[T], to: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[to.len()]
}
