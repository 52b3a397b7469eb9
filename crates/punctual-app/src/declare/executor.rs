//! Who executes workflows: a program or a service, in a word, a list, or with everything about it.

use punctual_engine::{BadRequest, check_header, check_url};
use punctual_plan::{Executor, Process, Webhook};

use super::builder::Builder;
use super::node::Node;
use super::raw_target::{self, ExecutorChoice};
use crate::Failure;

/// How an executor is written.
const FORMS: &str = r#"write `https://…`, or a program as a list such as `["dag-runner", "--all"]`"#;

impl Builder<'_> {
    /// The executor that a target or the settings name.
    pub(super) fn executor(&mut self, raw: ExecutorChoice, node: &Node) -> Option<Executor> {
        let place = node.place_of("executor");
        match raw {
            ExecutorChoice::Word(text) => match executor(&text) {
                Ok(executor) => Some(executor),
                Err(failure) => {
                    self.problems.refuse(place, failure);
                    None
                }
            },
            ExecutorChoice::Argv(argv) if argv.first().is_none_or(String::is_empty) => {
                self.problems.add(place, "no program is named", FORMS);
                None
            }
            ExecutorChoice::Argv(argv) => Some(Executor::Process(Process::new(argv))),
            ExecutorChoice::Own(form) => self.own_executor(*form, node.get("executor").unwrap_or(node)),
        }
    }

    fn own_executor(&mut self, raw: raw_target::ExecutorForm, node: &Node) -> Option<Executor> {
        let raw_target::ExecutorForm { argv, env, cwd, url, headers, secret } = raw;
        let idle: &[&str] = if argv.is_some() { &["headers", "secret"] } else { &["env", "cwd"] };
        for key in idle.iter().filter(|key| node.get(key).is_some()) {
            let other = if argv.is_some() { "url" } else { "argv" };
            let message = format!("`{key}` goes with `{other}`, which is not here");
            self.problems.add(node.place_of_key(key), message, format!("remove it, or write `{other}`"));
        }
        match (argv, url) {
            (Some(argv), None) => {
                if argv.first().is_none_or(String::is_empty) {
                    self.problems.add(node.place_of("argv"), "no program is named", FORMS);
                }
                let env = env.unwrap_or_default();
                self.check_references(&env, "env", node);
                Some(Executor::Process(Process { env, cwd, ..Process::new(argv) }))
            }
            (None, Some(url)) => {
                self.hear(check_url(&url), "url", node);
                let (headers, secrets) = (headers.unwrap_or_default(), Vec::from_iter(secret));
                for (name, value) in &headers {
                    self.hear(check_header(name, value), name, node.get("headers").unwrap_or(node));
                }
                self.secrets_of(&secrets, node);
                Some(Executor::Webhook(Webhook { headers, secrets, ..Webhook::new(url) }))
            }
            (None, None) => {
                self.problems.add(node.place, "it is not said who executes", "add `argv:` or `url:`");
                None
            }
            (Some(_), Some(_)) => {
                let message = "`argv` and `url` are two executors";
                self.problems.add(node.place_of_key("url"), message, "keep one of them");
                None
            }
        }
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// Reads an executor from one text: an address, a program, or a program and its arguments as a JSON list.
///
/// ```
/// use punctual::declare::executor;
/// use punctual_plan::{Executor, Process};
///
/// let argv = Process::new(["dag-runner", "--all"]);
/// assert_eq!(executor(r#"["dag-runner", "--all"]"#)?, Executor::Process(argv));
/// assert!(matches!(executor("https://example.com/dags")?, Executor::Webhook(_)));
/// assert!(executor("dag-runner --all").is_err());
/// # Ok::<(), punctual::Failure>(())
/// ```
///
/// # Errors
/// When it is neither: a text with spaces could be meant for a shell, and none is asked.
pub fn executor(text: &str) -> Result<Executor, Failure> {
    let text = text.trim();
    if is_address(text) {
        check_url(text).map_err(|BadRequest { message, hint }| Failure::invalid(message, hint))?;
        return Ok(Executor::Webhook(Webhook::new(text)));
    }
    let argv = match text.starts_with('[') {
        true => serde_json::from_str::<Vec<String>>(text).ok(),
        false => (!text.contains(char::is_whitespace)).then(|| vec![text.to_owned()]),
    };
    match argv.filter(|argv| argv.first().is_some_and(|program| !program.is_empty())) {
        Some(argv) => Ok(Executor::Process(Process::new(argv))),
        None => Err(Failure::invalid(format!("`{text}` is no executor of workflows"), FORMS)),
    }
}
