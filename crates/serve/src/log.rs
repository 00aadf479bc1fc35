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

/// A request as it stands in a row.
#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    time: &'a str,
    tenant: &'a str,
    cost: &'a str,
    size: Option<&'a str>,
    seats: Option<&'a str>,
    done: Option<&'a str>,
}

/// The names of the columns; a request without the last ones is of size 0 and takes one seat.
const NAMES: [&str; 5] = ["time", "tenant", "cost", "size", "seats"];
/// How many of them there must be.
const NEEDED: usize = 3;

/// Reads a log, which messages call `name`; with ends if there is a column for them.
///
/// # Errors
/// One line: the row and the column, and what to write instead.
pub fn read(name: &str, text: &str, columns: &Columns) -> Result<(Requests, Option<Served>), String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut log = Log::new(columns);
    let is_json = text.trim_start().starts_with('{');
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
        let parted = |separator: &char| fields(first, *separator).is_ok_and(|fields| fields.len() >= NEEDED);
        let separator = separator.or_else(|| ['\t', ';', ','].into_iter().find(parted)).unwrap_or(',');
        let heading = fields(first, separator).map_err(|fault| (row, fault.to_owned()))?;
        let has_heading = names_a_column(&heading);
        let places = self.places(has_heading.then_some(&heading)).map_err(|fault| (row, fault))?;
        let width = if has_heading { heading.len() } else { NAMES.len() };
        for (row, line) in rows(text).skip(above + usize::from(has_heading)) {
            let mut found: Vec<Cow<'_, str>> = Vec::with_capacity(width);
            if line.contains('"') {
                found.extend(
                    fields(line, separator).map_err(|fault| (row, fault.to_owned()))?.into_iter().map(Cow::Owned),
                );
            } else {
                found.extend(line.split(separator).map(|field| Cow::Borrowed(field.trim())));
            }
            if found.len() > width {
                return Err((row, format!("column {}: is one too many; the heading has {width}", width + 1)));
            }
            let field = |place: Option<usize>| place.and_then(|place| found.get(place)).map(|field| &**field);
            let needed = |at: usize| {
                let missing = || {
                    (
                        row,
                        format!("column {}: is missing: the row is cut short; write {}", NAMES[at], example(NAMES[at])),
                    )
                };
                field(places[at]).ok_or_else(missing)
            };
            let done = self.columns.done.as_ref().map(|done| {
                let missing =
                    || (row, format!("column {done}: is missing: the row is cut short; write the time of the end"));
                field(places[NAMES.len()]).ok_or_else(missing)
            });
            let read = Row {
                time: needed(0)?,
                tenant: needed(1)?,
                cost: needed(2)?,
                size: field(places[3]).filter(|text| !text.is_empty()),
                seats: field(places[4]).filter(|text| !text.is_empty()),
                done: done.transpose()?,
            };
            // Between semicolons or tabs a comma is the point of a number.
            self.row(&read, separator != ',').map_err(|fault| (row, fault))?;
        }
        Ok(())
    }

    /// Where the columns stand, and behind them that of the end.
    fn places(&self, heading: Option<&Vec<String>>) -> Result<[Option<usize>; NAMES.len() + 1], String> {
        let mut places = [None; NAMES.len() + 1];
        let Some(heading) = heading else {
            if let Some(done) = &self.columns.done {
                return Err(format!(
                    "column {done}: the log has no heading that says where it is; write time,tenant,cost,{done} above it"
                ));
            }
            for (at, place) in places.iter_mut().take(NAMES.len()).enumerate() {
                *place = Some(at);
            }
            return Ok(places);
        };
        let find = |name: &str| heading.iter().position(|field| field.eq_ignore_ascii_case(name));
        for (place, name) in places.iter_mut().zip(NAMES) {
            *place = find(name);
        }
        if let Some(at) = (0..NEEDED).find(|at| places[*at].is_none()) {
            return Err(format!(
                "column {}: is missing; there are {}, needed are time, tenant and cost",
                NAMES[at],
                heading.join(", ")
            ));
        }
        if let Some(done) = &self.columns.done {
            places[NAMES.len()] = find(done);
            if places[NAMES.len()].is_none() {
                return Err(format!("column {done}: is missing; there are {}", heading.join(", ")));
            }
        }
        Ok(places)
    }

    fn json_lines(&mut self, text: &str) -> Result<(), Wrong> {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row = at + 1;
            let wrong = |fault: String| (row, fault);
            let read: Value = serde_json::from_str(line).map_err(|error| {
                wrong(format!("column {}: is no JSON: the row is cut short; write one object a line", error.column()))
            })?;
            let field = |name: &str| match read.get(name) {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.clone()),
                Some(other) => Some(other.to_string()),
            };
            let needed = |name: &str| {
                field(name).ok_or_else(|| wrong(format!("column {name}: is missing; write {}", example(name))))
            };
            let (time, tenant, cost) = (needed(NAMES[0])?, needed(NAMES[1])?, needed(NAMES[2])?);
            let (size, seats) = (field(NAMES[3]), field(NAMES[4]));
            let done = self.columns.done.as_deref().map(needed).transpose()?;
            let read = Row {
                time: &time,
                tenant: &tenant,
                cost: &cost,
                size: size.as_deref(),
                seats: seats.as_deref(),
                done: done.as_deref(),
            };
            self.row(&read, false).map_err(wrong)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>, comma_is_point: bool) -> Result<(), String> {
        let number = |name: &str, text: &str| number(name, text, comma_is_point);
        let time_of = |name: &str, text: &str| time(name, text, comma_is_point);
        let time = time_of("time", row.time)?;
        let first = *self.first.get_or_insert(time);
        if time < self.last && !self.spans_or_requests_empty() {
            return Err(format!(
                "column time: `{}` is before `{}`, the time of the row above; sort the log by time",
                row.time, self.last_text
            ));
        }
        self.last = time;
        self.last_text.clear();
        self.last_text.push_str(row.time);
        if row.tenant.is_empty() {
            return Err("column tenant: is empty; write the name of the tenant".to_owned());
        }
        let at = u64::try_from(time - first).ok().filter(|at| *at <= TIME_MAX);
        let at = at.ok_or_else(|| format!("column time: `{}` is more than 50 years after the first", row.time))?;
        let cost = self.cost("cost", row.cost, number("cost", row.cost)?)?;
        let size = row.size.map(|size| self.cost("size", size, number("size", size)?)).transpose()?.unwrap_or(0);
        let seats = row.seats.map_or(Ok(1), |text| self.seats(text))?;
        if let (Some(done), Some(text)) = (&self.columns.done, row.done) {
            let end = time_of(done, text)? - first;
            let end = u64::try_from(end).ok().filter(|end| *end >= at && *end <= TIME_MAX);
            let end = end.ok_or_else(|| {
                format!(
                    "column {done}: `{text}` is before the time `{}` of the request; write when it ended, in seconds",
                    row.time
                )
            })?;
            self.spans.push((end.saturating_sub(cost).max(at), end));
        }
        let tenant = self.gathered.tenant(row.tenant);
        self.gathered.push(Request { at, tenant, seats, cost, size });
        Ok(())
    }

    const fn spans_or_requests_empty(&self) -> bool {
        self.last_text.is_empty()
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
        "cost" => "what the request costs, like 1.5",
        _ => "the time in seconds",
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

/// The greatest time, in nanoseconds: 50 years.
const TIME_MAX: u64 = 50 * 365 * 86_400 * NS_PER_S;
