//! Recorded text: what was said once and found right is said again.
#![allow(clippy::disallowed_methods, reason = "the recorded text is in files")]

use std::path::Path;

/// Compares a text with the recorded one, or records it if `BLESS` is set.
pub(crate) fn compare(file: &Path, said: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, said).expect("the folder of recorded text can be written");
        return;
    }
    let recorded = std::fs::read_to_string(file).unwrap_or_default();
    let differs = recorded.lines().zip(said.lines()).position(|(recorded, said)| recorded != said);
    let line = differs.unwrap_or_else(|| recorded.lines().count().min(said.lines().count()));
    let show = |text: &str| text.lines().skip(line.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
    assert!(
        recorded == said,
        "{} differs from line {} on; if the new text is right, run again with BLESS=1\n--- recorded\n{}\n--- now\n{}",
        file.display(),
        line + 1,
        show(&recorded),
        show(said)
    );
}
