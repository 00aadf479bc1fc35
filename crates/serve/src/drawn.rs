//! Random requests: `a:rate=5/s,cost=lognormal(mean=2s,sd=3s);b:rate=1/s,cost=1s,weight=2`.
//!
//! Each tenant has streams of random numbers of its own, by its name, so that another tenant
//! changes none of its requests. Requests arrive at random (Poisson) or regularly.

use crate::requests::{Gathered, NS_PER_S, Request, Requests};
use fairq_link::random::Stream;
use fairq_sched::units::{Time, Weight};
use fairq_sim::traffic::distribution::{Distribution, Quantity, Sampler};
use fairq_text::Fault;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Tenants and what they ask.
#[derive(Clone, Debug)]
pub struct Drawn {
    tenants: Vec<Source>,
}

/// What a tenant asks.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    said: Said,
    /// The mean time between requests, in seconds.
    gap_s: f64,
    cost: Sampler,
    size: Option<Sampler>,
    /// In seconds.
    from: f64,
    until: f64,
}

/// The settings of a tenant that have one value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    rate: Value,
    cost: Value,
    #[serde(default)]
    size: Option<Value>,
    #[serde(default = "one")]
    seats: u32,
    #[serde(default)]
    weight: Option<f64>,
    #[serde(default)]
    priority: u32,
    #[serde(default)]
    arrivals: Arrivals,
    #[serde(default)]
    from: Option<Time>,
    #[serde(default)]
    until: Option<Time>,
}

const fn one() -> u32 {
    1
}

/// How requests follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Arrivals {
    /// At random times.
    #[default]
    Poisson,
    /// At equal distances; the first at random within one.
    Regular,
}

/// An amount of work, in seconds of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Amount(f64);

impl Quantity for Amount {
    fn number(self) -> f64 {
        self.0
    }
}

impl Drawn {
    /// Reads tenants; a plain number as cost is of units of which a seat serves `speed` a second.
    ///
    /// # Errors
    /// The tenant and the setting, and what to write instead.
    pub fn read(text: &str, speed: f64, seats: u32) -> Result<Self, Fault> {
        let mut tenants: Vec<Source> = Vec::new();
        for said in fairq_text::outside_brackets(text, ';').filter(|said| !said.is_empty()) {
            let (name, settings) = said.split_once(':').ok_or_else(|| {
                Fault::new("tenants", format!("`{said}`: write NAME:rate=5/s,cost=2s, and ; between tenants"))
            })?;
            let name = name.trim();
            let at = |fault: Fault| match fault.path.as_str() {
                "" => Fault::new(format!("tenants.{name}"), fault.message),
                path => Fault::new(format!("tenants.{name}.{path}"), fault.message),
            };
            if name.is_empty() || tenants.iter().any(|tenant| tenant.name == name) {
                return Err(Fault::new(
                    "tenants",
                    format!("`{name}` is empty or named twice; give each tenant a name of its own"),
                ));
            }
            tenants.push(Source::read(name, settings, speed, seats).map_err(at)?);
        }
        if tenants.is_empty() {
            return Err(Fault::new(
                "tenants",
                "names no tenant; write for example a:rate=5/s,cost=exponential(mean=2s)",
            ));
        }
        Ok(Self { tenants })
    }

    /// How many requests arrive in this time on average.
    #[must_use]
    pub fn requests_in(&self, duration: Time) -> f64 {
        self.tenants
            .iter()
            .map(|tenant| (tenant.until.min(duration.as_s()) - tenant.from).max(0.0) / tenant.gap_s)
            .sum()
    }

    /// The requests that arrive until `duration`, by `seed`.
    #[must_use]
    pub fn requests(&self, duration: Time, seed: u64) -> Requests {
        let mut gathered = Gathered::default();
        let mut all: Vec<Request> = Vec::new();
        for source in &self.tenants {
            let tenant = gathered.tenant(&source.name);
            all.extend(source.requests(tenant, duration, seed));
        }
        // Of one instant in the order of the tenants.
        all.sort_by_key(|request| request.at);
        all.into_iter().for_each(|request| gathered.push(request));
        let mut requests = gathered.done();
        for (tenant, source) in requests.tenants.iter_mut().zip(&self.tenants) {
            tenant.weight = source.said.weight.and_then(|weight| Weight::from_f64(weight).ok()).unwrap_or_default();
            tenant.priority = source.said.priority;
        }
        requests
    }
}

impl Source {
    fn read(name: &str, settings: &str, speed: f64, seats: u32) -> Result<Self, Fault> {
        let mut table = fairq_text::part(&format!("tenant({settings})"))
            .map_err(|fault| Fault::new("", fault.replace("tenant(", "(")))?;
        table.remove("kind");
        let said: Said = fairq_text::typed(&Value::Object(table))?;
        let per_s =
            rate(said.rate.as_str().unwrap_or(&said.rate.to_string())).map_err(|fault| Fault::new("rate", fault))?;
        let of = |field: &str, value: &Value| distribution(value, speed).map_err(|fault| Fault::new(field, fault));
        let cost = of("cost", &said.cost)?;
        let size = said.size.as_ref().map(|size| of("size", size)).transpose()?;
        if let Some(weight) = said.weight {
            Weight::from_f64(weight).map_err(|fault| Fault::new("weight", fault.to_string()))?;
        }
        if said.seats == 0 || said.seats > seats {
            let fault = format!("`{}` is not from 1 to {seats}, the seats of the server", said.seats);
            return Err(Fault::new("seats", fault));
        }
        let (from, until) = (said.from.map_or(0.0, Time::as_s), said.until.map_or(f64::INFINITY, Time::as_s));
        if until <= from {
            return Err(Fault::new("until", "is not after from; write a later time"));
        }
        Ok(Self {
            name: name.to_owned(),
            gap_s: 1.0 / per_s,
            cost: cost.sampler(),
            size: size.map(|size| size.sampler()),
            from,
            until,
            said,
        })
    }

