//! Rules `sql-in-rust` and `sql-files`: a statement is read, explained and tested in a file of its own.

use crate::facts::Kind;
use crate::finding::Finding;
use crate::repository::TextFile;
use crate::rust_file::RustFile;

/// How statements begin, and a word that must follow for the text to be SQL and not English.
const STATEMENTS: &[(&str, &[&str])] = &[
    ("SELECT", &["FROM"]),
    ("INSERT", &["INTO"]),
    ("REPLACE", &["INTO"]),
    ("UPDATE", &["SET"]),
    ("DELETE", &["FROM"]),
    ("WITH", &["SELECT", "INSERT", "UPDATE", "DELETE"]),
    ("CREATE", &["TABLE", "INDEX", "VIEW", "TRIGGER"]),
    ("ALTER", &["TABLE"]),
    ("DROP", &["TABLE", "INDEX", "VIEW", "TRIGGER"]),
];

/// Marks of which SQL in small letters has at least one.
const MARKS: &[char] = &['*', '=', '?', '$', '(', '_'];

/// Looks at texts outside tests; a `PRAGMA` or `BEGIN` is a setting of the connection and may stay.
pub(crate) fn in_rust(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fact in file.facts.iter().filter(|fact| !fact.is_test) {
        if let Kind::Text(text) = &fact.kind
            && let Some(statement) = statement(text)
        {
            let what = format!("a text holds SQL (`{statement} …`)");
            let hint = "put the statement into a `.sql` file of its own and `include_str!` it";
            findings.push(Finding::new(&file.path, fact.line, what, hint));
        }
    }
    findings
}

fn statement(text: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let (first, rest) = words.split_first()?;
    let (begin, follow) = STATEMENTS.iter().find(|(begin, _)| begin.eq_ignore_ascii_case(first))?;
    let follows = |word: &&&str| follow.iter().any(|follow| follow.eq_ignore_ascii_case(word));
    let second = rest.iter().find(follows)?;
    let is_shouted = *first == first.to_uppercase() && **second == second.to_uppercase();
    (is_shouted || text.contains(MARKS)).then_some(begin)
}

/// Counts the statements of a `.sql` file; a migration has as many as it needs.
pub(crate) fn in_files(file: &TextFile) -> Vec<Finding> {
    let is_migration = file.path.split('/').any(|part| part == "migrations");
    if !file.path.ends_with(".sql") || is_migration {
        return Vec::new();
    }
    let count = statements(&file.text);
    if count == 1 {
        return Vec::new();
    }
    let what = format!("the file holds {count} statements instead of one");
    vec![Finding::new(
        &file.path,
        1,
        what,
        "one statement a file, named after what it does, same name for each database",
    )]
}

/// How many pieces between semicolons have words, comments and quoted texts left off.
fn statements(sql: &str) -> usize {
    let lines: Vec<&str> = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
    let text = lines.join("\n");
    // Every second piece between quotes is a text; a doubled quote makes an empty piece and changes nothing.
    let unquoted: Vec<&str> = text.split('\'').step_by(2).collect();
    unquoted.join("_").split(';').filter(|piece| !piece.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::example;

    #[test]
    fn sql_is_refused_in_texts() {
        let check = |text: &str, expected: &str| {
            let source = format!("fn f() {{ g({text:?}) }}");
            example::rust(in_rust, "a.rs", &source, expected);
        };
        check("SELECT id FROM runs", "a.rs:1: a text holds SQL (`SELECT …`)");
        check("\n  insert into runs(id) values(?1)", "a.rs:1: a text holds SQL (`INSERT …`)");
        check("UPDATE schedule_state SET cursor = 1", "a.rs:1: a text holds SQL (`UPDATE …`)");
        check("WITH d AS (SELECT 1) DELETE FROM runs", "a.rs:1: a text holds SQL (`WITH …`)");
        check("CREATE UNIQUE INDEX x ON runs(id)", "a.rs:1: a text holds SQL (`CREATE …`)");
        check("PRAGMA journal_mode = WAL", "");
        check("select one from the list", "");
        check("update the schedule, then set its zone", "");
        check("Create a schedule", "");
        example::rust(
            in_rust,
            "a.rs",
            "fn f() { x!(\"DELETE FROM runs\") }",
            "a.rs:1: a text holds SQL (`DELETE …`)",
        );
        example::rust(in_rust, "a.rs", "#[test] fn f() { g(\"DELETE FROM runs\") }", "");
        example::rust(in_rust, "a.rs", "/// SELECT id FROM runs\nfn f() {}", "");
    }

    #[test]
    fn a_sql_file_holds_one_statement() {
        let check = |path: &str, sql: &str, expected: &str| example::text(in_files, path, sql, expected);
        check("due.sql", "-- Ready; in order.\nSELECT ';' FROM runs WHERE note = 'it''s; so';\n", "");
        check("due.sql", "SELECT 1", "");
        check("due.sql", "SELECT 1; SELECT 2;", "due.sql:1: the file holds 2 statements instead of one");
        check("due.sql", "-- nothing", "due.sql:1: the file holds 0 statements instead of one");
        check("sqlite/migrations/0001_start.sql", "CREATE TABLE a(x); CREATE TABLE b(x);", "");
        check("notes.txt", "SELECT 1; SELECT 2;", "");
    }
}
