//! `create` and `update`: the flags become keys, the keys a definition.

use std::path::PathBuf;

use clap::Args;
use punctual::{App, Failure, Listing, Request};
use punctual_store::ScheduleRow;
use serde_json::{Value, json};

use super::change::{Change, carry_out};
use super::fields::{Fields, TOLD};
use super::which::Whose;
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
    /// Make it, but let it not fire until it is enabled
    #[arg(long)]
    disabled: bool,
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
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        match &self.file {
            Some(file) => self.create_all(file, app, output).await?,
            None => self.create_one(app, output).await?,
        }
        if !self.dry_run && !app.is_served().await? {
            note("nobody runs the schedules of this database yet; start `punctual serve`");
        }
        Ok(())
    }

    async fn create_one(&self, app: &App, output: &Output) -> Result<(), Failure> {
        let mut keys = self.fields.keys()?;
        keys.insert("name".to_owned(), json!(self.name));
        if !self.tag.is_empty() {
            let had = keys.get("tags").and_then(Value::as_array).cloned().unwrap_or_default();
            let all: Vec<Value> = had.into_iter().chain(self.tag.iter().map(|tag| json!(tag))).collect();
            keys.insert("tags".to_owned(), Value::from(all));
        }
        if self.disabled {
            keys.insert("enabled".to_owned(), json!(false));
        }
        if !keys.contains_key("target") && !keys.contains_key("template") {
            return Err(Failure::invalid(
                "it is not said where its runs go",
                "write a program after `--`, such as `-- echo hello`, or give `--queue` or `--worker-type`",
            ));
        }
        let drafted = app.draft(&keys, TOLD).await?;
        for assumed in &drafted.assumed {
            note(assumed);
        }
        if self.dry_run {
            app.refuse_taken(&drafted.definition.name).await?;
            return schedules::would_create(output, &drafted, app.now().await?);
        }
        let question = Value::Object(keys).to_string();
        let request = self.request_key.clone().map(|key| Request { key, question });
        let created = app.create(&drafted, request.as_ref()).await?;
        schedules::created(output, &created)
    }

    async fn create_all(&self, file: &std::path::Path, app: &App, output: &Output) -> Result<(), Failure> {
        if !self.fields.is_empty() || self.disabled || !self.tag.is_empty() || self.request_key.is_some() {
            return Err(Failure::invalid(
                "a file says everything about its schedules",
                "give `--file` alone, with `--name` to choose one of them, or write the keys into the file",
            ));
        }
        let reading = Progress::of("schedules read");
        let mut declared = app.draft_file(file, &|read| reading.of_many(read.done, read.total)).await?;
        reading.end();
        if let Some(name) = &self.name {
            let place = declared.place(name)?;
            declared.schedules = vec![declared.schedules.swap_remove(place)];
        }
        if self.dry_run {
            let now = app.now().await?;
            return schedules::would_create_many(output, &declared.schedules, now);
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
    /// Show what would change and the next ticks before and after, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Update {
    pub(super) async fn run(self, app: &App, output: &Output) -> Result<(), Failure> {
        if self.fields.is_empty() && self.new_name.is_none() {
            return Err(Failure::invalid(
                "nothing is to be changed",
                "give the flags of what shall be different; `punctual schedule update --help` lists them",
            ));
        }
        let change = Change { verb: "updated", would: "update", is_dry: self.dry_run };
        let decide = async |row: &ScheduleRow| {
            let keys = app.export(row).await?;
            let mut patch = self.fields.patch(keys.get("target"))?;
            if let Some(name) = &self.new_name {
                patch.set("name", json!(name));
                if *name != row.definition.name {
                    app.refuse_taken(name).await?;
                }
            }
            app.redraft(row, &patch, TOLD).await
        };
        carry_out(app, output, (&self.whose, change), decide).await
    }
}
