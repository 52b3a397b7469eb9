//! Completions that know the names of schedules: a hidden command that the generated scripts ask.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use punctual::ask::List;
use punctual::{Failure, Listing};

use super::door::Door;
use crate::output::Output;

/// Names that are offered; whoever has more types a letter more.
const OFFERED_MAX: usize = 1_000;

/// What is asked after `--name` in bash, and where a schedule stands alone: the generated function answers everything else.
const BASH: &str = r#"
_punctual_with_names() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local -i is_name=0
    [[ "$previous" == "--name" ]] && is_name=1
    # The commands whose first word is a schedule.
    [[ $COMP_CWORD -eq 2 && "$current" != -* && "$previous" =~ ^(runs|why|audit|backfill)$ ]] && is_name=1
    if (( is_name )); then
        local IFS=$'\n'
        COMPREPLY=($(compgen -W "$(punctual complete names "$current" 2>/dev/null)" -- "$current"))
        return 0
    fi
    _punctual "$@"
}
complete -F _punctual_with_names -o nosort -o bashdefault -o default punctual
"#;

const FISH: &str = "\ncomplete -c punctual -l name -x -a '(punctual complete names (commandline -ct) 2>/dev/null)'\n\
     complete -c punctual -n '__fish_seen_subcommand_from runs why audit backfill' -f \
     -a '(punctual complete names (commandline -ct) 2>/dev/null)'\n";

const ZSH: &str = r#"
_punctual_names() {
    local -a names
    names=("${(@f)$(punctual complete names "$PREFIX" 2>/dev/null)}")
    compadd -a names
}
"#;

/// `punctual complete names PREFIX`
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// What is completed
    what: What,
    /// How it begins
    #[arg(default_value = "")]
    prefix: String,
}

/// What can be completed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// The names of schedules.
    Names,
}

impl Complete {
    pub(crate) async fn run(self, door: &Door, output: &Output) -> Result<(), Failure> {
        let What::Names = self.what;
        let search = Some(self.prefix.clone()).filter(|prefix| !prefix.is_empty());
        let asked = List { listing: Listing { search, ..Listing::default() } };
        let mut pages = door.list(asked);
        let mut names = Vec::new();
        while let Some(page) = pages.next().await?.filter(|_| names.len() < OFFERED_MAX) {
            let found = page.into_iter().map(|schedule| schedule.definition.name);
            names.extend(found.filter(|name| name.starts_with(&self.prefix)));
        }
        names.truncate(OFFERED_MAX);
        output.raw(names.iter().map(|name| format!("{name}\n")).collect::<String>().as_bytes())
    }
}

/// The generated script of a shell with the names of schedules in it; other shells have it as it is.
pub(super) fn with_names(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + BASH,
        Shell::Fish => script + FISH,
        Shell::Zsh => script.replace(":NAME:_default", ":NAME:_punctual_names") + ZSH,
        _ => script,
    }
}
