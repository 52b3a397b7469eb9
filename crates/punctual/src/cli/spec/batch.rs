//! Many questions at once: one JSON object a line in, one line each out, in the same order.
//!
//! A line that cannot be answered gets its error as its answer and does not stop the others.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use punctual::Failure;
use punctual::spec::{Answer, Refusal};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::output::Output;

/// The longest line that is read.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Answers every line of a file, or of standard input for `-`.
pub(super) fn run<R: DeserializeOwned>(
    output: &Output,
    file: &Path,
    verb: impl Fn(&R) -> Result<Answer, Refusal>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::world(format!("cannot read `{}`: {error}", file.display()));
    let mut input: Box<dyn BufRead> = match file.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(BufReader::new(File::open(file).map_err(failed)?)),
    };
    let mut answers = output.stream();
    while let Some(line) = read_line(&mut input).map_err(failed)? {
        if line.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        answers.line(&answered(line, &verb))?;
    }
    answers.finish()
}

fn answered<R: DeserializeOwned>(
    line: Result<String, Refusal>,
    verb: impl Fn(&R) -> Result<Answer, Refusal>,
) -> Value {
    let answer = line.and_then(|text| {
        let request = serde_json::from_str(&text).map_err(|error| {
            let hint = "write one JSON object a line, such as {\"expr\":\"0 9 * * *\"}";
            Refusal::new("invalid_json", format!("the line cannot be read: {error}"), hint)
        })?;
        verb(&request)
    });
    match answer {
        Ok(answer) => answer.json,
        Err(refusal) => {
            json!({"error": {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}})
        }
    }
}

/// The next line, or why it is not one; `None` at the end.
fn read_line(input: &mut dyn BufRead) -> io::Result<Option<Result<String, Refusal>>> {
    let mut bytes = Vec::new();
    if input.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 == LINE_BYTES_MAX && bytes.last() != Some(&b'\n') {
        skip_line(input)?;
        let hint = format!("a line holds at most {LINE_BYTES_MAX} bytes");
        return Ok(Some(Err(Refusal::new("line_too_long", "the line is too long", hint))));
    }
    Ok(Some(
        String::from_utf8(bytes)
            .map_err(|_| Refusal::new("invalid_json", "the line is not UTF-8", "write UTF-8")),
    ))
}

fn skip_line(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let available = input.fill_buf()?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let (used, is_done) = end.map_or((available.len(), available.is_empty()), |end| (end + 1, true));
        input.consume(used);
        if is_done {
            return Ok(());
        }
    }
}
