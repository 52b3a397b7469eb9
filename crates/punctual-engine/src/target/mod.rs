//! Targets: where a run goes. Each has one verb, `run`, and gives back how it ended.

pub(crate) mod output;
pub(crate) mod process;

use punctual_plan::Action;

use crate::{Finished, Launch, Targets};

/// The targets that this host reaches: programs on it.
#[derive(Clone, Debug, Default)]
pub struct HostTargets {}

impl HostTargets {
    /// Programs of this host, nothing else.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Targets for HostTargets {
    async fn launch(&self, launch: Launch) -> Finished {
        let definition = std::sync::Arc::clone(&launch.run.definition);
        match &definition.target.action {
            Action::Process(program) => process::run(program, launch).await,
            other => Finished::failed(format!("this version cannot launch a {}", other.kind())),
        }
    }
}
