//! Drive: moves the clock from one thing that happens to the next, as a node would wake.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_time::Anchor;

use super::account::Desk;
use super::book::{Book, ORG};
use super::outcome::{Account, Simulated};
use super::scenario::{Member, Scenario};
use crate::limit::SIMULATED_RUNS_MAX;
use crate::{Follower, OrgUse, Outcome, RunKey, RunState, ScheduleKey, When, plan_first};

/// A node, and the world around it.
pub(super) struct Drive<'a> {
    scenario: &'a Scenario,
    book: Book,
    /// How many edits and outages have begun.
    edits: usize,
    outages: usize,
    /// When the next node looks, while none runs.
    down_until: Option<Timestamp>,
    /// Runs that were in flight when the node died.
    in_doubt: Vec<RunKey>,
}

impl<'a> Drive<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let mut book = Book::new(scenario.from, scenario.pace);
        book.world.orgs.extend(scenario.limits.map(|limits| (ORG, OrgUse { limits, ..OrgUse::default() })));
        for (place, member) in scenario.schedules.iter().enumerate() {
            let key = ScheduleKey(place as i64 + 1);
            let schedule = member.schedule.clone();
            book.by_id.insert(schedule.id, place);
            if let When::Chain(chain) = &schedule.when {
                let follower = Follower { schedule: key, chain: chain.clone() };
                book.followers.entry(chain.upstream).or_default().push(follower);
            }
            let desk = Desk::new(key, schedule, scenario.from);
            book.world.schedules.insert(key, desk.standing(Vec::new()));
            book.desks.push(desk);
        }
        Self { scenario, book, edits: 0, outages: 0, down_until: None, in_doubt: Vec::new() }
    }

    pub(super) fn run(mut self) -> Simulated {
        for (desk, member) in self.scenario.schedules.iter().enumerate() {
            self.begin(desk, member);
        }
        self.book.now = self.scenario.from;
        loop {
            self.die_or_return();
            self.edit();
            if self.down_until.is_none() {
                self.work();
            }
            match self.next().filter(|next| *next <= self.scenario.to) {
                Some(_) if self.book.rows.len() > SIMULATED_RUNS_MAX => break,
                Some(next) => self.book.now = self.book.now.max(next),
                None => {
                    self.book.now = self.scenario.to;
                    break;
                }
            }
        }
        self.finish()
    }

    fn begin(&mut self, desk: usize, member: &Member) {
        self.book.desks[desk].state.status = member.status.clone();
        if !member.status.is_active() {
            self.book.desks[desk].left_at = Some(self.scenario.from);
        } else if member.starts_at_once {
            self.book.plan_with(desk, plan_first);
        } else {
            self.book.plan(desk);
        }
    }

    /// When something happens next.
    fn next(&self) -> Option<Timestamp> {
        let edit = self.scenario.edits.get(self.edits).map(|edit| edit.at);
        if self.down_until.is_some() {
            return edit.into_iter().chain(self.down_until).min();
        }
        let outage = self.scenario.outages.get(self.outages).map(|outage| outage.from);
        let book = &self.book;
        let planned = book.plans.first().map(|(at, _)| *at);
        let due = book.due.first().map(|(at, _)| *at);
        let ended = book.ends.first().map(|(at, _)| *at);
        [edit, outage, planned, due, ended].into_iter().flatten().min()
    }

    fn die_or_return(&mut self) {
        let now = self.book.now;
        if self.down_until.is_some_and(|until| until <= now) {
            self.down_until = None;
            for run in std::mem::take(&mut self.in_doubt) {
                self.book.settle(run, Outcome::InDoubt);
            }
        }
        let outage = self.scenario.outages.get(self.outages);
        if let Some(outage) = outage.filter(|outage| outage.from <= now && self.down_until.is_none()) {
            self.outages += 1;
            // One that is over already, or empty, is no outage.
            if outage.to > now {
                self.down_until = Some(outage.to);
                self.in_doubt = std::mem::take(&mut self.book.ends).into_iter().map(|(_, run)| run).collect();
            }
        }
    }

    fn edit(&mut self) {
        while let Some(edit) = self.scenario.edits.get(self.edits).filter(|edit| edit.at <= self.book.now) {
            self.edits += 1;
            if let Some(desk) = self.book.by_id.get(&edit.schedule).copied() {
                self.book.act(desk, &edit.act);
                self.launch();
            }
        }
    }

    /// Does everything that is to be done now.
    fn work(&mut self) {
        let now = self.book.now;
        loop {
            if let Some((_, run)) = self.book.ends.first().copied().filter(|(at, _)| *at <= now) {
                let outcome = self.outcome(run);
                self.book.settle(run, outcome);
            } else if let Some((_, desk)) = self.book.plans.first().copied().filter(|(at, _)| *at <= now) {
                self.book.plan(desk);
            } else if self.book.due.first().is_some_and(|(at, _)| *at <= now) {
                for desk in self.book.stretches() {
                    self.book.plan(desk);
                }
                for (run, outcome) in self.book.admit() {
                    self.book.settle(run, outcome);
                }
                self.launch();
            } else {
                return;
            }
        }
    }

    /// Starts what was admitted: from now on it takes its time.
    fn launch(&mut self) {
        let started = std::mem::take(&mut self.book.started);
        for run in started {
            let Some(row) = self.book.row(run) else { continue };
            let (desk, RunState::Running { .. }) = (row.desk, &row.run.state) else { continue };
            let desk_of = &self.book.desks[desk];
            let (schedule, number) = (desk_of.version(row.run.version), desk_of.launches);
            let behaviour = self.scenario.behaviour_of(&schedule.name);
            let takes = behaviour.takes(number, schedule.policy.run_timeout);
            let ends_at = self.book.now.saturating_add(takes).unwrap_or(Timestamp::MAX);
            if let Some(row) = self.book.row_mut(run) {
                row.ends_at = Some(ends_at);
                row.number = number;
            }
            self.book.ends.insert((ends_at, run));
            self.book.move_anchor(desk, run, Anchor::LastStart);
        }
    }

    /// How an attempt ends that has had its time.
    fn outcome(&self, run: RunKey) -> Outcome {
        let Some(row) = self.book.row(run) else { return Outcome::Lost };
        let schedule = self.book.desks[row.desk].version(row.run.version);
        let behaviour = self.scenario.behaviour_of(&schedule.name);
        if behaviour.failing.hits(row.number) {
            behaviour.how.outcome(&schedule.target.action)
        } else if behaviour.run_time > schedule.policy.run_timeout {
            Outcome::TimedOut
        } else {
            Outcome::Succeeded
        }
    }

    fn finish(self) -> Simulated {
        let book = self.book;
        let breakers: BTreeMap<_, _> =
            book.world.breakers.iter().map(|((_, target), breaker)| (target.clone(), *breaker)).collect();
        let (through, plans, log) = (book.now, book.plan_count, book.log);
        let mut runs: Vec<Vec<_>> = book.desks.iter().map(|_| Vec::new()).collect();
        for row in book.rows.into_iter().flatten() {
            runs[row.desk].push(row.run);
        }
        let accounts = book.desks.into_iter().zip(runs).map(|(desk, mut runs)| {
            runs.sort_by_key(|run| (run.scheduled_for, run.key));
            let mut ranges = desk.ranges;
            ranges.sort_by_key(|record| record.range.first);
            let armed = runs.iter().filter(|run| matches!(run.state, RunState::Scheduled { verdict: None }));
            let next_run_at = armed.map(|run| run.scheduled_for).min().or(desk.next_tick);
            Account {
                key: desk.key,
                versions: desk.versions,
                state: desk.state,
                left_at: desk.left_at,
                deleted_at: desk.deleted_at,
                runs,
                ranges,
                next_run_at,
            }
        });
        Simulated { accounts: accounts.collect(), log, breakers, through, plans }
    }
}
