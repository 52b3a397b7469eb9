//! The model: whole stories, told to the store and to `punctual_plan::simulate`, leave the same ledger.
//!
//! A story is made of a seed: schedules of several policies, run times, failures, outages, pauses, edits, wishes. The store
//! is driven as a node would drive it, from one thing that wants to be looked at to the next.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use punctual_plan::{
    Account, Act, Behaviour, CatchUp, Chain, ChainOn, Dependency, Edit, Failing, How, Member, Outage,
    Outcome, Overlap, Request, Run, RunKey, Scenario, Schedule, State, Status, Verdict, simulate,
};
use punctual_time::Anchor;

use super::Backend;
use super::stage::{Shape, Stage, at, cron, every, following, id_of, seconds, stretch};
use crate::{Commit, DueRow, Store};

/// A small generator, so that a story is the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let place = self.roll(of.len() as u64) as usize;
        of[place].clone()
    }
}

fn any_schedule(dice: &mut Dice, name: &str) -> Schedule {
    let schedule = match dice.roll(4) {
        0 => {
            let spec = dice.pick(&["25s", "40s", "70s"]);
            let anchor = dice.pick(&[Anchor::Fixed, Anchor::LastStart, Anchor::LastFinish]);
            every(name, spec).timing(|timing| timing.anchor = anchor)
        }
        _ => cron(name, dice.pick(&["*/20 * * * * *", "*/30 * * * * *", "* * * * *", "10,15,50 * * * * *"])),
    };
    let overlap = dice.pick(Overlap::ALL);
    let catch_up = dice.pick(CatchUp::ALL);
    let retry_after = dice.pick(&[None, Some(jiff::SignedDuration::from_millis(26_500))]);
    let start_deadline = dice.pick(&[None, None, Some(seconds(50))]);
    let guard = dice.pick(&[None, None, Some("disk".to_owned())]);
    let max_runs = dice.pick(&[None, None, Some(5)]);
    let max_consecutive_failures = dice.pick(&[None, Some(3)]);
    // Only of an earlier letter, so that nobody waits for itself.
    let upstream = [("b", "a"), ("c", "b")].into_iter().find(|(of, _)| *of == name).map(|(_, on)| id_of(on));
    let depends_on = upstream.filter(|_| dice.roll(4) == 0).map(|on| Dependency::on(vec![on]));
    schedule
        .policy(|policy| {
            policy.overlap = overlap;
            policy.catch_up = catch_up;
            policy.retry_after = retry_after;
            policy.start_deadline = start_deadline;
            policy.guard = guard;
            policy.max_consecutive_failures = max_consecutive_failures;
            policy.depends_on = depends_on;
        })
        .timing(|timing| timing.bounds.max_runs = max_runs)
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn any_story(seed: u64) -> Scenario {
    let mut dice = Dice(seed.wrapping_add(0x9E37_79B9_7F4A_7C15));
    let mut members: Vec<Schedule> = NAMES.iter().map(|name| any_schedule(&mut dice, name)).collect();
    members.push(following("d", Chain::new(id_of("a"), dice.pick(ChainOn::ALL))));
    let (from, to) = (at("10:00:03"), at("10:12:00"));
    let mut story = Scenario::new(from, to, members.into_iter().map(Member::new).collect());
    for name in NAMES {
        let behaviour = Behaviour {
            run_time: seconds(dice.pick(&[0, 7, 33, 64])),
            failing: dice.pick(&[Failing::Never, Failing::Every(3), Failing::First(2), Failing::Always]),
            how: dice.pick(&[How::Exit, How::Launch]),
        };
        story.behaviours.insert(name.to_owned(), behaviour);
    }
    if dice.roll(2) == 0 {
        let begin = from + seconds(100 + dice.roll(200) as i64);
        story.outages.push(Outage { from: begin, to: begin + seconds(20 + dice.roll(120) as i64) });
    }
    if dice.roll(2) == 0 {
        let begin = from + seconds(330 + dice.roll(100) as i64);
        let status = Status::PausedManual { by: "ada".to_owned(), note: "a note".to_owned() };
        let schedule = id_of("b");
        story.edits.push(Edit { at: begin, schedule, act: Act::Leave(status) });
        story.edits.push(Edit { at: begin + seconds(95), schedule, act: Act::Resume });
    }
    for number in 0..dice.roll(4) {
        story.edits.push(any_edit(&mut dice, from, number));
    }
    story.edits.sort_by_key(|edit| edit.at);
    story
}

/// What a person does at some time: another definition, or a run at once.
fn any_edit(dice: &mut Dice, from: Timestamp, number: u64) -> Edit {
    let name = dice.pick(&NAMES);
    // Not on a second at which something else happens: who is first there is nobody's promise.
    let at = from + seconds(20 + dice.roll(640) as i64) + jiff::SignedDuration::from_millis(250);
    let act = match dice.roll(3) {
        0 => Act::Replace(Box::new(any_schedule(dice, name))),
        forced => Act::Trigger(Request { nonce: format!("wish {number}"), is_forced: forced == 1 }),
    };
    Edit { at, schedule: id_of(name), act }
}

/// A story under way on a store.
struct Told<'a, S> {
    stage: &'a Stage<S>,
    story: &'a Scenario,
    now: Timestamp,
    ends: BTreeSet<(Timestamp, RunKey)>,
    /// Attempts so far, by schedule; and the number of each run's present one.
    launches: BTreeMap<String, u32>,
    numbers: BTreeMap<RunKey, u32>,
    edits: usize,
    outages: usize,
    down_until: Option<Timestamp>,
    in_doubt: Vec<RunKey>,
}

