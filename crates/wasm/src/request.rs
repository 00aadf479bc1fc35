//! What the page asks.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A scenario as the page has it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Given {
    /// TOML.
    pub(crate) text: String,
    /// The name of its file, for messages.
    #[serde(default = "unnamed")]
    pub(crate) name: String,
    /// Fields that are set, by path, as by `--set`.
    #[serde(default)]
    pub(crate) sets: Vec<(String, String)>,
    /// The files that it names.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
}

fn unnamed() -> String {
    "scenario.toml".to_owned()
}

/// A change by hand.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hand {
    /// A field of a link or a flow gets another value.
    Set(String, String),
    /// Packets of a flow come to the link's queue.
    Offer { flow: u32, bytes: u32, count: u32 },
    /// A packet that waits is dropped.
    Drop(u32),
    /// A packet that waits is marked.
    Mark(u32),
    /// A packet that waits is taken out for some time.
    Hold { packet: u32, for_s: f64 },
}

/// A change by hand that was made: after this step, at this time.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) hand: Hand,
    pub(crate) step: u64,
    pub(crate) at_ps: u64,
}

/// How to begin a run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Begin {
    #[serde(flatten)]
    pub(crate) given: Given,
    #[serde(default = "one")]
    pub(crate) seed: u64,
    pub(crate) link: Option<String>,
    pub(crate) direction: Option<String>,
    #[serde(default)]
    pub(crate) log: Vec<Entry>,
}

const fn one() -> u64 {
    1
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Between {
    #[serde(default)]
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
}

/// What is asked of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum OfRun {
    /// Runs to a time.
    Advance { to_s: f64, most: u64 },
    /// Runs to the end of a step; does the changes of its log on the way.
    Go { to_step: u64, most: u64 },
    /// Runs the next step.
    Step,
    /// Runs to the next event of these kinds at the link, of a flow or of all.
    Until { events: Vec<String>, flow: Option<u32>, to_s: f64, most: u64 },
    /// Makes a change.
    Hand { hand: Hand },
    /// What there is now.
    Look,
    /// Curves and measures of a stretch of time.
    History {
        #[serde(flatten)]
        between: Between,
        bins: usize,
    },
    /// The packets of a stretch of time.
    Timeline {
        #[serde(flatten)]
        between: Between,
        most: usize,
    },
    /// A table of the present instant.
    Table { name: String },
    /// The present value of a field.
    Field { path: String },
}

/// What is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// What this module is.
    About,
    /// The card of the first part of a text form that has steps, or of the first.
    Card { of: String },
    /// Reads and checks a scenario.
    Read(Given),
    /// Runs all points and seeds of a scenario.
    Whole(Given),
    /// Begins a run.
    Begin {
        run: usize,
        #[serde(flatten)]
        begin: Box<Begin>,
    },
}

/// A request: of a run, or of none.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Of(usize, OfRun),
    Other(Request),
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(request: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(request).map_err(|error| error.to_string())?;
        let name = value.get("do").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_other = ["about", "card", "read", "whole", "begin"].contains(&&*name);
        let wrong = |error: serde_json::Error| format!("{name}: {error}");
        if is_other {
            return serde_json::from_value(value).map(Self::Other).map_err(wrong);
        }
        let run = value.get("run").and_then(Value::as_u64).ok_or("run: write 0 or 1")?;
        Ok(Self::Of(run as usize, serde_json::from_value(value).map_err(wrong)?))
    }
}
