//! What the oracle knows of a schedule and of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Fence, Origin, RunKey, RunStatus, ScheduleKey};

use crate::sketch::Sketch;
use crate::wall::{Stretch, Wall};

/// Whether a schedule makes runs, as far as people decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It does.
    Active,
    /// It was paused.
    Left,
    /// It was deleted.
    Deleted,
}

/// A time during which one version had the say: after one second and up to another.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) sketch: Arc<Sketch>,
    pub(super) after: i64,
    pub(super) through: Option<i64>,
    /// Which rules of the zones held.
    pub(super) rules: usize,
}

/// The clocks of the zones, by the rules that hold.
#[derive(Default)]
pub(super) struct Walls(HashMap<(&'static str, usize), Wall>);

impl Walls {
    pub(super) fn learn(&mut self, zone: &'static str, rules: usize, wall: Wall) {
        self.0.insert((zone, rules), wall);
    }

    /// The clock of a sketch by some rules; by the first ones where they did not change.
    pub(super) fn of(&self, sketch: &Sketch, rules: usize) -> &Wall {
        let known = self.0.get(&(sketch.zone, rules)).or_else(|| self.0.get(&(sketch.zone, 0)));
        known.expect("every zone of a story was taught")
    }
}

/// A schedule.
pub(super) struct Known {
    pub(super) sketches: BTreeMap<i64, Arc<Sketch>>,
    pub(super) version: i64,
    pub(super) made: Timestamp,
    pub(super) standing: Standing,
    pub(super) spans: Vec<Span>,
    /// Ticks after this belong to the present version.
    pub(super) valid_after: i64,
    /// The ticks that have a row of their own.
    pub(super) rows: BTreeSet<i64>,
    /// The runs in flight, and whether each takes turns with others.
    pub(super) in_flight: BTreeMap<RunKey, Turn>,
    /// Ticks that were admitted, and chained runs.
    pub(super) admitted: u64,
    /// The latest tick that was started or ended.
    pub(super) reached: i64,
    /// What was paused through here is judged by the catch-up policy.
    pub(super) resumed_through: i64,
    /// When people last said when it ticks: a node may not have heard of it for as long as it sleeps.
    pub(super) said_at: Timestamp,
    /// Ticks that there must have been up to `counted_through`.
    pub(super) counted: u64,
    pub(super) counted_through: i64,
    /// The farthest that the ledger said it had decided.
    pub(super) decided_through: Timestamp,
    /// Upstream runs that it has followed.
    pub(super) followed: BTreeSet<RunKey>,
    /// The tick after which nothing was to come at the last look, where ticks hang on runs.
    pub(super) hung_on: Option<i64>,
}

/// Whether a run takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Takes,
    Beside,
}

impl Known {
    pub(super) fn new(sketch: Arc<Sketch>, made: Timestamp, rules: usize) -> Self {
        let after = floor(made);
        Self {
            sketches: BTreeMap::from([(1, Arc::clone(&sketch))]),
            version: 1,
            made,
            standing: Standing::Active,
            spans: vec![Span { sketch, after, through: None, rules }],
            valid_after: after,
            rows: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            admitted: 0,
            reached: i64::MIN,
            resumed_through: i64::MIN,
            said_at: made,
            counted: 0,
            counted_through: after,
            decided_through: made,
            followed: BTreeSet::new(),
            hung_on: None,
        }
    }

    /// The definition that has the say.
    pub(super) fn present(&self) -> &Arc<Sketch> {
        self.sketches.get(&self.version).expect("a schedule always has a version")
    }

    pub(super) fn edit(&mut self, sketch: Arc<Sketch>, at: Timestamp, rules: usize) {
        let end = self.close(at);
        self.version += 1;
        self.sketches.insert(self.version, Arc::clone(&sketch));
        self.spans.push(Span { sketch, after: end, through: None, rules });
        self.valid_after = end;
        // The ticks of a pause that an edit ends are missed for it.
        self.resumed_through = self.resumed_through.max(floor(at));
        self.said_at = at;
    }

    /// Ends the span of the present version; what fired ahead of its instant belongs to it. Gives back its end.
    pub(super) fn close(&mut self, at: Timestamp) -> i64 {
        let end = floor(at).max(self.reached);
        if self.spans.last().is_some_and(|last| last.through.is_none()) {
            // What newer rules were to follow in some time belongs to it as well.
            let present = self.spans.iter_mut().filter(|span| span.after >= self.valid_after);
            present
                .for_each(|span| span.through = Some(span.through.map_or(end, |through| through.min(end))));
        }
        end
    }

    /// Whether nothing was to come any more at a tick.
    pub(super) fn is_over_before(&self, tick: i64) -> bool {
        self.spans.last().and_then(|last| last.through).is_some_and(|through| through < tick)
    }

    /// One that was to fire early and waited has its entry, though the last run came before its instant.
    pub(super) fn reach_beyond(&mut self, tick: i64) {
        let is_spent = self.present().max_runs.is_some_and(|max| self.admitted >= max);
        let is_beyond = |span: &&mut Span| is_spent && span.through.is_some_and(|through| through < tick);
        if let Some(last) = self.spans.last_mut().filter(is_beyond) {
            last.through = Some(tick);
        }
    }

    pub(super) fn stand(&mut self, standing: Standing, at: Timestamp) {
        if standing == Standing::Deleted {
            self.close(at);
        }
        if standing == Standing::Active && self.standing != Standing::Active {
            self.resumed_through = self.resumed_through.max(floor(at));
            self.said_at = at;
        }
        self.standing = standing;
    }

    /// The windows that suppress a tick, by the rules that held then.
    pub(super) fn suppressed(&self, walls: &Walls, version: i64, tick: i64) -> Vec<&'static str> {
        let sketch = self.sketches.get(&version).unwrap_or(self.present());
        sketch.suppressed(walls.of(sketch, self.rules_at(tick)), tick)
    }

    /// Which rules of the zones hold for a tick.
    pub(super) fn rules_at(&self, tick: i64) -> usize {
        let holds = |span: &&Span| span.after < tick && span.through.is_none_or(|through| tick <= through);
        self.spans.iter().rev().find(holds).map_or(0, |span| span.rules)
    }

    /// Whoever plans it from a second on has these rules.
    pub(super) fn rule(&mut self, from: i64, rules: usize) {
        let Some(last) = self.spans.last_mut().filter(|last| last.through.is_none() && last.rules < rules)
        else {
            return;
        };
        let after = from.max(last.after);
        let next = Span { sketch: Arc::clone(&last.sketch), after, through: None, rules };
        last.through = Some(after);
        self.spans.push(next);
    }

    /// The ticks that there must be in a stretch, by whoever had the say.
    pub(super) fn ticks(&self, walls: &Walls, stretch: Stretch) -> Vec<i64> {
        let mut ticks = Vec::new();
        for span in &self.spans {
            let after = span.after.max(stretch.after);
            let through = span.through.unwrap_or(i64::MAX).min(stretch.through);
            if after < through {
                let wall = walls.of(&span.sketch, span.rules);
                ticks.extend(span.sketch.ticks(wall, self.made, Stretch { after, through }));
            }
        }
        ticks
    }
}

/// The whole second at or before an instant.
pub(super) fn floor(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) schedule: ScheduleKey,
    pub(super) origin: Origin,
    pub(super) tick: i64,
    pub(super) fire_at: Timestamp,
    pub(super) version: i64,
    pub(super) status: RunStatus,
    /// The last attempt that was admitted.
    pub(super) attempt: u32,
    /// The last attempt that the world saw.
    pub(super) launched: u32,
    /// The node that holds it.
    pub(super) holder: Option<Fence>,
    /// When it ended or was last in flight.
    pub(super) flew: Option<Duration>,
    /// What the database's clock showed when its last attempt was admitted.
    pub(super) started: Option<Timestamp>,
    pub(super) is_forced: bool,
    pub(super) guard: Option<String>,
    pub(super) lane: Option<String>,
}
