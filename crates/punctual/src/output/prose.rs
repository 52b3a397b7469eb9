//! Lines of prose on a terminal: broken between words, and hung under where their text begins.

use super::table::width;

/// Breaks each line that is too long for the terminal; what goes on is indented.
pub(super) fn hung(text: &str, indent: usize) -> String {
    match width() {
        Some(width) => hung_within(text, indent, usize::from(width)),
        None => text.to_owned(),
    }
}

fn hung_within(text: &str, indent: usize, width: usize) -> String {
    text.split_inclusive('\n').map(|line| broken(line, indent, width)).collect()
}

/// One line; a word that is longer than a line stays in one piece.
fn broken(line: &str, indent: usize, width: usize) -> String {
    if line.trim_end().chars().count() <= width || indent >= width {
        return line.to_owned();
    }
    let mut said = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column + length > width && column > indent {
            said.truncate(said.trim_end().len());
            said.push('\n');
            said.push_str(&" ".repeat(indent));
            column = indent;
        }
        said.push_str(word);
        column += word.chars().count();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_hangs_under_its_text() {
        let check = |text: &str, expected: &str| assert_eq!(hung_within(text, 6, 20), expected);
        check("key   short\n", "key   short\n");
        check("key   one two three four\n", "key   one two three\n      four\n");
        check("key   aaaaaaaaaaaaaaaaaaaaaaa b\nx\n", "key   aaaaaaaaaaaaaaaaaaaaaaa\n      b\nx\n");
    }
}
