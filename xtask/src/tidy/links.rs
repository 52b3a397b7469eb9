//! Rule `links`: every relative link in Markdown leads to a file of the repository, and its `#anchor` to a heading.

use crate::finding::Finding;
use crate::repository::{Repository, TextFile};

/// Looks at all Markdown files; links to other sites are not followed.
pub(crate) fn check(repository: &Repository) -> Vec<Finding> {
    let pages = repository.texts.iter().filter(|file| file.path.ends_with(".md"));
    pages.flat_map(|page| broken(repository, page)).collect()
}

fn broken(repository: &Repository, page: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in prose(&page.text) {
        for target in targets(&line) {
            if let Some((what, hint)) = complaint(repository, page, &target) {
                findings.push(Finding::new(&page.path, index + 1, format!("link `{target}` {what}"), hint));
            }
        }
    }
    findings
}

/// Why a link does not resolve, if it does not.
fn complaint(repository: &Repository, page: &TextFile, target: &str) -> Option<(&'static str, &'static str)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
    if !repository.places.contains(&file) {
        return Some(("leads to no file", "write the path from this file's folder, as git spells it"));
    }
    let text = repository.texts.iter().find(|text| text.path == file && file.ends_with(".md"));
    let has_heading = text.is_none_or(|text| anchors(&text.text).iter().any(|known| known == anchor));
    if !anchor.is_empty() && !has_heading {
        return Some(("leads to no heading", "small letters, spaces as `-`, other marks left out"));
    }
    None
}

/// The path of `target` seen from the folder of `page`, with `.` and `..` taken out.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The lines outside code fences, with `code` blanked out, each with its index.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            let outside: Vec<&str> = line.split('`').step_by(2).collect();
            lines.push((index, outside.join("code")));
        }
    }
    lines
}

/// What the links of a line point to: `[words](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let defined =
        line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let words = inline.chain(defined).filter_map(|target| target.split_whitespace().next());
    words.map(|target| target.trim_matches(['<', '>']).to_owned()).collect()
}

/// The anchors that a page offers: one for each heading, made as the usual hosts make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().to_lowercase();
        let anchor: String = kept.chars().filter_map(anchor_char).collect();
        let times = anchors
            .iter()
            .filter(|known| **known == anchor || known.starts_with(&format!("{anchor}-")))
            .count();
        let is_repeated = anchors.contains(&anchor);
        anchors.push(if is_repeated { format!("{anchor}-{times}") } else { anchor });
    }
    anchors
}

fn anchor_char(c: char) -> Option<char> {
    match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_page(text: &str, expected: &str) {
        let mut repository = Repository::default();
        let other =
            "# The life of a `tick`, in short\n\n## Rules\n\n## Rules\n\n```sh\n# not a heading\n```\n";
        for (path, text) in [("docs/page.md", text), ("docs/adr/0001-one.md", other), ("LICENSE", "x")] {
            repository.add_place(path);
            repository.add_text(path.to_owned(), text.to_owned());
        }
        crate::tidy::example::same(&check(&repository), expected);
    }

    #[test]
    fn a_link_leads_to_a_file_or_folder() {
        check_page(
            "[one](adr/0001-one.md), ![up](../LICENSE \"title\"), [folder](adr/) and [web](https://x.org)",
            "",
        );
        check_page("\n[two](adr/0002-two.md)", "docs/page.md:2: link `adr/0002-two.md` leads to no file");
        check_page("[two]: ./adr/0002.md", "docs/page.md:1: link `./adr/0002.md` leads to no file");
        check_page("`[code](no.md)`\n```\n[code](no.md)\n```", "");
    }

    #[test]
    fn an_anchor_leads_to_a_heading() {
        check_page("# Top\n[here](#top) [there](adr/0001-one.md#the-life-of-a-tick-in-short)", "");
        check_page("[again](adr/0001-one.md#rules-1)", "");
        check_page("[here](#bottom)", "docs/page.md:1: link `#bottom` leads to no heading");
        check_page(
            "[there](adr/0001-one.md#not-a-heading)",
            "docs/page.md:1: link `adr/0001-one.md#not-a-heading` leads to no heading",
        );
    }
}
