//! What is asked about a spec, as flags.

use clap::Args;
use punctual::spec;

/// A spec and what makes it definite. Exactly one of `expr`, `every` and `at` says when.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Request {
    /// The cron expression
    #[arg(value_name = "EXPR", required_unless_present_any = ["every", "at", "batch"])]
    expr: Option<String>,
    /// An interval instead: `90s`, `2h`, `2 weeks`, `monthly`, or seconds
    #[arg(long, value_name = "INTERVAL")]
    every: Option<String>,
    /// One instant instead, RFC 3339 or local time; for `explain`, the instant to explain
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The time zone, by its IANA name, or `local` [default: UTC]
    #[arg(long, visible_alias = "timezone", value_name = "ZONE")]
    tz: Option<String>,
    /// Count from here, RFC 3339 or local time; `prev` counts backwards from it [default: now]
    #[arg(long, visible_alias = "before", value_name = "TIME")]
    after: Option<String>,
    /// How many ticks [default: 5]
    #[arg(long)]
    count: Option<u32>,
    /// How a cron expression is read: standard, posix or quartz [default: standard]
    #[arg(long)]
    dialect: Option<String>,
    /// A tick at the very instant counts too
    #[arg(long)]
    inclusive: bool,
    /// What happens to times that the clock skips: shift or skip
    #[arg(long, value_name = "RULE")]
    dst_gap: Option<String>,
    /// What happens to times that the clock repeats: first, last or both
    #[arg(long, value_name = "RULE")]
    dst_fold: Option<String>,
    /// What an interval is reckoned from: fixed, last_start or last_finish
    #[arg(long)]
    anchor: Option<String>,
    /// No tick before this time; an interval with a fixed anchor begins here
    #[arg(long, value_name = "TIME")]
    start_at: Option<String>,
    /// No tick after this time
    #[arg(long, value_name = "TIME")]
    end_at: Option<String>,
    /// Only in this stretch of the day, such as 08:00-18:00; it may pass midnight
    #[arg(long, value_name = "FROM-TO")]
    only_between: Option<String>,
    /// Not on these days: names, or 0 to 7 with Sunday as 0 and 7
    #[arg(long, value_name = "DAY", value_delimiter = ',')]
    not_on: Vec<String>,
    /// The schedule's id, which `H` is hashed from
    #[arg(long)]
    id: Option<String>,
}

/// A text in plain English.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Sentence {
    /// The sentence, such as "every weekday at 9am EST"
    #[arg(value_name = "TEXT", required_unless_present = "batch")]
    text: Option<String>,
    /// The time zone of times that name none [default: UTC]
    #[arg(long, visible_alias = "timezone", value_name = "ZONE")]
    tz: Option<String>,
    /// What `tomorrow` and `in 20 minutes` count from [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
}

impl From<Request> for spec::Request {
    fn from(flags: Request) -> Self {
        Self {
            expr: flags.expr,
            every: flags.every,
            at: flags.at,
            tz: flags.tz,
            after: flags.after,
            count: flags.count,
            dialect: flags.dialect,
            inclusive: flags.inclusive,
            dst_gap: flags.dst_gap,
            dst_fold: flags.dst_fold,
            anchor: flags.anchor,
            start_at: flags.start_at,
            end_at: flags.end_at,
            only_between: flags.only_between,
            not_on: flags.not_on,
            id: flags.id,
        }
    }
}

impl From<Sentence> for spec::Sentence {
    fn from(flags: Sentence) -> Self {
        let Sentence { text, tz, now } = flags;
        Self { text, tz, now }
    }
}
