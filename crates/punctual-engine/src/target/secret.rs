//! References become values at launch, on the node that launches; the values are remembered only to be hidden.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use punctual_plan::{Piece, Reference, Template};
use punctual_store::{DocumentKind, Launchable, Scope, Store};

use super::process::Variables;
use super::vault::{Label, SECRET_BYTES_MAX, Vault};

/// Where references are looked up.
#[derive(Debug)]
pub(crate) struct Secrets<S> {
    store: Arc<S>,
    vault: Vault,
}

impl<S: Store> Secrets<S> {
    pub(crate) fn new(store: Arc<S>, vault: Vault) -> Self {
        Self { store, vault }
    }

    /// Fills in every value for a run.
    ///
    /// # Errors
    /// When something is not there, with its reference and never a value.
    pub(crate) async fn fill(
        &self,
        run: &Launchable,
        values: &BTreeMap<String, String>,
    ) -> Result<Variables, String> {
        let mut filled = Variables::default();
        for (name, text) in values {
            let template = Template::parse(text).map_err(|error| error.to_string())?;
            let mut value = String::new();
            for piece in template.0 {
                match piece {
                    Piece::Text(text) => value.push_str(&text),
                    Piece::Reference(reference) => {
                        let found = self.resolve(run, &reference).await?;
                        value.push_str(&found);
                        filled.hidden.push(found);
                    }
                }
            }
            filled.values.insert(name.clone(), value);
        }
        Ok(filled)
    }

    /// The store that holds them.
    pub(crate) fn store(&self) -> &S {
        &self.store
    }

    /// What a reference stands for.
    ///
    /// # Errors
    /// When it is not there, with the reference and never a value.
    pub(crate) async fn resolve(&self, run: &Launchable, reference: &Reference) -> Result<String, String> {
        let found = self.look_up(run, reference).await;
        found.map_err(|why| format!("cannot resolve `{reference}`: {why}"))
    }

    async fn look_up(&self, run: &Launchable, reference: &Reference) -> Result<String, String> {
        match reference {
            Reference::Secret(name) => self.secret(run, name).await,
            Reference::Env(name) => match std::env::var(name) {
                Ok(value) => Ok(value),
                Err(std::env::VarError::NotPresent) => {
                    Err("the environment of this node has no such variable".to_owned())
                }
                Err(std::env::VarError::NotUnicode(_)) => Err("it is not text".to_owned()),
            },
            Reference::File(path) => read(Path::new(path)),
        }
    }

    async fn secret(&self, run: &Launchable, name: &str) -> Result<String, String> {
        let (scope, org_id) = (Scope::org(run.org), &run.definition.owner.org_id);
        let found = self.store.document(scope, DocumentKind::Secret, name.to_owned()).await;
        let found = found.map_err(|error| error.to_string())?;
        let document = found.ok_or_else(|| format!("there is no secret `{name}`"))?;
        self.vault.open(Label { org_id, name }, &document.body).map_err(|error| error.to_string())
    }
}

/// The content of a file without the end of its last line.
fn read(path: &Path) -> Result<String, String> {
    if !path.is_absolute() {
        return Err("the path is not absolute".to_owned());
    }
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        // A pipe or a device could keep the launch waiting for ever.
        return Err("it is not a regular file".to_owned());
    }
    if about.len() > SECRET_BYTES_MAX as u64 {
        return Err(format!("it has {} bytes, and at most {SECRET_BYTES_MAX} fit", about.len()));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}
