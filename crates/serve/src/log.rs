//! Requests of a log: CSV or JSON lines of `time,tenant,cost[,size][,seats]`, and the end of each
//! request if it is asked for.
//!
//! Columns stand under their names in any order; a CSV without a heading has time, tenant and cost
//! in this order. Fields are separated by commas, semicolons or tabs. Times are seconds, from any
//! beginning, and do not decrease; time zero is the first arrival.

use crate::requests::{Gathered, NS_PER_S, Request, Requests, Served};
use crate::times::nanoseconds;
use fairq_sim::traffic::rows::{fields, headed, rows, said_separator};
use serde_json::Value;
use std::borrow::Cow;

/// What is read of a log.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The units of cost that a seat serves in a second; 1 if costs are seconds.
    pub speed: f64,
    /// The seats of the server; no request may take more.
    pub seats: u32,
    /// The column with the end of each request.
    pub done: Option<String>,
}

/// The names of the columns. A request without `size` is of size 0, and one without `seats` takes
/// one; `start` counts beside the end only.
const NAMES: [&str; 6] = ["time", "tenant", "cost", "size", "seats", "start"];
const TIME: usize = 0;
const TENANT: usize = 1;
const COST: usize = 2;
const SIZE: usize = 3;
const SEATS: usize = 4;
const START: usize = 5;
const DONE: usize = 6;

/// The fields of a row in the order of the names, and behind them the end.
type Row<'a> = [Option<&'a str>; NAMES.len() + 1];

/// Reads a log, which messages call `name`; with ends if there is a column for them.
///
/// # Errors
/// One line: the row and the column, and what to write instead.
pub fn read(name: &str, text: &str, columns: &Columns) -> Result<(Requests, Option<Served>), String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut log = Log::new(columns);
    let is_json = text.trim_start().starts_with(['{', '[']);
    let told = |(row, fault): (usize, String)| format!("{name}: row {row}, {fault}");
    if is_json {
        log.json_lines(text).map_err(told)?
    } else {
        log.csv(text).map_err(told)?
    }
    log.done(name)
}

struct Log<'a> {
    columns: &'a Columns,
    gathered: Gathered,
    /// The first time, and the last, as nanoseconds from any beginning.
    first: Option<i128>,
    last: i128,
    last_text: String,
    /// Start and end of each request.
    spans: Vec<(u64, u64)>,
}

/// The row, and what is wrong with it.
type Wrong = (usize, String);

impl<'a> Log<'a> {
    fn new(columns: &'a Columns) -> Self {
        let gathered = Gathered::default();
        Self { columns, gathered, first: None, last: 0, last_text: String::new(), spans: Vec::new() }
    }

    fn csv(&mut self, text: &str) -> Result<(), Wrong> {
        let said = rows(text).next().and_then(|(_, first)| said_separator(first));
        let above = usize::from(said.is_some());
        let Some((row, first)) = rows(text).nth(above) else { return Ok(()) };
        let separator = said.or_else(|| headed(first, names_a_column));
        let parted = |separator: &char| fields(first, *separator).is_ok_and(|fields| fields.len() > COST);
        let separator = separator.or_else(|| ['\t', ';', ','].into_iter().find(parted)).unwrap_or(',');
        let heading = fields(first, separator).map_err(|fault| (row, fault.to_owned()))?;
        let has_heading = names_a_column(&heading);
        let places = self.places(has_heading.then_some(&heading)).map_err(|fault| (row, fault))?;
        let width = if has_heading { heading.len() } else { START };
        let mut found: Vec<Cow<'_, str>> = Vec::with_capacity(width);
        for (row, line) in rows(text).skip(above + usize::from(has_heading)) {
            found.clear();
            if line.contains('"') {
                let quoted = fields(line, separator).map_err(|fault| (row, fault.to_owned()))?;
                found.extend(quoted.into_iter().map(Cow::Owned));
            } else {
                found.extend(line.split(separator).map(|field| Cow::Borrowed(field.trim())));
            }
            if found.len() > width {
                return Err((row, format!("column {}: is one too many; a row has {width} at most", width + 1)));
            }
            let read = places.map(|place| found.get(place?).map(|field| &**field));
            // Between semicolons or tabs a comma is the point of a number.
            self.row(&read, ": the row is cut short", separator != ',').map_err(|fault| (row, fault))?;
        }
        Ok(())
    }