impl<S: Store> Told<'_, S> {
    async fn tell(&mut self) {
        loop {
            self.die_or_return().await;
            self.edit().await;
            let next = if self.down_until.is_none() { self.work().await } else { None };
            let edit = self.story.edits.get(self.edits).map(|edit| edit.at);
            let outage = self.story.outages.get(self.outages).map(|outage| outage.from);
            let outage = self.down_until.or(outage);
            let end = self.ends.first().map(|(at, _)| *at).filter(|_| self.down_until.is_none());
            match [next, edit, outage, end].into_iter().flatten().min().filter(|next| *next <= self.story.to)
            {
                Some(next) => self.now = self.now.max(next),
                None => return,
            }
        }
    }

    async fn die_or_return(&mut self) {
        if self.down_until.is_some_and(|until| until <= self.now) {
            self.down_until = None;
            for run in std::mem::take(&mut self.in_doubt) {
                self.stage.settle(run, Outcome::InDoubt, self.now).await;
            }
        }
        let outage = self.story.outages.get(self.outages).filter(|outage| outage.from <= self.now);
        if let Some(outage) = outage {
            self.outages += 1;
            self.down_until = Some(outage.to);
            self.in_doubt = std::mem::take(&mut self.ends).into_iter().map(|(_, run)| run).collect();
        }
    }

    async fn edit(&mut self) {
        while let Some(edit) = self.story.edits.get(self.edits).filter(|edit| edit.at <= self.now) {
            self.edits += 1;
            let name = NAMES.into_iter().find(|name| id_of(name) == edit.schedule).expect("one of the story");
            let row = self.stage.row(name).await;
            let write = match &edit.act {
                Act::Leave(_) => self.stage.pause(name, self.now).await,
                Act::Resume if row.state.status.is_active() => continue,
                Act::Resume => self.stage.resumption(name, self.now).await,
                Act::Replace(to) => self.stage.edit(name, Schedule::clone(to), self.now).await,
                Act::Trigger(request) if request.is_forced => {
                    self.stage.forced(row.key, &request.nonce, self.now)
                }
                Act::Trigger(request) => self.stage.wish(row.key, &request.nonce, self.now),
                other => panic!("no story has {other:?}"),
            };
            let written = self.stage.write(write).await;
            assert_ne!(written, crate::Written::Stale, "nobody else writes");
        }
    }

    /// Does everything that is to be done now; says when to look again.
    async fn work(&mut self) -> Option<Timestamp> {
        loop {
            if let Some((at, run)) = self.ends.first().copied().filter(|(at, _)| *at <= self.now) {
                self.ends.remove(&(at, run));
                let outcome = self.outcome(run).await;
                self.stage.settle(run, outcome, self.now).await;
                continue;
            }
            let plans = self.stage.plans(self.now).await;
            if !plans.is_empty() {
                let commits = self.stage.commit(plans, self.now).await;
                assert!(commits.iter().all(|commit| *commit == Commit::Done), "{commits:?}");
                continue;
            }
            if !self.stage.due(self.now).await.rows.is_empty() {
                self.stage.decide(self.now).await;
                self.admit().await;
                continue;
            }
            let ask = crate::Ask::all(self.now);
            let planned = self.stage.store.plannable(ask).await.expect("answers").next_plan_at;
            let due = self.stage.due(self.now).await.next_look_at;
            return planned.into_iter().chain(due).min();
        }
    }

    async fn admit(&mut self) {
        let verdicts = self.stage.judge(self.now).await;
        let is_start = |verdict: &&crate::AdmitCommit| verdict.admission.verdict == Verdict::Start;
        let started: Vec<DueRow> = verdicts.iter().filter(is_start).map(|one| one.row.clone()).collect();
        self.stage.carry_out(verdicts, self.now).await;
        for row in &started {
            *self.launches.entry(row.launch.definition.name.clone()).or_default() += 1;
        }
        // Those that start together are one launch of the schedule to the simulation, too.
        for row in &started {
            let name = &row.launch.definition.name;
            self.numbers.insert(row.due.run, self.launches[name]);
            let limit = row.launch.definition.policy.run_timeout;
            let takes = self.behaviour(name).takes(self.launches[name], limit);
            self.ends.insert((self.now + takes, row.due.run));
        }
        // What a later tick cancelled has ended already.
        let mut over = Vec::new();
        for (at, run) in &self.ends {
            if !self.stage.run(*run).await.run.state.status().is_in_flight() {
                over.push((*at, *run));
            }
        }
        over.iter().for_each(|end| {
            self.ends.remove(end);
        });
    }

    fn behaviour(&self, name: &str) -> &Behaviour {
        self.story.behaviours.get(name).unwrap_or(&self.story.behaviour)
    }

    async fn outcome(&self, run: RunKey) -> Outcome {
        let name = self.stage.run(run).await.schedule_name;
        let behaviour = self.behaviour(&name);
        let number = self.numbers.get(&run).copied().unwrap_or_default();
        match behaviour.how {
            _ if !behaviour.failing.hits(number) => Outcome::Succeeded,
            How::Launch => Outcome::LaunchFailed { error: "the target cannot be reached".to_owned() },
            _ => Outcome::Exited { code: 1 },
        }
    }
}

