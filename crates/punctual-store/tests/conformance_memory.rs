//! Goal: the store in memory passes the suite. Method: the suite, on stores that share nothing.

use punctual_store::Memory;
use punctual_store::conformance::Backend;

struct InMemory;

impl Backend for InMemory {
    type Store = Memory;

    async fn open(&self) -> Memory {
        Memory::new()
    }

    async fn second(&self, first: &Memory) -> Memory {
        first.clone()
    }
}

punctual_store::conformance!(InMemory);
