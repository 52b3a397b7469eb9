//! A definition as the columns of a database have it.

use punctual_plan::Schedule;

use crate::encode;
use crate::stored::shard_of;

/// So many are freed in less time than a thread takes to start.
const FREED_HERE_MAX: usize = 500;

/// What is worked out of a definition before it is written: most of what the making of a schedule costs outside of the
/// database.
pub(crate) struct Text {
    pub(crate) definition: String,
    pub(crate) id: String,
    pub(crate) tags: String,
    pub(crate) shard: u16,
}

impl Text {
    pub(crate) fn of(definition: &Schedule) -> Self {
        Self {
            definition: encode(definition),
            id: definition.id.to_string(),
            tags: tags(definition),
            shard: shard_of(definition.id),
        }
    }
}

/// Tags as JSON.
pub(crate) fn tags(definition: &Schedule) -> String {
    serde_json::to_string(&definition.tags).expect("strings can always be written")
}

/// Many at once are given back to the allocator on another core: whoever made them has more to do.
pub(crate) fn free<T: Send + 'static>(writes: Vec<T>) {
    if writes.len() > FREED_HERE_MAX {
        std::thread::spawn(move || drop(writes));
    }
}
