//! The store's contract, call by call: what is read goes to a reader, what is written to the writer.

use jiff::Timestamp;
use punctual_plan::{Event, Fence, OrgKey, RunKey, ScheduleId, ScheduleKey};

use super::connection::Db;
use super::job::Weight;
use super::{
    Sqlite, admit, audit, batch, breakers, documents, due, invalid, live, node, outbox, plan, queue, runs,
    schedules, settle, sheet, uncounted, whole, write,
};
use crate::*;

impl Store for Sqlite {
    async fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.clock.now())
    }

    async fn decidable(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<PlannableBatch, Error> {
        self.reader.run(move |db| plan::decidable(db, now, &schedules)).await
    }

    async fn plannable(&self, ask: Ask) -> Result<PlannableBatch, Error> {
        let of_now = ask.clone();
        let found = self.reader.run_beside_sheets(move |db| plan::plannable(db, &of_now)).await?;
        // A row that looks late may have been started: then it is on a sheet.
        if found.ready.iter().all(|one| one.late.is_empty()) {
            return Ok(found);
        }
        self.reader.run(move |db| plan::plannable(db, &ask)).await
    }

    async fn commit_plans(&self, batch: Batch, plans: Vec<PlanCommit>) -> Result<Vec<Commit>, Error> {
        if !plans.iter().all(PlanCommit::is_plain) {
            return self.writer.run(move |db| plan::commit(db, batch, &plans)).await;
        }
        // Ticks to come are rows of their own, whatever has been started meanwhile, and no verdict hangs on them that is made
        // now.
        let is_quiet = plans.iter().all(|one| one.is_quiet(batch.now));
        let weight = if is_quiet { Weight::Quiet } else { Weight::Stirring };
        self.writer.run_beside_sheets(weight, move |db| plan::commit(db, batch, &plans)).await
    }

    async fn due(&self, ask: Ask) -> Result<DueBatch, Error> {
        if self.reader.is_beside_many_starts() {
            let asked = ask.clone();
            let found = self.reader.run_beside_sheets(move |db| due::beside_sheets(db, &asked)).await?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
        self.reader.run(move |db| due::due(db, &ask)).await
    }

    async fn admit(&self, batch: Batch, admissions: Vec<AdmitCommit>) -> Result<Vec<Commit>, Error> {
        let verdicts = admit::Verdicts::new(admissions);
        let is_for_a_sheet = verdicts.are_for_a_sheet();
        let admit = move |db: &Db| admit::admit(db, batch, &verdicts);
        // Such starts look themselves whether one of their schedules is on a sheet.
        match is_for_a_sheet {
            true => self.writer.run_beside_sheets(Weight::Stirring, admit).await,
            false => self.writer.run(admit).await,
        }
    }

    async fn moment(&self) -> Option<Moment> {
        Some(self.writer.stirred().moment())
    }

    async fn admit_ahead(&self, batch: Batch, ahead: Ahead) -> Result<Option<Vec<Commit>>, Error> {
        let stirred = self.writer.stirred().clone();
        // Plain starts need no row to be as it is, and concern no verdict but those over their own schedules.
        let is_plain = ahead.is_plain() && ahead.admissions.len() >= sheet::STARTS_MIN;
        let admit = move |db: &Db| match stirred.holds(ahead.moment, &ahead.schedules) {
            true => admit::admit_ahead(db, batch, &ahead).map(Some),
            false => batch::answered(db, batch),
        };
        match is_plain {
            true => self.writer.run_beside_sheets(Weight::Ending, admit).await,
            false => self.writer.run(admit).await,
        }
    }

    async fn mark_running(&self, batch: Batch, started: Vec<Started>) -> Result<Vec<Commit>, Error> {
        self.writer.run_quietly(move |db| settle::mark_running(db, batch, &started)).await
    }

    async fn settle(&self, batch: Batch, reports: Vec<Report>) -> Result<Vec<Settled>, Error> {
        let settle = move |db: &Db| settle::settle(db, batch, &reports);
        self.writer.run_beside_sheets(Weight::Ending, settle).await
    }

    async fn join(&self, node: Node) -> Result<Joined, Error> {
        self.writer.run(move |db| node::join(db, &node)).await
    }

    async fn heartbeat(&self, alive: Alive) -> Result<Heartbeat, Error> {
        self.writer.run_apart(move |db| node::heartbeat(db, alive)).await
    }

    async fn hand_back(&self, attempts: Vec<Attempt>) -> Result<(), Error> {
        self.writer.run(move |db| node::hand_back(db, &attempts)).await
    }

    async fn leave(&self, fence: Fence) -> Result<(), Error> {
        self.writer.run(move |db| node::leave(db, fence)).await
    }

    async fn take_over(&self, fence: Fence, limit: usize) -> Result<Vec<Orphan>, Error> {
        self.writer.run(move |db| node::take_over(db, fence, limit)).await
    }

    async fn changed(&self) {
        self.writer.changed().await;
    }

    async fn sequence_outbox(&self) -> Result<u64, Error> {
        self.writer.run_apart(outbox::sequence).await
    }

    async fn outbox(&self, scope: Scope, after: i64, limit: usize) -> Result<Vec<OutboxRow>, Error> {
        self.lister.run(move |db| outbox::list(db, &scope, after, limit)).await
    }

    async fn acknowledge_outbox(&self, scope: Scope, through: i64) -> Result<u64, Error> {
        self.writer.run_apart(move |db| outbox::acknowledge(db, &scope, through)).await
    }

    async fn seal_audit(&self, limit: usize) -> Result<Vec<SealedThrough>, Error> {
        self.writer.run_apart(move |db| audit::seal(db, limit)).await
    }

    async fn retain(&self, retention: Retention, now: Timestamp) -> Result<Retained, Error> {
        self.retain_step(retention, now).await
    }

    async fn pause_invalid(&self, now: Timestamp, schedules: Vec<ScheduleKey>) -> Result<usize, Error> {
        self.writer.run(move |db| invalid::pause(db, now, &schedules)).await
    }

    async fn ended(&self, attempts: Vec<Attempt>) -> Result<Vec<RunKey>, Error> {
        self.reader.run(move |db| live::ended(db, &attempts)).await
    }

    async fn note(&self, at: Timestamp, event: Event) -> Result<(), Error> {
        self.writer.run_apart(move |db| write::note(db, at, &event)).await
    }

    async fn note_output(&self, fence: Fence, shown: Vec<Shown>) -> Result<(), Error> {
        self.writer.run_quietly(move |db| live::note_output(db, fence, &shown)).await
    }

    async fn lease(&self, scope: Scope, worker: Worker) -> Result<Vec<Leased>, Error> {
        self.writer.run(move |db| queue::lease(db, &scope, &worker)).await
    }

    async fn extend_lease(&self, scope: Scope, held: Held) -> Result<Commit, Error> {
        self.writer.run(move |db| queue::extend(db, &scope, &held)).await
    }

    async fn entrust(&self, fence: Fence, entrusted: Entrusted) -> Result<Commit, Error> {
        self.writer.run(move |db| queue::entrust(db, fence, &entrusted)).await
    }

    async fn begin(&self, scope: Scope, begun: Begun) -> Result<Commit, Error> {
        self.writer.run(move |db| queue::begin(db, &scope, &begun)).await
    }

    async fn org(&self, scope: Scope, org_id: String) -> Result<OrgKey, Error> {
        if let Some(known) = self.orgs.find(&scope, &org_id) {
            return Ok(known);
        }
        let id = org_id.clone();
        let org = self.writer.run(move |db| write::org(db, &scope, &id)).await?;
        self.orgs.keep(org_id, org);
        Ok(org)
    }

    async fn write_schedules(
        &self,
        scope: Scope,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Result<Written, Error>>, Error> {
        self.write_all(scope, writes).await
    }

    async fn replan(
        &self,
        fence: Fence,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Option<Vec<Result<Written, Error>>>, Error> {
        self.replan_all(fence, writes).await
    }

    async fn schedule(&self, scope: Scope, selector: Selector) -> Result<Option<ScheduleRow>, Error> {
        self.lister.run(move |db| schedules::find(db, &scope, &selector)).await
    }

    async fn open_rows(&self, scope: Scope, schedule: ScheduleKey) -> Result<Vec<OpenRow>, Error> {
        self.lister.run(move |db| schedules::open_rows(db, &scope, schedule)).await
    }

    async fn schedules(
        &self,
        scope: Scope,
        filter: ScheduleFilter,
        cut: Cut,
    ) -> Result<Listed<ScheduleRow>, Error> {
        self.lister.run(move |db| schedules::list(db, &scope, &filter, &cut)).await
    }

    async fn names(&self, scope: Scope, cut: Cut) -> Result<Listed<NameRow>, Error> {
        self.lister.run(move |db| schedules::names(db, &scope, &cut)).await
    }

    async fn versions(&self, scope: Scope, schedule: ScheduleId) -> Result<Vec<VersionRow>, Error> {
        self.lister.run(move |db| schedules::versions(db, &scope, schedule)).await
    }

    async fn users_of(&self, scope: Scope, kind: UseKind, name: String) -> Result<Vec<ScheduleKey>, Error> {
        self.lister.run(move |db| schedules::users_of(db, &scope, kind, &name)).await
    }

    async fn runs(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RunRow>, Error> {
        self.lister.run(move |db| runs::list(db, &scope, &filter, &cut)).await
    }

    async fn run(&self, scope: Scope, run: RunKey) -> Result<Option<RunRow>, Error> {
        self.lister.run(move |db| runs::find(db, &scope, run)).await
    }

    async fn ranges(&self, scope: Scope, filter: RunFilter, cut: Cut) -> Result<Listed<RangeRow>, Error> {
        self.lister.run(move |db| runs::ranges(db, &scope, &filter, &cut)).await
    }

    async fn audit(&self, scope: Scope, filter: AuditFilter, cut: Cut) -> Result<Listed<AuditRow>, Error> {
        self.lister.run(move |db| audit::list(db, &scope, &filter, &cut)).await
    }

    async fn verify_audit(&self, scope: Scope) -> Result<Chain, Error> {
        self.lister.run(move |db| audit::verify(db, &scope)).await
    }

    async fn put_document(&self, scope: Scope, document: NewDocument) -> Result<Document, Error> {
        self.writer.run(move |db| documents::put(db, &scope, &document)).await
    }

    async fn document(
        &self,
        scope: Scope,
        kind: DocumentKind,
        name: String,
    ) -> Result<Option<Document>, Error> {
        self.lister.run(move |db| documents::find(db, &scope, kind, &name)).await
    }

    async fn documents(&self, scope: Scope, kind: DocumentKind, cut: Cut) -> Result<Listed<Document>, Error> {
        self.lister.run(move |db| documents::list(db, &scope, kind, &cut)).await
    }

    async fn documents_of(&self, wanted: Vec<Shelf>, limit: u32) -> Result<Vec<Vec<Document>>, Error> {
        let read = move |db: &Db| {
            let list = |Shelf { scope, kind }: &Shelf| {
                documents::list(db, scope, *kind, &Cut::first(limit)).map(|listed| listed.rows)
            };
            wanted.iter().map(list).collect()
        };
        self.lister.run(read).await
    }

    async fn remove_document(&self, scope: Scope, kind: DocumentKind, name: String) -> Result<bool, Error> {
        self.writer.run(move |db| documents::remove(db, &scope, kind, &name)).await
    }

    async fn put_token(&self, scope: Scope, token: Token) -> Result<(), Error> {
        self.writer.run(move |db| documents::put_token(db, &scope, &token)).await
    }

    async fn token(&self, hash: String) -> Result<Option<(OrgKey, Token)>, Error> {
        self.reader.run(move |db| documents::token_by_hash(db, &hash)).await
    }

    async fn tokens(&self, scope: Scope) -> Result<Vec<Token>, Error> {
        self.lister.run(move |db| documents::tokens(db, &scope)).await
    }

    async fn answer_once(&self, scope: Scope, answer: Answer) -> Result<Answered, Error> {
        self.writer.run(move |db| documents::answer_once(db, &scope, &answer)).await
    }

    async fn breakers(&self, scope: Scope) -> Result<Vec<BreakerRow>, Error> {
        self.lister.run(move |db| breakers::list(db, &scope)).await
    }

    async fn transitions(
        &self,
        scope: Scope,
        target: String,
        limit: u32,
    ) -> Result<Vec<TransitionRow>, Error> {
        self.lister.run(move |db| breakers::transitions(db, &scope, &target, limit)).await
    }

    async fn reset_breaker(&self, scope: Scope, target: String, now: Timestamp) -> Result<bool, Error> {
        self.writer.run(move |db| breakers::reset(db, &scope, &target, now)).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        self.lister.run(node::nodes).await
    }

    async fn living(&self, scope: Scope) -> Result<u64, Error> {
        self.lister.run(move |db| schedules::living(db, &scope)).await
    }

    async fn unplanned(&self, scope: Scope, now: Timestamp) -> Result<u64, Error> {
        self.lister.run(move |db| plan::unplanned(db, &scope, now)).await
    }

    async fn cancel_runs(&self, scope: Scope, cancellation: Cancellation) -> Result<Vec<Commit>, Error> {
        self.writer.run(move |db| live::cancel_runs(db, &scope, &cancellation)).await
    }

    async fn status(&self) -> Result<DatabaseStatus, Error> {
        let place = self.path().display().to_string();
        self.lister.run(move |db| whole::status(db, place)).await
    }

    async fn check(&self) -> Result<Vec<Finding>, Error> {
        self.check_all().await
    }

    async fn read_table(
        &self,
        table: Table,
        after: Option<Vec<Cell>>,
        limit: usize,
    ) -> Result<Vec<Vec<Cell>>, Error> {
        if table == Table::ScheduleState {
            let from = after.clone();
            self.writer.run(move |db| uncounted::count_page(db, from.as_deref(), limit)).await?;
        }
        self.lister.run(move |db| whole::read_table(db, table, after.as_deref(), limit)).await
    }

    async fn write_table(&self, table: Table, rows: Vec<Vec<Cell>>) -> Result<(), Error> {
        self.writer.run(move |db| whole::write_table(db, table, &rows)).await
    }
}