/// A ledger entry without its numbers, which depend on who was first.
fn line(run: &Run) -> String {
    let status = match run.state.status() {
        status if status.is_in_flight() => "in flight".to_owned(),
        status => status.to_string(),
    };
    let reason = run.state.reason().map(punctual_plan::Reason::code).unwrap_or_default();
    format!("{} {} {status} {reason}", run.scheduled_for, run.origin)
}

/// Tells a story; gives what the store and the simulation do not agree on.
async fn differences<B: Backend>(backend: &B, seed: u64) -> Vec<String> {
    let story = any_story(seed);
    let stage = Stage::open(backend).await;
    for member in &story.schedules {
        stage.create(member.schedule.clone(), story.from).await;
    }
    let mut told = Told {
        stage: &stage,
        story: &story,
        now: story.from,
        ends: BTreeSet::new(),
        launches: BTreeMap::new(),
        numbers: BTreeMap::new(),
        edits: 0,
        outages: 0,
        down_until: None,
        in_doubt: Vec::new(),
    };
    told.tell().await;
    let mut differences = Vec::new();
    for account in &simulate(&story).accounts {
        let name = &account.schedule().name;
        let (found, expected) = (stored(&stage, name).await, simulated(account));
        let only = |of: &[String], not: &[String]| -> Vec<String> {
            of.iter().filter(|line| !not.contains(line)).cloned().collect()
        };
        let (more, less) = (only(&found, &expected), only(&expected, &found));
        if found != expected {
            differences.push(format!("story {seed}, `{name}`: stored {more:#?}, simulated {less:#?}"));
        }
    }
    let findings = stage.store.check().await.expect("answers");
    differences.extend(findings.iter().map(|finding| format!("story {seed}: {finding:?}")));
    differences
}

/// What a store has of a schedule, in lines.
async fn stored<S: Store>(stage: &Stage<S>, name: &str) -> Vec<String> {
    let rows = stage.runs(name).await;
    let row = stage.row(name).await;
    let mut lines: Vec<String> = rows.iter().map(|row| line(&row.run)).collect();
    lines.sort_unstable();
    lines.extend(stage.stretches(name).await);
    lines.push(summary(&row.state));
    lines
}

/// What a simulation has of a schedule, in the same lines.
fn simulated(account: &Account) -> Vec<String> {
    let mut lines: Vec<String> = account.runs.iter().map(line).collect();
    lines.sort_unstable();
    lines.extend(account.ranges.iter().map(|record| stretch(&record.range)));
    lines.push(summary(&account.state));
    lines
}

fn summary(state: &State) -> String {
    let finish = state.last_finish.map(|(at, status)| format!("{at} {status}"));
    format!("{} {:?} {finish:?} {:?}", state.status.name(), state.counters, state.anchors)
}

/// Whatever the story, the store's ledger is the simulated one.
pub async fn the_ledger_is_the_simulated_one<B: Backend>(backend: &B) {
    let mut all = Vec::new();
    for seed in 0..backend.stories() {
        all.extend(differences(backend, seed).await);
    }
    assert!(all.is_empty(), "{} differences: {}", all.len(), all.join("\n"));
}
