//! The targets of a program that embeds the engine: its own closures, and nothing else.

use std::sync::Arc;

use punctual_plan::Action;
use punctual_store::AttemptToken;

use super::{Callbacks, Context, Wires};
use crate::{Clock, Finished, Launch, Launched, Targets};

/// The closures of this program, called by its clock.
///
/// ```
/// use std::sync::Arc;
///
/// use punctual_engine::{Callbacks, Program, SystemClock};
///
/// let callbacks = Callbacks::new().add("greet", |_| async { Ok(()) });
/// let program = Program::new(callbacks, Arc::new(SystemClock));
/// assert!(format!("{program:?}").contains("greet"));
/// ```
#[derive(Debug)]
pub struct Program<C> {
    callbacks: Callbacks,
    clock: Arc<C>,
}

impl<C: Clock> Program<C> {
    /// A program that has these closures.
    pub fn new(callbacks: Callbacks, clock: Arc<C>) -> Self {
        Self { callbacks, clock }
    }
}

impl<C: Clock> Targets for Program<C> {
    fn takes(&self, action: &Action) -> bool {
        matches!(action, Action::Callback { task } if self.callbacks.has(task))
    }

    async fn launch(&self, launch: Launch) -> Launched {
        let Launch { run, fence, started, ended, cancel, output } = launch;
        let context = Context::new(&run, AttemptToken::Node(fence), self.clock.now());
        match &run.definition.target.action {
            Action::Callback { task } => {
                self.callbacks.run(task, context, Wires { started, ended, cancel, output }).await.into()
            }
            other => Finished::failed(format!("this program calls closures and no {}", other.kind())).into(),
        }
    }
}
