//! The work of a node under faults: each call is repeated, under its batch id, until it is answered.

use jiff::{SignedDuration, Timestamp, ToSpan as _};
use punctual_plan::{Fence, OrgKey, Outcome, RunKey, Window, plan};
use punctual_store::{
    Ask, AttemptToken, Batch, Commit, Error, Node, PlanCommit, Postgres, Report, RunFilter, Scope, Store,
    Written,
};

use crate::ground::{at, batch, create, cron, node};

/// A node that works on, whatever happens.
pub(crate) struct Shift {
    pub(crate) store: Postgres,
    pub(crate) org: OrgKey,
    pub(crate) fence: Fence,
    /// Errors on the way, all of them passing.
    pub(crate) faults: Vec<String>,
    /// Runs whose success was acknowledged.
    pub(crate) acknowledged: Vec<RunKey>,
    pub(crate) now: Timestamp,
    /// How often it had to join again.
    pub(crate) joins: usize,
}

impl Shift {
    /// Joins with a schedule that ticks each minute.
    pub(crate) async fn begin(store: Postgres) -> Self {
        let now = at("2026-03-01T10:00:00Z");
        let org = store.org(Scope::Engine, "acme".to_owned()).await.expect("the ground of the test holds");
        let fence = store.join(shift_node(0)).await.expect("the ground of the test holds").fence;
        let write = create(cron("one", "* * * * *"), now);
        let written =
            store.write_schedules(Scope::org(org), vec![write]).await.expect("the ground of the test holds");
        assert!(matches!(written[0], Ok(Written::Schedule(_))), "{written:?}");
        Self { store, org, fence, faults: Vec::new(), acknowledged: Vec::new(), now, joins: 0 }
    }

    /// One minute: plans, admits and settles its tick.
    pub(crate) async fn minute(&mut self) {
        self.now += 1.minute();
        self.plan().await;
        let admitted = self.admit().await;
        self.settle(admitted).await;
    }

    /// Admits what is due; gives what is in flight then.
    pub(crate) async fn admit(&mut self) -> Vec<RunKey> {
        let now = self.now;
        let mut id = batch(self.fence, now);
        loop {
            let error = match judged(&self.store, now).await {
                // An admission that was committed and not answered left its run in flight.
                Ok(judged) if judged.is_empty() => return self.in_flight().await,
                Ok(judged) => {
                    let runs: Vec<RunKey> = judged.iter().map(|commit| commit.admission.run).collect();
                    match self.store.admit(id, judged).await {
                        Ok(commits) => {
                            assert!(commits.iter().all(|commit| *commit == Commit::Done), "{commits:?}");
                            return runs;
                        }
                        // Whether it happened is unknown: the runs are asked for, whatever it was.
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            id = self.note(&error, id).await;
        }
    }

    /// Reports that runs have done their work.
    pub(crate) async fn settle(&mut self, admitted: Vec<RunKey>) {
        let now = self.now;
        let mut id = batch(self.fence, now);
        loop {
            let reports = admitted.iter().map(|run| succeeded(*run, self.fence, now)).collect();
            match self.store.settle(id, reports).await {
                Ok(settled) => {
                    assert!(settled.iter().all(|one| one.commit == Commit::Done), "{settled:?}");
                    self.acknowledged.extend(admitted);
                    return;
                }
                Err(error) => id = self.note(&error, id).await,
            }
        }
    }

    /// Plans what comes near.
    pub(crate) async fn plan(&mut self) {
        let now = self.now;
        let mut id = batch(self.fence, now);
        loop {
            let done = async {
                let ready = self.store.plannable(Ask::all(now)).await?.ready;
                let plans = ready.iter().map(|one| PlanCommit {
                    schedule: one.schedule,
                    org: one.org,
                    definition: std::sync::Arc::clone(&one.definition),
                    from: one.cursor,
                    plan: plan(&one.subject(None), Window::at(now)),
                });
                self.store.commit_plans(id, plans.collect()).await
            };
            match done.await {
                Ok(_) => return,
                Err(error) => id = self.note(&error, id).await,
            }
        }
    }

    /// What is in flight.
    pub(crate) async fn in_flight(&mut self) -> Vec<RunKey> {
        loop {
            let cut = punctual_store::Cut::first(1_000);
            match self.store.runs(Scope::org(self.org), RunFilter::default(), cut).await {
                Ok(listed) => {
                    let runs = listed.rows.into_iter().map(|row| row.run);
                    return runs.filter(|run| run.state.status().is_in_flight()).map(|run| run.key).collect();
                }
                Err(error) => self.pass(&error),
            }
        }
    }

    /// What to do after an error on the way: the same again, or the same under another lease if this one is over.
    async fn note(&mut self, error: &Error, id: Batch) -> Batch {
        if !matches!(error, Error::LeaseLost) {
            self.pass(error);
            return id;
        }
        self.join_again().await;
        batch(self.fence, self.now)
    }

    /// An error on the way must be one that passes.
    fn pass(&mut self, error: &Error) {
        assert!(error.is_transient(), "{error}");
        self.faults.push(error.to_string());
    }

    /// A lease ends by itself when the server is away for long, or the machine is slow: the node takes another one, and
    /// takes up what it had in flight under the one before.
    async fn join_again(&mut self) {
        self.joins += 1;
        loop {
            let joined = async {
                let fence = self.store.join(shift_node(self.joins)).await?.fence;
                self.store.take_over(fence, 1_000).await?;
                Ok::<Fence, Error>(fence)
            };
            match joined.await {
                Ok(fence) => {
                    assert!(fence > self.fence, "{fence:?} after {:?}", self.fence);
                    self.fence = fence;
                    return;
                }
                Err(Error::LeaseLost) => {}
                Err(error) => self.pass(&error),
            }
            self.joins += 1;
        }
    }

    /// Everything acknowledged is there, once, and the tables agree.
    pub(crate) async fn judge(&self) {
        let cut = punctual_store::Cut::first(1_000);
        let rows = self
            .store
            .runs(Scope::org(self.org), RunFilter::default(), cut)
            .await
            .expect("the ground of the test holds")
            .rows;
        let good: Vec<RunKey> = rows
            .iter()
            .filter(|row| row.run.state.status() == punctual_plan::RunStatus::Success)
            .map(|row| row.run.key)
            .collect();
        let mut expected = self.acknowledged.clone();
        expected.reverse();
        assert_eq!(good, expected, "newest first; {:?}", self.faults);
        assert_eq!(self.store.check().await.expect("the ground of the test holds"), []);
    }
}

/// The node under its lease of so many: one that ends as soon as a real one does.
fn shift_node(joins: usize) -> Node {
    Node { lease: SignedDuration::from_secs(3), ..node(&format!("shift {joins}")) }
}

/// Judges everything that is due.
pub(crate) async fn judged(
    store: &Postgres,
    now: Timestamp,
) -> Result<Vec<punctual_store::AdmitCommit>, Error> {
    let mut due = store.due(Ask::all(now)).await?;
    let rows: Vec<_> = due.rows.iter().map(|row| row.due.clone()).collect();
    let admissions = punctual_plan::admit(&rows, &mut due.world);
    let commit = |(admission, row)| punctual_store::AdmitCommit { admission, row };
    Ok(admissions.into_iter().zip(due.rows).map(commit).collect())
}

/// A run of ours that did its work.
pub(crate) fn succeeded(run: RunKey, fence: Fence, at: Timestamp) -> Report {
    Report {
        run,
        attempt: 1,
        token: AttemptToken::Node(fence),
        outcome: Outcome::Succeeded,
        started_at: Some(at),
        at,
        output: None,
    }
}
