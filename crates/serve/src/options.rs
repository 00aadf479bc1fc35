//! What is asked of `fairq serve`, as text with units.

use crate::drawn::Drawn;
use crate::requests::{NS_PER_S, Requests};
use crate::simulate::Known;
use fairq_sched::units::{Time, Weight};
use fairq_sched::work::amount::Unit;
use fairq_sched::work::registry::PolicySettings;
use fairq_text::{Fault, near_miss};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is asked; those without a default must be given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The log; or else `tenants`.
    #[serde(default)]
    pub log: Option<String>,
    /// The file of the log, if it is not where its name says.
    #[serde(default)]
    pub file: Option<String>,
    /// Tenants of random requests.
    #[serde(default)]
    pub tenants: Option<String>,
    /// The seats of the server.
    pub seats: u32,
    /// The policies, as text.
    pub policies: Vec<String>,
    /// The weights of tenants; 1 for others.
    #[serde(default)]
    pub weights: BTreeMap<String, f64>,
    /// The priorities of tenants, the greatest first; 0 for others.
    #[serde(default)]
    pub priorities: BTreeMap<String, u32>,
    /// The units of cost that a seat serves in a second.
    #[serde(default = "one")]
    pub speed: f64,
    /// What is known of a cost beforehand: "no", "yes" or "error=30%".
    #[serde(default = "no")]
    pub cost_known: String,
    /// Seeds of random requests.
    #[serde(default = "ten")]
    pub seeds: u32,
    /// How long random requests arrive.
    #[serde(default = "ten_minutes")]
    pub duration: Time,
    /// The column of the log with the end of each request.
    #[serde(default)]
    pub done: Option<String>,
    /// Threads.
    #[serde(default = "one_thread")]
    pub workers: usize,
}

const fn one() -> f64 {
    1.0
}

const fn one_thread() -> usize {
    1
}

fn no() -> String {
    "no".to_owned()
}

const fn ten() -> u32 {
    10
}

const fn ten_minutes() -> Time {
    Time::from_s(600)
}

/// A policy and its text.
#[derive(Clone, Debug)]
pub struct Named {
    /// The text.
    pub text: String,
    /// What it says.
    pub settings: PolicySettings,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub enum From {
    /// A log.
    Log(String),
    /// Random ones.
    Drawn(Drawn),
}

impl Options {
    /// Reads options from a JSON object.
    ///
    /// # Errors
    /// The field that is missing, unknown or malformed, and what to write instead.
    pub fn read(json: &str) -> Result<Self, Fault> {
        let tree: Value = serde_json::from_str(json).map_err(|error| Fault::new("", error.to_string()))?;
        let options: Self = fairq_text::typed(&tree)?;
        if options.seats == 0 {
            return Err(Fault::new("seats", "is 0; a server has 1 seat at least"));
        }
        if !(options.speed > 0.0 && options.speed <= 1e12) {
            return Err(Fault::new(
                "speed",
                format!("`{}` is not above 0; write the units of cost a seat serves in a second", options.speed),
            ));
        }
        if options.duration == Time::ZERO {
            return Err(Fault::new("duration", "is 0; write how long requests arrive, as 10min"));
        }
        if options.seeds == 0 {
            return Err(Fault::new("seeds", "is 0; write 1 at least"));
        }
        Ok(options)
    }

    /// Where the requests come from.
    ///
    /// # Errors
    /// If both are given, or neither, or the tenants make no sense.
    pub fn from(&self) -> Result<From, Fault> {
        match (&self.log, &self.tenants) {
            (Some(log), None) => Ok(From::Log(log.clone())),
            (None, Some(tenants)) if self.done.is_none() => {
                let drawn = Drawn::read(tenants, self.speed, self.seats)?;
                if drawn.requests_in(self.duration) > DRAWN_MAX {
                    return Err(Fault::new(
                        "duration",
                        format!("has more than {DRAWN_MAX:.0} requests of a seed; write a shorter one"),
                    ));
                }
                Ok(From::Drawn(drawn))
            }
            (None, Some(_)) => Err(Fault::new("done", "is of a log; random requests have no ends of their own")),
            (Some(_), Some(_)) => Err(Fault::new("tenants", "goes without a log; give one of them")),
            (None, None) => {
                Err(Fault::new("", "give a log of requests, or tenants for random ones, as a:rate=5/s,cost=2s"))
            }
        }
    }

    /// What is known of costs.
    ///
    /// # Errors
    /// What may be written.
    pub fn known(&self) -> Result<Known, Fault> {
        let wrong =
            || Fault::new("cost_known", format!("`{}` is not known here; write no, yes or error=30%", self.cost_known));
        match self.cost_known.trim() {
            "no" => Ok(Known::No),
            "yes" => Ok(Known::Yes),
            text => {
                let part = text.strip_prefix("error=").map(str::trim).ok_or_else(wrong)?;
                let (number, whole) = part.strip_suffix('%').map_or((part, 1.0), |number| (number, 100.0));
                let part = number.trim().parse::<f64>().map_err(|_| wrong())? / whole;
                let most = || Fault::new("cost_known", format!("`{text}` is not from 0 to 100 %, as error=30%"));
                (0.0..=1.0).contains(&part).then_some(Known::Error(part)).ok_or_else(most)
            }
        }
    }

    /// The policies.
    ///
    /// # Errors
    /// The policy that is not known, with the near miss, or whose settings make no sense.
    pub fn named(&self) -> Result<Vec<Named>, Fault> {
        let mut found: Vec<Named> = Vec::new();
        for text in &self.policies {
            let settings = fairq_text::policy_settings(text).map_err(|fault| Fault::new("policy", fault))?;
            if found.iter().any(|other| other.text == text.trim()) {
                return Err(Fault::new("policy", format!("`{text}` is given twice; name each policy once")));
            }
            let unit = Unit { number: NS_PER_S as f64 / self.speed, second: NS_PER_S as f64 };
            found.push(Named { text: text.trim().to_owned(), settings: settings.in_steps(unit) });
        }
        if found.is_empty() {
            return Err(Fault::new("policy", "names none; write for example fcfs,sfq_d"));
        }
        Ok(found)
    }

    /// Gives the tenants their weights and priorities.
    ///
    /// # Errors
    /// The tenant that is not there, with the near miss, or the weight that is none.
    pub fn apply(&self, requests: &mut Requests) -> Result<(), Fault> {
        let names: Vec<String> = requests.tenants.iter().map(|tenant| tenant.name.clone()).collect();
        let place = |of: &str, name: &str| {
            let known = || near_miss(name, names.iter().take(NAMED_MAX).map(String::as_str));
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| Fault::new(of, format!("`{name}` is no tenant of these requests{}", known())))
        };
        for (name, weight) in &self.weights {
            let weight =
                Weight::from_f64(*weight).map_err(|fault| Fault::new("weights", format!("{name}: {fault}")))?;
            requests.tenants[place("weights", name)?].weight = weight;
        }
        for (name, priority) in &self.priorities {
            requests.tenants[place("priorities", name)?].priority = *priority;
        }
        Ok(())
    }
}

/// Random requests of a seed at most: they take a gigabyte.
const DRAWN_MAX: f64 = 2e7;

/// Tenants among which a near miss is looked for.
const NAMED_MAX: usize = 1000;