    /// Where the columns stand, and behind them that of the end.
    fn places(&self, heading: Option<&Vec<String>>) -> Result<[Option<usize>; NAMES.len() + 1], String> {
        let Some(heading) = heading else {
            if let Some(done) = &self.columns.done {
                return Err(format!(
                    "column {done}: the log has no heading that says where it is; write time,tenant,cost,{done} above it"
                ));
            }
            return Ok([Some(TIME), Some(TENANT), Some(COST), Some(SIZE), Some(SEATS), None, None]);
        };
        let find = |name: &str| heading.iter().position(|field| field.eq_ignore_ascii_case(name));
        let is_twice = |name: &&str| heading.iter().filter(|field| field.eq_ignore_ascii_case(name)).count() > 1;
        if let Some(name) = NAMES.into_iter().chain(self.columns.done.as_deref()).find(|name| is_twice(name)) {
            return Err(format!("column {name}: is there twice; leave one of them out"));
        }
        let mut places = [None; NAMES.len() + 1];
        for (place, name) in places.iter_mut().zip(NAMES) {
            *place = find(name);
        }
        if let Some(done) = &self.columns.done {
            places[DONE] = find(done);
            if places[DONE].is_none() {
                return Err(format!("column {done}: is missing; there are {}", heading.join(", ")));
            }
        }
        let has_cost = places[COST].is_some() || places[START].is_some() && places[DONE].is_some();
        let missing = [TIME, TENANT].into_iter().find(|at| places[*at].is_none());
        match missing.or_else(|| (!has_cost).then_some(COST)) {
            Some(at) => Err(format!(
                "column {}: is missing; there are {}, needed are time, tenant and cost",
                NAMES[at],
                heading.join(", ")
            )),
            None => Ok(places),
        }
    }

    fn json_lines(&mut self, text: &str) -> Result<(), Wrong> {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row = at + 1;
            let read: Value = serde_json::from_str(line).map_err(|error| {
                (row, format!("column {}: is no JSON: the row is cut short; write one object a line", error.column()))
            })?;
            let Value::Object(read) = read else {
                return Err((row, "column 1: is no object; write one object a line".to_owned()));
            };
            let field = |name: &str| match read.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1 {
                Value::Null => None,
                Value::String(text) => Some(Cow::Borrowed(text.as_str())),
                other => Some(Cow::Owned(other.to_string())),
            };
            let named = NAMES.into_iter().map(field);
            let found: Vec<_> = named.chain([self.columns.done.as_deref().and_then(field)]).collect();
            let read: Row<'_> = std::array::from_fn(|at| found[at].as_deref());
            self.row(&read, "", false).map_err(|fault| (row, fault))?;
        }
        Ok(())
    }

    /// A row; `cut` is said of a field that is not there.
    fn row(&mut self, row: &Row<'_>, cut: &str, comma_is_point: bool) -> Result<(), String> {
        let name = |at: usize| NAMES.get(at).copied().or(self.columns.done.as_deref()).unwrap_or_default();
        let needed = |at: usize| {
            let missing = || format!("column {}: is missing{cut}; write {}", name(at), example(name(at)));
            row[at].ok_or_else(missing)
        };
        let given = |at: usize| row[at].filter(|text| !text.is_empty());
        let time_of = |at: usize| needed(at).and_then(|text| time(name(at), text, comma_is_point));
        let cost_of = |at: usize, text| self.cost(name(at), text, number(name(at), text, comma_is_point)?);

        let (said, now) = (needed(TIME)?, time_of(TIME)?);
        let first = self.first.unwrap_or(now);
        if self.first.is_some() && now < self.last {
            let last = &self.last_text;
            return Err(format!(
                "column time: `{said}` is before `{last}`, the time of the row above; sort the log by time"
            ));
        }
        let at = u64::try_from(now - first).ok().filter(|at| *at <= TIME_MAX);
        let at = at.ok_or_else(|| format!("column time: `{said}` is more than 50 years after the first"))?;
        let tenant = needed(TENANT)?;
        if tenant.is_empty() {
            return Err("column tenant: is empty; write the name of the tenant".to_owned());
        }
        let seats = given(SEATS).map_or(Ok(1), |text| self.seats(text))?;
        let size = given(SIZE).map_or(Ok(0), |text| cost_of(SIZE, text))?;
        // An instant of the request's service, which is not before `least`.
        let instant = |column: usize, least: u64| {
            let since = time_of(column)? - first;
            let since = u64::try_from(since).ok().filter(|since| *since >= least && *since <= TIME_MAX);
            since.ok_or_else(|| {
                let (name, text) = (name(column), row[column].unwrap_or_default());
                let before = if least > at { "the start of the request" } else { "the time of the request" };
                format!("column {name}: `{text}` is before {before}; write it in seconds, as the time")
            })
        };
        let (cost, span) = match &self.columns.done {
            None => (cost_of(COST, needed(COST)?)?, None),
            Some(_) if given(START).is_some() => {
                let start = instant(START, at)?;
                let end = instant(DONE, start)?;
                (given(COST).map_or(Ok(end - start), |text| cost_of(COST, text))?, Some((start, end)))
            }
            Some(_) => {
                let (cost, end) = (cost_of(COST, needed(COST)?)?, instant(DONE, at)?);
                if cost > (end - at) + (end - at) / 100 + ROUNDING {
                    let (text, took) = (row[COST].unwrap_or_default(), (end - at) as f64 / NS_PER_S as f64);
                    return Err(format!(
                        "column cost: `{text}` is longer than from the time of the request to its end, {took} s; \
                         write seconds, or give the speed of a seat"
                    ));
                }
                (cost, Some((end.saturating_sub(cost).max(at), end)))
            }
        };
        (self.first, self.last) = (Some(first), now);
        self.last_text.clear();
        self.last_text.push_str(said);
        self.spans.extend(span);
        let tenant = self.gathered.tenant(tenant);
        self.gathered.push(Request { at, tenant, seats, cost, size });
        Ok(())
    }

    fn cost(&self, name: &str, text: &str, value: f64) -> Result<u64, String> {
        if value < 0.0 {
            return Err(format!("column {name}: `{text}` is negative; write 0 or more"));
        }
        let ns = value / self.columns.speed * NS_PER_S as f64;
        if ns > TIME_MAX as f64 {
            return Err(format!("column {name}: `{text}` takes a seat more than 50 years; give the speed of a seat"));
        }
        Ok((ns + 0.5) as u64)
    }

    fn seats(&self, text: &str) -> Result<u32, String> {
        let all = self.columns.seats;
        let seats = text.parse().ok().filter(|seats| (1..=all).contains(seats));
        seats.ok_or_else(|| {
            format!("column seats: `{text}` is no whole number from 1 to {all}, the seats of the server")
        })
    }

    fn done(self, name: &str) -> Result<(Requests, Option<Served>), String> {
        let Self { gathered, spans, columns, .. } = self;
        let requests = gathered.done();
        if requests.all.is_empty() {
            return Err(format!("{name}: has no request; write rows of time,tenant,cost, like 0.25,a,1.5"));
        }
        let served = columns.done.is_some().then(|| {
            let in_order = |of: fn(&(u64, u64)) -> u64| {
                let mut all: Vec<(u64, u32)> = spans.iter().map(of).zip(0..).collect();
                all.sort_unstable();
                all
            };
            Served { starts: in_order(|(start, _)| *start), ends: in_order(|(_, end)| *end) }
        });
        Ok((requests, served))
    }
}

