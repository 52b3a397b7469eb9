//! Rules `file-lines` and `function-lines`: what does not fit on a few screens is not read.

use crate::facts::Kind;
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Longest file, tests included. Aim for 100 to 250.
const FILE_LINES_MAX: usize = 500;

/// Longest function, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 60;

/// A file is within [`FILE_LINES_MAX`].
pub(crate) fn file_lines(file: &RustFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    if lines <= FILE_LINES_MAX {
        return Vec::new();
    }
    let what = format!("the file has {lines} lines, at most {FILE_LINES_MAX} are allowed");
    vec![Finding::new(&file.path, lines, what, "give a part that has a name of its own a file of its own")]
}

/// Every function is within [`FUNCTION_LINES_MAX`].
pub(crate) fn function_lines(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fact in &file.facts {
        if let Kind::Function(function) = &fact.kind
            && function.lines > FUNCTION_LINES_MAX
        {
            let (name, lines) = (&function.name, function.lines);
            let what =
                format!("function `{name}` has {lines} lines, at most {FUNCTION_LINES_MAX} are allowed");
            let hint =
                "keep the branches here and move the computing into functions; a long table is a constant";
            findings.push(Finding::new(&file.path, fact.line, what, hint));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::example;

    #[test]
    fn a_file_may_have_500_lines_and_no_more() {
        let check = |lines: usize, expected: &str| {
            example::rust(file_lines, "a/src/lib.rs", &"// line\n".repeat(lines), expected);
        };
        check(500, "");
        check(501, "a/src/lib.rs:501: the file has 501 lines, at most 500 are allowed");
    }

    #[test]
    fn a_function_may_have_60_lines_and_no_more() {
        let check = |lines: usize, expected: &str| {
            let source = format!("impl A {{\n#[inline]\nfn long(\n){{\n{}}}\n}}", "g();\n".repeat(lines - 3));
            example::rust(function_lines, "a/src/lib.rs", &source, expected);
        };
        check(60, "");
        check(61, "a/src/lib.rs:3: function `long` has 61 lines, at most 60 are allowed");
    }
}
