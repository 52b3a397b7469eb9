//! Connections and transactions: every statement runs inside one that names its role, its org and its time limits.
//!
//! Nothing outlives a transaction, so that a pooler may hand the connection to somebody else after each: no session
//! settings, no session locks, and, if the settings say so, no prepared statements.

use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use deadpool_postgres::{Client, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use punctual_plan::OrgKey;
use punctual_plan::rule::{Rule, holds};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

use super::hold::HOLDS_MAX;
use super::said::{failed, is_passing, is_refused_by_us, lost};
use super::tls::Address;
use crate::fail_point::{FailPoint, pass};
use crate::{Access, Error, Scope};

/// How the server is reached and how long it may take.
#[derive(Clone, Debug)]
pub struct PostgresSettings {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE`. Of several hosts
    /// (`HOST:PORT,HOST:PORT`) the first that answers is taken; with `target_session_attrs=read-write` the first that
    /// may be written to, which after a failover is the one that was promoted.
    pub url: String,
    /// Connections of this node; more than four only make the server's cores wait for each other.
    pub connections: usize,
    /// Whether statements are prepared once per connection. Off behind a pooler that does not know them.
    pub is_prepared: bool,
    /// The longest statement.
    pub statement_timeout: Duration,
    /// The longest wait for a row that another transaction holds.
    pub lock_timeout: Duration,
    /// The longest pause inside a transaction.
    pub idle_timeout: Duration,
    /// The longest pause inside a transaction of a node, for which other nodes may wait: one that was stopped in the
    /// middle of it, by a signal or with its machine, lets go of its rows when the repair sweep comes for them, long
    /// before its lease is over.
    pub pause_timeout: Duration,
    /// What is wanted of the database: whoever only visits it keeps little of it in memory.
    pub access: Access,
}

impl PostgresSettings {
    /// The usual settings for a server.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connections: 4,
            is_prepared: true,
            statement_timeout: Duration::from_secs(60),
            lock_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            pause_timeout: Duration::from_secs(1),
            access: Access::Serve,
        }
    }
}

/// How long a connection may take to come up, or a free one to be found.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What is held for its instant may stand still for so many times as long as anything else that others may wait for.
const HELD_PAUSES: u32 = 3;

/// Whose rights a transaction has, and how its statements are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The tables' owner: migrations only.
    Owner,
    /// The engine, every org.
    Engine,
    /// The engine, while other nodes may wait for what it holds.
    Brief,
    /// The engine on the hot path: every statement reaches its rows through an index from a list of keys, whatever
    /// the statistics say of a table that changed since they were taken.
    Hot,
    /// The same, for what is kept open until its instant comes.
    Held,
    /// One org.
    Org(OrgKey),
    /// One org, by statements that only insert or reach their rows from a list of keys, as on the hot path: making a plan of
    /// theirs takes longer than carrying it out.
    Keyed(OrgKey),
}

impl From<&Scope> for Role {
    fn from(scope: &Scope) -> Self {
        match scope {
            Scope::Engine => Self::Engine,
            Scope::Org { .. } if !holds(Rule::SecuredByOrg) => Self::Engine,
            Scope::Org { org, .. } => Self::Org(*org),
        }
    }
}

/// Plans that do not hang on statistics: from the list of keys into the index, row by row.
const BY_KEYS: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL enable_bitmapscan = off; SET LOCAL plan_cache_mode = force_generic_plan";

impl super::Postgres {
    /// How its hot path begins, for whoever looks at its plans.
    #[doc(hidden)]
    pub fn hot_path() -> String {
        let by_keys = if holds(Rule::PlansByKeys) { BY_KEYS } else { "" };
        format!("SET LOCAL ROLE punctual_engine; {by_keys}")
    }
}

/// The node's connections.
pub(super) struct Connections {
    pool: Pool,
    /// For what nobody waits for: it never takes a connection from those who do.
    aside: Pool,
    /// For what is held until its instant: whoever has something to do meanwhile has the others.
    held: Pool,
    pub(super) address: Address,
    settings: PostgresSettings,
}

impl Connections {
    pub(super) fn new(settings: PostgresSettings) -> Result<Self, Error> {
        let mut address: Address = settings.url.parse()?;
        address.config.connect_timeout(CONNECT_TIMEOUT).application_name("punctual");
        address.config.tcp_user_timeout(CONNECT_TIMEOUT * 3);
        let pool = |connections: usize| {
            let manager = Manager::from_config(
                address.config.clone(),
                address.connector()?,
                ManagerConfig { recycling_method: RecyclingMethod::Fast },
            );
            Pool::builder(manager)
                .max_size(connections)
                .runtime(Runtime::Tokio1)
                .wait_timeout(Some(settings.statement_timeout))
                .create_timeout(Some(CONNECT_TIMEOUT))
                .build()
                .map_err(|error| lost("setting up connections", error))
        };
        let (shared, aside, held) = (pool(settings.connections.clamp(1, 16))?, pool(1)?, pool(HOLDS_MAX)?);
        Ok(Self { pool: shared, aside, held, address, settings })
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self, role: Role, doing: &'static str) -> Result<Tx, Error> {
        let pool = if role == Role::Held { &self.held } else { &self.pool };
        self.begin_on(pool, role, doing).await
    }

    /// Begins a transaction of the engine over a connection of its own, for work that nobody waits for.
    pub(super) async fn begin_aside(&self, doing: &'static str) -> Result<Tx, Error> {
        self.begin_on(&self.aside, Role::Engine, doing).await
    }

    /// Begins a transaction with its first questions, which are sent together with the beginning. They only read: without
    /// a beginning their answers are thrown away, and nothing else would be left of them.
    pub(super) async fn begin_asking<T, F>(
        &self,
        role: Role,
        doing: &'static str,
        ask: impl Fn(Arc<Tx>) -> F,
    ) -> Result<(Tx, T), Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (tx, answer) = self.open(&self.pool, (role, doing), ask).await?;
        match answer {
            Ok(answer) => Ok((tx, answer)),
            Err(error) => tx.finish(Err(error)).await,
        }
    }

    async fn begin_on(&self, pool: &Pool, role: Role, doing: &'static str) -> Result<Tx, Error> {
        Ok(self.open(pool, (role, doing), |_| std::future::ready(())).await?.0)
    }

    async fn open<F: Future>(
        &self,
        pool: &Pool,
        (role, doing): (Role, &'static str),
        ask: impl Fn(Arc<Tx>) -> F,
    ) -> Result<(Tx, F::Output), Error> {
        let begin = self.opening(role);
        let mut last = Error::Closed;
        // A connection that died while it was idle shows it now, and nothing was asked of it yet that counts.
        for _ in 0..=self.settings.connections {
            let client = pool.get().await.map_err(|error| self.unreachable(doing, error))?;
            let tx = Arc::new(Tx { client: Some(client), doing, is_prepared: self.settings.is_prepared });
            // What is looked at first is sent first.
            let asked = ask(Arc::clone(&tx));
            let (begun, answer) = tokio::join!(biased; tx.client().batch_execute(&begin), asked);
            // Nobody who has answered holds it any more.
            let tx = Arc::into_inner(tx).ok_or(Error::Closed)?;
            match begun {
                Ok(()) => return Ok((tx, answer)),
                Err(error) => {
                    let is_dead =
                        tx.client().is_closed() || error.is_closed() || error.code().is_none_or(is_passing);
                    drop(tx);
                    last = failed(doing)(error);
                    if !is_dead {
                        break;
                    }
                }
            }
        }
        Err(last)
    }

    /// No connection could be had: the server said why, or there is no way to it.
    fn unreachable(&self, doing: &'static str, error: PoolError) -> Error {
        let has_answered = match &error {
            PoolError::Backend(said) => said.code().is_some() || is_refused_by_us(said),
            _ => false,
        };
        match lost(doing, error) {
            Error::Database { source, .. } if !has_answered => {
                Error::Unreachable { place: self.address.place(), doing, source }
            }
            other => other,
        }
    }

    /// Everything a transaction begins with, in one round trip. No statement of ours is so long that compiling it would not
    /// be the longer part.
    fn opening(&self, role: Role) -> String {
        let settings = &self.settings;
        let millis = |time: Duration| time.as_millis();
        let rights = match role {
            Role::Owner => String::new(),
            Role::Engine | Role::Brief => "SET LOCAL ROLE punctual_engine".to_owned(),
            Role::Hot | Role::Held => super::Postgres::hot_path(),
            Role::Org(OrgKey(org)) => {
                format!("SET LOCAL ROLE punctual_app; SET LOCAL punctual.org = '{org}'")
            }
            Role::Keyed(OrgKey(org)) => {
                format!("SET LOCAL ROLE punctual_app; SET LOCAL punctual.org = '{org}'; {BY_KEYS}")
            }
        };
        let pause = match role {
            Role::Brief | Role::Hot => settings.idle_timeout.min(settings.pause_timeout),
            Role::Held => settings.idle_timeout.min(settings.pause_timeout * HELD_PAUSES),
            Role::Owner | Role::Engine | Role::Org(_) | Role::Keyed(_) => settings.idle_timeout,
        };
        let begin = format!(
            "BEGIN; SET LOCAL jit = off; SET LOCAL statement_timeout = {}; SET LOCAL lock_timeout = {}; \
             SET LOCAL idle_in_transaction_session_timeout = {}; {rights}",
            millis(settings.statement_timeout),
            millis(settings.lock_timeout),
            millis(pause),
        );
        if holds(Rule::NothingOutlives) { begin } else { begin.replace("SET LOCAL", "SET") }
    }
}

/// A value that knows its type, so that no round trip is needed to ask.
pub(super) trait Arg: ToSql + Sync + Send {
    /// Its type on the server.
    fn kind(&self) -> Type;
}

macro_rules! arguments {
    ($($rust:ty = $kind:ident,)+) => {
        $(impl Arg for $rust {
            fn kind(&self) -> Type {
                Type::$kind
            }
        })+
    };
}

arguments! {
    i64 = INT8,
    Option<i64> = INT8,
    &str = TEXT,
    Option<&str> = TEXT,
    String = TEXT,
    Option<String> = TEXT,
    Vec<i64> = INT8_ARRAY,
    Option<Vec<i64>> = INT8_ARRAY,
    Vec<Option<i64>> = INT8_ARRAY,
    Vec<&str> = TEXT_ARRAY,
    Vec<Option<&str>> = TEXT_ARRAY,
    Vec<String> = TEXT_ARRAY,
    Vec<Option<String>> = TEXT_ARRAY,
}

/// A transaction. Dropped before its end, it takes its connection with it, and the server rolls back.
pub(super) struct Tx {
    client: Option<Client>,
    pub(super) doing: &'static str,
    is_prepared: bool,
}

impl Drop for Tx {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Tx {
    fn client(&self) -> &Client {
        self.client.as_ref().expect("it is taken only by those who consume the transaction")
    }

    /// Runs a statement and gives its rows.
    pub(super) async fn rows(&self, sql: &str, arguments: &[&dyn Arg]) -> Result<Vec<Row>, Error> {
        let client = self.client();
        let rows = if self.is_prepared {
            let statement = client.prepare_cached(sql).await.map_err(failed(self.doing))?;
            let plain: Vec<&(dyn ToSql + Sync)> = arguments.iter().map(|value| *value as _).collect();
            client.query(&statement, &plain).await
        } else {
            let typed: Vec<(&(dyn ToSql + Sync), Type)> =
                arguments.iter().map(|value| (*value as &(dyn ToSql + Sync), value.kind())).collect();
            client.query_typed(sql, &typed).await
        };
        rows.map_err(failed(self.doing))
    }

    /// Runs a statement that gives at most one row.
    pub(super) async fn row(&self, sql: &str, arguments: &[&dyn Arg]) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, arguments).await?.into_iter().next())
    }

    /// Runs a statement and gives how many rows it changed.
    pub(super) async fn run(&self, sql: &str, arguments: &[&dyn Arg]) -> Result<u64, Error> {
        let client = self.client();
        let count = if self.is_prepared {
            let statement = client.prepare_cached(sql).await.map_err(failed(self.doing))?;
            let plain: Vec<&(dyn ToSql + Sync)> = arguments.iter().map(|value| *value as _).collect();
            client.execute(&statement, &plain).await
        } else {
            let typed: Vec<(&(dyn ToSql + Sync), Type)> =
                arguments.iter().map(|value| (*value as &(dyn ToSql + Sync), value.kind())).collect();
            client.execute_typed(sql, &typed).await
        };
        count.map_err(failed(self.doing))
    }

    /// Runs statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.client().batch_execute(sql).await.map_err(failed(self.doing))
    }

    /// Goes on with the rights of another org.
    pub(super) async fn enter(&self, OrgKey(org): OrgKey) -> Result<(), Error> {
        self.batch(&format!("SET LOCAL punctual.org = '{org}'")).await
    }

    /// Commits. If the line breaks here, whether it happened is unknown.
    pub(super) async fn commit(mut self) -> Result<(), Error> {
        pass(FailPoint::StoreBeforeCommit);
        let answer = self.client().batch_execute("COMMIT").await;
        pass(FailPoint::StoreAfterCommit);
        match answer {
            Ok(()) => {
                // The connection goes back to the others.
                drop(self.client.take());
                Ok(())
            }
            Err(error) if error.code().is_none() => Err(Error::Unanswered { doing: self.doing }),
            Err(error) => Err(failed(self.doing)(error)),
        }
    }

    /// Undoes everything and gives the connection back.
    pub(super) async fn rollback(mut self) -> Result<(), Error> {
        self.batch("ROLLBACK").await?;
        drop(self.client.take());
        Ok(())
    }

    /// Ends a transaction that has only read. Nobody waits until the server says so: there is nothing to be lost, and
    /// whoever has the connection next is heard after it.
    pub(super) async fn over<T>(mut self, result: Result<T, Error>) -> Result<T, Error> {
        if result.is_err() {
            return self.finish(result).await;
        }
        if let Some(client) = self.client.take() {
            // There is nothing to keep.
            let end = std::pin::pin!(client.batch_execute("ROLLBACK"));
            // It is sent with the first look at it. A line that is broken shows that to whoever is next.
            let _ = end.poll(&mut Context::from_waker(Waker::noop()));
        }
        result
    }

    /// Commits a success, rolls a failure back.
    pub(super) async fn finish<T>(self, result: Result<T, Error>) -> Result<T, Error> {
        match result {
            Ok(value) => {
                self.commit().await?;
                Ok(value)
            }
            Err(error) => {
                // The failure is what is told; a connection that cannot roll back is dropped.
                self.rollback().await.ok();
                Err(error)
            }
        }
    }
}

/// A value of a row by its place.
pub(super) fn col<'a, T: FromSql<'a>>(row: &'a Row, place: usize) -> Result<T, Error> {
    row.try_get(place).map_err(|error| Error::corrupt(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty database on the server of the test command, with the schema in it.
    async fn migrated() -> PostgresSettings {
        let server = std::env::var("PUNCTUAL_TEST_POSTGRES").expect("a server, as from `with-postgres`");
        let name = format!("connection{}", std::process::id());
        let (client, line) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(line);
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let settings = PostgresSettings { connections: 1, ..PostgresSettings::new(format!("{base}/{name}")) };
        drop(super::super::Postgres::open(settings.clone()).await.unwrap());
        settings
    }

    #[tokio::test]
    async fn nothing_outlives_a_transaction_on_postgres() {
        let connections = Connections::new(migrated().await).unwrap();
        let session = async || {
            let tx = connections.begin(Role::Owner, "looking").await.unwrap();
            let settings = "SELECT current_user::text, NULLIF(current_setting('punctual.org', true), ''), \
                            current_setting('enable_seqscan')";
            let row = tx.row(settings, &[]).await.unwrap().unwrap();
            let said: (String, Option<String>, String) = (row.get(0), row.get(1), row.get(2));
            tx.rollback().await.unwrap();
            said
        };
        let before = session().await;
        for role in [Role::Hot, Role::Keyed(OrgKey(7))] {
            let tx = connections.begin(role, "writing").await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(session().await, before, "after {role:?}");
        }
    }
}