    fn requests(&self, tenant: u32, duration: Time, seed: u64) -> Vec<Request> {
        let mut arrivals = Stream::new(seed, &format!("{}/arrivals", self.name));
        let mut costs = Stream::new(seed, &format!("{}/cost", self.name));
        let mut sizes = Stream::new(seed, &format!("{}/size", self.name));
        let end = self.until.min(duration.as_s());
        let mut now = self.from;
        if self.said.arrivals == Arrivals::Regular {
            now += self.gap_s * (arrivals.uniform() - 1.0);
        }
        let mut requests = Vec::new();
        loop {
            now += match self.said.arrivals {
                Arrivals::Poisson => arrivals.exponential(self.gap_s),
                Arrivals::Regular => self.gap_s,
            };
            if now >= end {
                return requests;
            }
            let (cost, size) =
                (ns(self.cost.draw(&mut costs)), self.size.as_ref().map_or(0, |size| ns(size.draw(&mut sizes))));
            requests.push(Request { at: ns(now), tenant, seats: self.said.seats, cost, size });
        }
    }
}

/// Whole nanoseconds, at most a thousand years, which a sum of a few million fits not into.
fn ns(seconds: f64) -> u64 {
    (seconds.min(3e10) * NS_PER_S as f64 + 0.5) as u64
}

/// Requests a second of `5/s`, `300/min` or `2/h`.
fn rate(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no rate; write for example 5/s, 300/min or 2/h");
    let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
    let seconds = match unit.trim() {
        "ms" => 1e-3,
        "s" | "sec" | "second" => 1.0,
        "min" | "m" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        "d" | "day" => 86_400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let per_s = number / seconds;
    if (1e-6..=1e6).contains(&per_s) { Ok(per_s) } else { Err(wrong()) }
}

/// A distribution of amounts, in seconds of a seat.
fn distribution(value: &Value, speed: f64) -> Result<Distribution<Amount>, String> {
    let Value::Object(table) = value else { return Ok(Distribution::constant(Amount(amount(value, speed)?))) };
    let mut table = table.clone();
    for name in ["value", "mean", "max", "sd"] {
        if let Some(value) = table.get_mut(name) {
            *value = amount(value, speed)?.into();
        }
    }
    for point in table.get_mut("points").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(value) = point.get_mut(0) {
            *value = amount(value, speed)?.into();
        }
    }
    by_deviation(&mut table)?;
    let found: Distribution<Amount> =
        fairq_text::typed(&Value::Object(table)).map_err(|fault| match fault.path.as_str() {
            "" => fault.message,
            path => format!("{path}: {}", fault.message),
        })?;
    found.fault().map_or(Ok(found), |fault| Err(fault.to_owned()))
}

/// A lognormal distribution by its standard deviation in place of that of its logarithm:
/// σ² = ln(1 + (sd/mean)²).
fn by_deviation(table: &mut Map<String, Value>) -> Result<(), String> {
    if table.get("kind").and_then(Value::as_str) != Some("lognormal") {
        return Ok(());
    }
    let Some(sd) = table.remove("sd").and_then(|sd| sd.as_f64()) else {
        let said = "lognormal: sd is missing; write lognormal(mean=2s,sd=3s)";
        return if table.contains_key("sigma") { Ok(()) } else { Err(said.to_owned()) };
    };
    let mean = table
        .get("mean")
        .and_then(Value::as_f64)
        .ok_or("lognormal: mean is missing; write lognormal(mean=2s,sd=3s)")?;
    if table.contains_key("sigma") {
        return Err("lognormal: sd and sigma say the same; give one of them".to_owned());
    }
    table.insert("sigma".to_owned(), libm::sqrt(libm::log1p((sd / mean) * (sd / mean))).into());
    Ok(())
}

/// Seconds of a seat: a time, or units of cost at the speed of a seat.
fn amount(value: &Value, speed: f64) -> Result<f64, String> {
    let wrong = || {
        format!(
            "`{}` is no cost; write a time, like 2s, or a number of units",
            value.as_str().map_or(value.to_string(), str::to_owned)
        )
    };
    let seconds = match value {
        Value::Number(number) => number.as_f64().ok_or_else(wrong)? / speed,
        Value::String(text) => text.parse::<Time>().map_err(|_| wrong())?.as_s(),
        _ => return Err(wrong()),
    };
    if (0.0..=1e9).contains(&seconds) { Ok(seconds) } else { Err(wrong()) }
}
