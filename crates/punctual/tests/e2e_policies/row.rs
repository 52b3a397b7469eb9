//! A row of the table: schedules, what they show, and what must be true of their ledger.

use crate::seen::Seen;

/// The org of the rows that need none of their own.
pub(crate) const MAIN: &str = "main";

/// The org whose schedules are made right before the outage.
pub(crate) const LATE: &str = "late";

/// The file whose coming ends what runs until it is told.
pub(crate) const TOLD: &str = "told";

/// A sentence, and whether it is true.
pub(crate) type Claim = (&'static str, fn(&Seen) -> bool);

/// One row.
pub(crate) struct Row {
    pub(crate) org: &'static str,
    /// Keys, and the values of them that the row shows.
    pub(crate) shows: Vec<(&'static str, &'static str)>,
    /// Names and definitions, with the words of [`written`].
    pub(crate) schedules: Vec<(&'static str, &'static str)>,
    /// Sentences and whether they are true.
    pub(crate) claims: Vec<Claim>,
}

impl Row {
    /// A row that shows a value of a key.
    pub(crate) fn of(key: &'static str, value: &'static str) -> Self {
        Self { org: MAIN, shows: vec![(key, value)], schedules: Vec::new(), claims: Vec::new() }
    }

    pub(crate) fn and(mut self, key: &'static str, value: &'static str) -> Self {
        self.shows.push((key, value));
        self
    }

    pub(crate) fn within(mut self, org: &'static str) -> Self {
        self.org = org;
        self
    }

    pub(crate) fn schedule(mut self, name: &'static str, definition: &'static str) -> Self {
        self.schedules.push((name, definition));
        self
    }

    pub(crate) fn claim(mut self, text: &'static str, holds: fn(&Seen) -> bool) -> Self {
        self.claims.push((text, holds));
        self
    }

    pub(crate) fn title(&self) -> String {
        let shown: Vec<String> = self.shows.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        shown.join(", ")
    }
}

/// A definition as a file has it: words in capitals are replaced.
pub(crate) fn written(name: &str, definition: &str, folder: &str) -> String {
    let shell = |text: &str| {
        format!(
            "target: {{type: process, cwd: {folder}, argv: [sh, -c, '{text}'], circuit_breaker: {{threshold: 1000}}}}"
        )
    };
    let program = |word: &str, text: &str| (word.to_owned(), shell(text));
    let words = [
        ("SECONDLY".to_owned(), "cron: '* * * * * *'".to_owned()),
        // Its own ticks are of the next nights only, as it is disabled.
        (
            "NIGHTLY".to_owned(),
            "cron: '30 2 * * *', timezone: Europe/Paris, enabled: false, if_running: allow".to_owned(),
        ),
        program("WELL", "true"),
        program("BADLY", "false"),
        program("BRIEFLY", "sleep 0.6"),
        program("SLOWLY", "sleep 2.4"),
        program("ENDLESSLY", "exec sleep 30"),
        program("UNTIL_TOLD", &format!("until test -e {TOLD}; do sleep 0.1; done")),
        program("BADLY_ONCE", &format!("mkdir once-{name} 2>&- && exit 1; exit 0")),
        program("ENDLESSLY_ONCE", &format!("mkdir once-{name} 2>&- || exit 0; exec sleep 30")),
        program("IN_TURNS", &format!("rmdir turn-{name} 2>&- && exit 1; mkdir turn-{name}")),
        ("THRICE".to_owned(), format!("echo >> count-{name}; test $(wc -l < count-{name}) -gt 3")),
        ("FOLDER".to_owned(), folder.to_owned()),
    ];
    let mut words = words.to_vec();
    // The longest first, as some begin with others.
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    words
        .iter()
        .fold(format!("{{name: {name}, {definition}}}"), |text, (word, meant)| text.replace(word, meant))
}
