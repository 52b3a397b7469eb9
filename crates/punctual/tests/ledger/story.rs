//! Stories, told to the simulator and to a store alike.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Act, Behaviour, CatchUp, Edit, Member, Outage, Outcome, RunKey, Scenario, Schedule, Simulated, Status,
    When, simulate,
};
use punctual_store::conformance::stage::{Shape, Stage, at, cron};
use punctual_store::{Started, Store};
use punctual_time::Zone;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A node looks: plans, and starts what is due.
    Look,
    /// The run that was started last ends well.
    End,
    /// It is paused by a person.
    Pause,
    /// It is paused with its whole org.
    Maintain,
    /// It is enabled again.
    Resume,
}

/// A schedule and what happens to it.
pub(crate) struct Story {
    pub(crate) schedule: Schedule,
    /// How long its runs take.
    run_time: SignedDuration,
    outage: Option<(&'static str, &'static str)>,
    deeds: Vec<(&'static str, Deed)>,
    /// When the simulation ends.
    to: &'static str,
}

fn in_paris(name: &str) -> Schedule {
    let mut schedule = cron(name, "*/10 * * * *");
    if let When::Ticks(timing) = &mut schedule.when {
        timing.zone = Zone::get("Europe/Paris").expect("a zone");
    }
    schedule.owner = punctual_plan::Owner::default();
    schedule
}

/// Runs that take a quarter of an hour, of a schedule that ticks every ten minutes.
pub(crate) fn overlapping() -> Story {
    Story {
        schedule: in_paris("backup"),
        run_time: SignedDuration::from_mins(15),
        outage: None,
        deeds: vec![
            ("10:09:30", Deed::Look),
            ("10:10:00", Deed::Look),
            ("10:19:30", Deed::Look),
            ("10:20:00", Deed::Look),
            ("10:25:00", Deed::End),
            ("10:29:30", Deed::Look),
            ("10:30:00", Deed::Look),
            ("10:39:30", Deed::Look),
            ("10:40:00", Deed::Look),
            ("10:45:00", Deed::End),
        ],
        to: "10:48:00",
    }
}

/// Nobody looks for an hour, and one run makes up for it.
pub(crate) fn outage() -> Story {
    Story {
        schedule: in_paris("report").policy(|policy| policy.catch_up = CatchUp::RunOnce),
        run_time: SignedDuration::ZERO,
        outage: Some(("10:05:00", "11:05:00")),
        deeds: vec![("11:05:00", Deed::Look), ("11:05:00", Deed::End), ("11:08:00", Deed::Look)],
        to: "11:08:00",
    }
}

/// A person pauses it for half an hour.
pub(crate) fn pause() -> Story {
    Story {
        schedule: in_paris("mail"),
        run_time: SignedDuration::ZERO,
        outage: None,
        deeds: vec![
            ("10:09:30", Deed::Look),
            ("10:10:00", Deed::Look),
            ("10:10:00", Deed::End),
            ("10:15:00", Deed::Pause),
            ("10:45:00", Deed::Resume),
            ("10:49:30", Deed::Look),
            ("10:50:00", Deed::Look),
            ("10:50:00", Deed::End),
        ],
        to: "10:55:00",
    }
}

/// The same, while the whole org is in maintenance.
pub(crate) fn maintenance() -> Story {
    let mut story = pause();
    let paused = story.deeds.iter_mut().filter(|(_, deed)| *deed == Deed::Pause);
    paused.for_each(|(_, deed)| *deed = Deed::Maintain);
    story
}

/// What the person notes who begins a maintenance.
const NOTE: &str = "new disks";

/// When every story begins.
const FROM: &str = "10:00:00";

impl Story {
    /// As the simulator has it.
    pub(crate) fn simulated(&self) -> Simulated {
        let members = vec![Member::new(self.schedule.clone())];
        let mut scenario = Scenario::new(at(FROM), at(self.to), members);
        scenario.behaviour = Behaviour { run_time: self.run_time, ..Behaviour::default() };
        scenario.outages =
            self.outage.iter().map(|(from, to)| Outage { from: at(from), to: at(to) }).collect();
        scenario.edits = self.deeds.iter().filter_map(|(time, deed)| self.edit(at(time), *deed)).collect();
        simulate(&scenario)
    }

    fn edit(&self, at: Timestamp, deed: Deed) -> Option<Edit> {
        let paused = Status::PausedManual { by: "ada".to_owned(), note: "a note".to_owned() };
        let act = match deed {
            Deed::Pause => Act::Leave(paused),
            Deed::Maintain => Act::Maintain { note: NOTE.to_owned() },
            Deed::Resume => Act::Resume,
            Deed::Look | Deed::End => return None,
        };
        Some(Edit { at, schedule: self.schedule.id, act })
    }

    /// As a store has it.
    pub(crate) async fn lived<S: Store>(&self, stage: &Stage<S>) {
        stage.create(self.schedule.clone(), at(FROM)).await;
        let mut running: Option<(RunKey, Timestamp)> = None;
        for (time, deed) in &self.deeds {
            let now = at(time);
            match deed {
                Deed::Look => running = self.look(stage, now).await.or(running),
                Deed::End => {
                    let (run, started) = running.take().expect("something runs");
                    let mut report = stage.report(run, Outcome::Succeeded, now).await;
                    (report.started_at, report.output) = (Some(started), Some("done\n".to_owned()));
                    stage.send(vec![report], now).await;
                }
                Deed::Pause => {
                    let write = stage.pause(&self.schedule.name, now).await;
                    stage.write(write).await;
                }
                Deed::Maintain => {
                    let status = Status::Maintenance { by: "ada".to_owned(), note: NOTE.to_owned() };
                    let write = stage.leaving(&self.schedule.name, status, now).await;
                    stage.write(write).await;
                }
                Deed::Resume => {
                    let write = stage.resumption(&self.schedule.name, now).await;
                    stage.write(write).await;
                }
            }
        }
    }

    async fn look<S: Store>(&self, stage: &Stage<S>, now: Timestamp) -> Option<(RunKey, Timestamp)> {
        stage.plan(now).await;
        let mut started = None;
        for run in stage.admit(now).await {
            if stage.status(run).await == "enqueued" {
                let one = Started { run, attempt: 1, at: now };
                stage.store.mark_running(stage.batch(now), vec![one]).await.expect("the store answers");
                started = Some((run, now));
            }
        }
        started
    }
}
