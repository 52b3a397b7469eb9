//! Programs as targets: whom they run as, what they may use, and what their variables refer to.

use std::collections::BTreeMap;

use punctual_plan::{KILL_AFTER, Process, ProcessLimits, Template};

use super::builder::Builder;
use super::duration;
use super::node::Node;
use super::raw_target;
use super::raw_word::SizeText;

/// What a letter after a number of bytes stands for.
const UNITS: [(char, u64); 4] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];

impl Builder<'_> {
    pub(super) fn process(&mut self, raw: raw_target::Process, node: &Node) -> Process {
        if raw.argv.first().is_none_or(String::is_empty) {
            self.problems.add(node.place_of("argv"), "no program is named", "write `argv: [echo, hello]`");
        }
        let env = raw.env.unwrap_or_default();
        self.check_references(&env, "env", node);
        if raw.user.as_ref().is_some_and(|user| user.0.trim().is_empty()) {
            self.problems.add(
                node.place_of("user"),
                "no user is named",
                "write `user: nobody`, or leave it out",
            );
        }
        let kill_after = duration::read(raw.kill_after.as_ref(), "kill_after", node, &mut self.problems);
        Process {
            argv: raw.argv,
            env,
            cwd: raw.cwd,
            user: raw.user.map(|user| user.0),
            limits: raw.limits.map(|limits| self.process_limits(&limits, node)).unwrap_or_default(),
            nice: raw.nice,
            kill_after: kill_after.unwrap_or(KILL_AFTER),
        }
    }

    fn process_limits(&mut self, raw: &raw_target::ProcessLimits, node: &Node) -> ProcessLimits {
        let node = node.get("limits").unwrap_or(node);
        ProcessLimits {
            memory: self.size(raw.memory.as_ref(), "memory", node),
            cpu_seconds: raw.cpu_seconds,
            open_files: raw.open_files,
            processes: raw.processes,
            file_size: self.size(raw.file_size.as_ref(), "file_size", node),
        }
    }

    fn size(&mut self, text: Option<&SizeText>, key: &str, node: &Node) -> Option<u64> {
        let SizeText(text) = text?;
        let size = parse_size(text);
        if size.is_none() {
            let message = format!("`{text}` is not a size");
            self.problems.add(node.place_of(key), message, "write `64K`, `512M`, `2G`, or a number of bytes");
        }
        size
    }

    /// Refuses references that no launch could resolve.
    pub(super) fn check_references(&mut self, values: &BTreeMap<String, String>, key: &str, node: &Node) {
        let node = node.get(key).unwrap_or(node);
        for (name, value) in values {
            if let Err(problem) = Template::parse(value) {
                let hint = "write `${secret:NAME}`, `${env:NAME}` or `${file:PATH}`; `$${` stands for `${`";
                self.problems.add(node.place_of(name), problem.to_string(), hint);
            }
        }
    }
}

/// Reads a size in bytes.
fn parse_size(text: &str) -> Option<u64> {
    let upper = text.trim().to_ascii_uppercase();
    let text = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let unit = UNITS.iter().find(|(letter, _)| text.ends_with(*letter));
    let digits = unit.map_or(text, |_| &text[..text.len() - 1]);
    let count: u64 = digits.trim_end().parse().ok().filter(|count| *count > 0)?;
    count.checked_mul(unit.map_or(1, |(_, bytes)| *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_bytes() {
        for (text, expected) in [
            ("1", Some(1)),
            ("64K", Some(65_536)),
            ("64 KiB", Some(65_536)),
            ("512m", Some(512 << 20)),
            ("2GB", Some(2 << 30)),
            ("0", None),
            ("", None),
            ("K", None),
            ("-1", None),
            ("1.5G", None),
            ("99999999999T", None),
        ] {
            assert_eq!(parse_size(text), expected, "{text}");
        }
    }
}
