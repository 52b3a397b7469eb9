//! Panics of tasks: nobody waits for every task of a node, so they are noted where they happen.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

static HOOKED: Once = Once::new();

/// Notes panics of this thread from now on, and forgets earlier ones.
pub(crate) fn forget() {
    HOOKED.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            // A thread that is ending has nobody left to tell.
            let _ = SEEN.try_with(|seen| seen.borrow_mut().push(format!("a task panicked: {panic}")));
        }));
    });
    SEEN.take();
}

/// The panics since the last call.
pub(crate) fn seen() -> Vec<String> {
    SEEN.take()
}