fn names_a_column(fields: &[String]) -> bool {
    fields.iter().any(|field| NAMES.iter().any(|name| field.eq_ignore_ascii_case(name)))
}

fn example(name: &str) -> &'static str {
    match name {
        "time" => "the arrival in seconds, like 0.25",
        "tenant" => "the name of the tenant",
        "cost" | "size" => "what the request costs, like 1.5",
        _ => "a time in seconds, like 0.25",
    }
}

fn number(name: &str, text: &str, comma_is_point: bool) -> Result<f64, String> {
    let read: Result<f64, _> =
        if comma_is_point && text.contains(',') { text.replace(',', ".").parse() } else { text.parse() };
    let said = || format!("column {name}: `{text}` is no number; write {}", example(name));
    read.ok().filter(|number| number.is_finite()).ok_or_else(said)
}

/// Whole nanoseconds of a time.
fn time(name: &str, text: &str, comma_is_point: bool) -> Result<i128, String> {
    let read = if comma_is_point { text.replace(',', ".") } else { text.to_owned() };
    nanoseconds(&read).ok_or_else(|| {
        if text.parse::<f64>().is_ok_and(|time| time.is_finite() && time.abs() > 1e11) {
            return format!("column {name}: `{text}` is no time in seconds; divide milliseconds by 1000");
        }
        format!("column {name}: `{text}` is no time; write seconds, like 0.25, or 2026-01-31T12:30:00.5Z")
    })
}

/// By what a cost may be longer than the time that it took, in nanoseconds: times are rounded.
const ROUNDING: u64 = 10_000_000;

/// The greatest time, in nanoseconds: 50 years.
const TIME_MAX: u64 = 50 * 365 * 86_400 * NS_PER_S;
