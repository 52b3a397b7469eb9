//! `create` and `update`: the flags become keys, the keys a definition.

use std::path::{Path, PathBuf};

use clap::Args;
use punctual::ask::{CreateFiles, Draft, DraftFiles, Files, Flag, Get, Question, Verb};
use punctual::shape::Drafted;
use punctual::{App, Failure, Listing, ask, declare};
use punctual_server::BODY_BYTES_MAX;
use serde_json::{Value, json};

use super::change::{Words, carry_out};
use super::fields::Fields;
use super::toggle::ToggleFlags;
use super::which::{Meant, Whose};
use crate::cli::door::Door;
use crate::output::{Output, Progress, note, schedules};

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name, unique among your schedules
    #[arg(long, required_unless_present = "file")]
    name: Option<String>,
    #[command(flatten)]
    fields: Fields,
    /// A word to choose it by with others; may be repeated
    #[arg(long, help_heading = "Fields")]
    tag: Vec<String>,
    #[command(flatten)]
    toggle: ToggleFlags,
    /// Make the schedules of a YAML file, or the one that --name names
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A key of your own: the same request with the same key makes nothing twice
    #[arg(long, value_name = "KEY")]
    request_key: Option<String>,
    /// Check everything and show the first ticks, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Create {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        match &self.file {
            Some(file) => self.create_all(file, door, output).await?,
            None => self.create_one(door, output).await?,
        }
        if !self.dry_run && !door.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }

    async fn create_one(&self, door: &Door, output: &Output) -> Result<(), Failure> {
        let mut keys = self.fields.keys()?;
        keys.insert("name".to_owned(), json!(self.name));
        if !self.tag.is_empty() {
            let had = keys.get("tags").and_then(Value::as_array).cloned().unwrap_or_default();
            let all: Vec<Value> = had.into_iter().chain(self.tag.iter().map(|tag| json!(tag))).collect();
            keys.insert("tags".to_owned(), Value::from(all));
        }
        if let Some(is_enabled) = self.toggle.key() {
            keys.insert("enabled".to_owned(), json!(is_enabled));
        }
        if !keys.contains_key("target") && !keys.contains_key("template") {
            return Err(Failure::invalid(
                "it is not said where its runs go",
                "write a program after `--`, such as `-- echo hello`, or give `--queue` or `--worker-type`",
            ));
        }
        if self.dry_run {
            let would = door.ask(&Draft { keys }).await?;
            self.fields.warn_of_shell();
            would.assumed.iter().for_each(|assumed| note(assumed));
            return schedules::would_create(output, &would);
        }
        let created = door.ask(&ask::Create { keys, request_key: self.request_key.clone() }).await?;
        self.fields.warn_of_shell();
        created.assumed.iter().for_each(|assumed| note(assumed));
        schedules::created(output, created)
    }

    async fn create_all(&self, file: &Path, door: &Door, output: &Output) -> Result<(), Failure> {
        if !self.fields.is_empty()
            || self.toggle.key().is_some()
            || !self.tag.is_empty()
            || self.request_key.is_some()
        {
            return Err(Failure::invalid(
                "a file says everything about its schedules",
                "give `--file` alone, with `--name` to choose one of them, or write the keys into the file",
            ));
        }
        if let Door::Open(app) = door {
            return self.create_here(file, app, output).await;
        }
        let (texts, name) = (declare::load(file)?, self.name.clone());
        let files = CreateFiles(Files { texts, name });
        match (files.call().body.map_or(0, |body| body.to_string().len()), door) {
            (bytes, Door::Server(_)) if bytes > BODY_BYTES_MAX => Err(Failure::invalid(
                format!("the file makes a request of {bytes} bytes, and a server takes {BODY_BYTES_MAX}"),
                "make it on the host of the server, with its `--database`, or split the file",
            )),
            // A file that no request holds is read here, beside the server.
            (bytes, _) if bytes > BODY_BYTES_MAX => self.create_here(file, &door.app().await?, output).await,
            _ if self.dry_run => {
                let would = door.ask(&DraftFiles(files.0)).await?;
                schedules::would_create_many(output, would.schedules.into_iter())
            }
            _ => schedules::made_elsewhere(output, &door.ask(&files).await?),
        }
    }

    async fn create_here(&self, file: &Path, app: &App, output: &Output) -> Result<(), Failure> {
        let reading = Progress::of("schedules read");
        let declared = app.draft_file(file, &|read| reading.of_many(read.done, read.total)).await?;
        reading.end();
        let declared = declared.only(self.name.as_deref())?;
        if self.dry_run {
            let now = app.now().await?;
            let would = declared.schedules.iter().map(|one| Drafted::of(one, now));
            return schedules::would_create_many(output, would);
        }
        let progress = Progress::new("schedules", declared.schedules.len());
        let made = app.create_file(&declared, &|done| progress.at(done)).await;
        progress.end();
        made?;
        let ids = declared.schedules.iter().map(|one| one.definition.id).collect();
        schedules::created_many(output, app.pages(&Listing::default()), &ids).await
    }
}

#[derive(Debug, Args)]
pub(crate) struct Update {
    #[command(flatten)]
    whose: Whose,
    /// Another name
    #[arg(long, value_name = "NAME")]
    new_name: Option<String>,
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    toggle: ToggleFlags,
    /// Show what would change and the next ticks before and after, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Update {
    pub(super) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        if self.fields.is_empty() && self.new_name.is_none() && self.toggle.key().is_none() {
            return Err(Failure::invalid(
                "nothing is to be changed",
                "give the flags of what shall be different; `punctual schedule update --help` lists them",
            ));
        }
        let words = Words { verb: "updated", would: "update", is_dry: self.dry_run };
        let meant = self.whose.meant();
        // What the flags of a target mean depends on the target before; of many, each has its own.
        let had = match (&meant, self.fields.has_target()) {
            (Meant::One(which), true) => {
                let whole = door.ask(&Get { which: which.clone(), aside: Flag::Yes }).await?;
                whole.keys.and_then(|mut keys| keys.shift_remove("target"))
            }
            _ => Some(Value::Null),
        };
        let mut keys = self.fields.patch(had.as_ref())?.keys();
        if let Some(name) = &self.new_name {
            keys.insert("name".to_owned(), json!(name));
        }
        if let Some(is_enabled) = self.toggle.key() {
            keys.insert("enabled".to_owned(), json!(is_enabled));
        }
        carry_out(door, output, (meant, words), Verb::Update(keys)).await
    }
}
