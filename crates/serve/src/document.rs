//! The result, in the form of the command line and Python.

use schemars::JsonSchema;
use serde::Serialize;

/// The name of the policy whose starts and ends are those of the log.
pub const LOG: &str = "log";

/// What tenants get under each policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// What was asked, with what it left unsaid.
    pub question: Question,
    /// The tenants, in the order in which they come.
    pub tenants: Vec<TenantRow>,
    /// Each policy.
    pub policies: Vec<PolicyRow>,
    /// Each tenant under each policy. Of random requests the values are means over the seeds.
    pub rows: Vec<Row>,
    /// Which policy the ends of a log look like, that which agrees most first; empty without them.
    pub likeness: Vec<Likeness>,
    /// The answer in words.
    pub answer: Answer,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    /// The log; null: requests are random.
    pub log: Option<String>,
    /// The tenants of random requests, as text.
    pub tenants: Option<String>,
    /// The seats of the server.
    pub seats: u32,
    /// The units of cost that a seat serves in a second.
    pub speed: f64,
    /// What is known of a cost before the request ends: no, yes or error=30%.
    pub cost_known: String,
    /// Seeds of random requests.
    pub seeds: Option<u32>,
    /// How long random requests arrive, in seconds.
    pub duration_s: Option<f64>,
    /// The column of the log with the ends.
    pub done: Option<String>,
}

/// A tenant and what it asks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TenantRow {
    /// Its name.
    pub tenant: String,
    /// Its weight.
    pub weight: f64,
    /// Its priority, the greatest first.
    pub priority: u32,
    /// Its requests; of random ones those of all seeds.
    pub requests: u64,
    /// What a request costs on average, in seconds of a seat.
    pub cost_s_mean: f64,
    /// The largest cost.
    pub cost_s_max: f64,
    /// What it asks, as a part of the seats while requests arrive; null if all arrive at once.
    pub load: Option<f64>,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PolicyRow {
    /// Its text; `log` is the log as it was.
    pub policy: String,
    /// The part of the seats that was taken from the first arrival to the last end.
    pub busy: f64,
    /// From the first arrival to the last end, in seconds.
    pub duration_s: f64,
    /// The most by which a tenant fell behind another while both waited, in seconds of service over
    /// weight; null if no two ever waited together.
    pub gap_s_max: Option<f64>,
    /// The part of the policy's proven bound that was reached; null where none is proven.
    pub bound_reached: Option<f64>,
    /// What to know before the rows are trusted.
    pub note: Option<String>,
}

/// A tenant under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The policy.
    pub policy: String,
    /// The tenant.
    pub tenant: String,
    /// Its requests; of random ones those of all seeds.
    pub requests: u64,
    /// Seconds of a seat that it was given.
    pub service_s: f64,
    /// The mean waiting time: from the arrival to the start.
    pub waiting_s_mean: Option<f64>,
    /// The lower end of its 95 % interval; null without several seeds.
    pub waiting_s_mean_low: Option<f64>,
    /// The upper end.
    pub waiting_s_mean_high: Option<f64>,
    /// The median waiting time.
    pub waiting_s_p50: Option<f64>,
    /// The waiting time that 95 % of the requests did not exceed.
    pub waiting_s_p95: Option<f64>,
    /// The waiting time that 99 % of the requests did not exceed.
    pub waiting_s_p99: Option<f64>,
    /// The lower end of its 95 % interval.
    pub waiting_s_p99_low: Option<f64>,
    /// The upper end.
    pub waiting_s_p99_high: Option<f64>,
    /// The longest waiting time; of random requests that of all seeds.
    pub waiting_s_max: Option<f64>,
    /// The mean of (waiting + cost)/cost.
    pub slowdown_mean: Option<f64>,
    /// The lower end of its 95 % interval.
    pub slowdown_mean_low: Option<f64>,
    /// The upper end.
    pub slowdown_mean_high: Option<f64>,
    /// The part of the time, from the first arrival to the last end, in which it had a request
    /// waiting.
    pub waits: f64,
    /// Its part of the seats while it had a request waiting; null if it never had.
    pub share: Option<f64>,
    /// The lower end of its 95 % interval.
    pub share_low: Option<f64>,
    /// The upper end.
    pub share_high: Option<f64>,
    /// The max-min share of that time, by weight, of the requests that were there.
    pub max_min_share: Option<f64>,
    /// Where it missed most of its max-min share, of all times in which it waited throughout: the
    /// beginning, in seconds from the first arrival.
    pub worst_from_s: Option<f64>,
    /// The end of that time.
    pub worst_to_s: Option<f64>,
    /// The seconds of a seat that it got too little in it.
    pub missing_s: Option<f64>,
    /// The most by which it fell behind another tenant while both waited, in seconds of service
    /// over weight, as its policy counts service; a request counts whole when it starts. Null if
    /// it waited with no other, or is not among the 32 tenants with most requests.
    pub gap_s: Option<f64>,
    /// That tenant.
    pub gap_to: Option<String>,
    /// The proven bound of that; null where none is proven.
    pub bound_s: Option<f64>,
}

/// How much a policy would have started in the order of the log.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Likeness {
    /// The policy.
    pub policy: String,
    /// Of the pairs of requests of two tenants that waited together, the part that it starts in the
    /// log's order; null if there are none.
    pub agreement: Option<f64>,
    /// How many pairs.
    pub pairs: u64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The tenant that asks least.
    pub tenant: String,
    /// The column that is compared.
    pub quantity: &'static str,
    /// The policies under which it is least; of random requests those whose interval reaches the
    /// least.
    pub best: Vec<String>,
    /// Whether the policies differ.
    pub decided: bool,
    /// The policy that the log looks like; null: none, or no ends are known.
    pub looks_like: Option<String>,
    /// The same as sentences.
    pub text: String,
}
