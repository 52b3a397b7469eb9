//! The word that was probably meant.

/// Words further away than this many letters are not offered.
const DISTANCE_MAX: usize = 2;
/// Longer words are not compared.
const WORD_CHARS_MAX: usize = 64;
/// No more words than this are compared or listed.
const WORDS_MAX: usize = 1000;
/// Words that a hint lists.
const LISTED_MAX: usize = 40;

/// `did you mean …`, or the words there are.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, nothing: &str) -> String {
    let known: Vec<&str> = known.into_iter().take(WORDS_MAX).collect();
    if let Some(found) = meant(word, known.iter().copied()) {
        return format!("did you mean `{found}`?");
    }
    let listed: Vec<String> = known.iter().take(LISTED_MAX).map(|word| format!("`{word}`")).collect();
    match listed.as_slice() {
        [] => nothing.to_owned(),
        [one] => format!("there is {one}"),
        [first @ .., last] => format!("there are {} and {last}", first.join(", ")),
    }
}

/// The one of some words that was probably meant.
pub(crate) fn meant<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    if word.chars().count() > WORD_CHARS_MAX {
        return None;
    }
    let close = DISTANCE_MAX.min(word.chars().count() / 2);
    let distances = known.take(WORDS_MAX).map(|known| (distance(&word, known), known));
    distances.filter(|(apart, _)| *apart <= close).min_by_key(|(apart, _)| *apart).map(|(_, known)| known)
}

/// Letters to change, insert, drop or swap with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > DISTANCE_MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, found) in other.iter().enumerate() {
            let change = above[column] + usize::from(letter != found);
            let mut least = change.min(above[column + 1] + 1).min(line[column] + 1);
            let is_swap = row > 0 && column > 0 && *letter == other[column - 1] && one[row - 1] == *found;
            if is_swap {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[other.len()]
}
