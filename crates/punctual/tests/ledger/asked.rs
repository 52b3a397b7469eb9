//! A story that a database has lived through.

use crate::ground::{Ground, Kind};
use crate::story::Story;

/// A database with a story in it.
pub(crate) async fn lived(kind: Kind, story: &Story) -> Ground {
    let ground = Ground::new(kind).await;
    story.lived(&ground.stage().await).await;
    ground
}
