//! The text form of a discipline's parts: `fq(delta=1000B) +
//! longest_queue_drop(from=front) + pair + 40packets`.
//!
//! ```
//! use fairq_sched::contract::Line;
//! use fairq_sched::units::Rate;
//!
//! let queue = fairq_text::queue("drr(quantum=3000B) + codel(target=2ms) + port_pair + 1000packets")?;
//! let gateway = queue.build(&Line::new(Rate::new(10_000_000).unwrap()));
//! assert_eq!(gateway.held().packets, 0);
//! assert_eq!(fairq_text::queue("fqq").unwrap_err(), "`fqq` is no part of a queue; did you mean fq?");
//! # Ok::<(), String>(())
//! ```
//!
//! It says the same as the table and is read into it: a list of names with settings, joined by `+`,
//! in any order. A setting may be a list, `[1, 2]`, a table, `(name=a, weight=2)`, or a part with
//! settings of its own. Among the parts of a queue a limit stands by itself. Of two buffer policies
//! the one that acts before the buffer is full is `buffer` and the other `overflow`.

mod fault;
mod leaves;
pub mod needs;
mod own;
mod policy;
mod typed;
mod written;

use fairq_sched::card::Card;
use fairq_sched::facts::Overflow;
use fairq_sched::own::{MakeQueue, OwnPart, Place};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, CLASSIFIERS, DESIGNS, MARKERS, POLICERS, SCHEDULERS};
use fairq_sched::units::{Limit, Time, UnitError};
pub use fault::{Fault, Kind, near_miss};
pub use leaves::{NO_LIST, shape_form, shape_part};
pub use own::Words;
pub use policy::{policies, policy, policy_settings, policy_written};
use serde_json::{Map, Value};
use std::sync::Arc;
pub use typed::typed;
pub use written::written;

/// `name(setting=value, …)` as a table with `kind`.
///
/// # Errors
/// What is not of this form.
pub fn part(text: &str) -> Result<Map<String, Value>, String> {
    let text = text.trim();
    if depth_of(text) > DEPTH_MAX {
        return Err(format!("brackets stand in brackets more than {DEPTH_MAX} deep"));
    }
    let (name, settings) = match text.split_once('(') {
        None => (text, ""),
        Some((name, rest)) => {
            let settings = rest.strip_suffix(')').ok_or_else(|| format!("`{text}`: a bracket is not closed"))?;
            (name.trim(), settings)
        }
    };
    if text.is_empty() {
        return Err("a part has no name; write name(setting=value), joined by +".to_string());
    }
    // A hyphen is in no name, but then the near miss can be told.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(format!("`{text}`: write name(setting=value)"));
    }
    let mut table = table(settings)?;
    if table.insert("kind".into(), name.into()).is_some() {
        return Err(format!("`{text}`: the kind is the name before the bracket"));
    }
    Ok(table)
}

/// Deepest nesting of brackets: a tree of classes needs three.
const DEPTH_MAX: i32 = 16;

/// How many brackets are open at most.
fn depth_of(text: &str) -> i32 {
    let depths = text.chars().scan(0, |depth, c| {
        *depth = (*depth + bracket(c)).max(0);
        Some(*depth)
    });
    depths.max().unwrap_or(0)
}

/// How many more brackets are open behind `c`.
fn bracket(c: char) -> i32 {
    match c {
        '(' | '[' => 1,
        ')' | ']' => -1,
        _ => 0,
    }
}

/// `setting=value, …` as a table.
fn table(settings: &str) -> Result<Map<String, Value>, String> {
    let mut table = Map::new();
    for setting in outside_brackets(settings, ',').filter(|s| !s.is_empty()) {
        let (key, of_key) = setting.split_once('=').ok_or_else(|| format!("`{setting}`: write setting=value"))?;
        let key = key.trim();
        if table.insert(key.into(), value(of_key)?).is_some() {
            return Err(format!("`{setting}`: {key} is given twice"));
        }
    }
    Ok(table)
}

/// A list in square brackets, a table in round ones, a part with settings, or else a scalar.
fn value(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let items = outside_brackets(closed(rest, text, ']')?, ',').filter(|item| !item.is_empty());
        return items.map(value).collect::<Result<_, _>>().map(Value::Array);
    }
    if let Some(rest) = text.strip_prefix('(') {
        return table(closed(rest, text, ')')?).map(Value::Object);
    }
    if text.ends_with(')') { part(text).map(Value::Object) } else { Ok(scalar(text)) }
}

/// What stands before the `close` at the end of `rest`, which is of `text`.
fn closed<'a>(rest: &'a str, text: &str, close: char) -> Result<&'a str, String> {
    rest.strip_suffix(close).ok_or_else(|| format!("`{text}`: `{close}` is missing at its end"))
}

/// The pieces of `text` between commas or the like that are in no brackets, without the spaces
/// around them.
pub fn outside_brackets(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let pieces = text.split(move |c| {
        depth += bracket(c);
        c == separator && depth <= 0
    });
    pieces.map(str::trim)
}

/// A number, a truth value, or text.
#[must_use]
pub fn scalar(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text
            .parse::<u64>()
            .map(Value::from)
            .or_else(|_| text.parse::<i64>().map(Value::from))
            // NaN and infinities have no JSON number; as text they are refused with a message that
            // shows them.
            .or_else(|_| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from).ok_or(()))
            .unwrap_or_else(|_| text.trim_matches('"').into()),
    }
}

/// What is said of a `term` that is no limit: a time or a product of the line belongs into another
/// field.
fn not_a_limit(term: &str, fault: &UnitError) -> String {
    if term.to_ascii_uppercase().ends_with("BDP") || term.parse::<Time>().is_ok() {
        return format!("`{term}`: a text form takes packets or bytes; a scenario says this as buffer = \"{term}\"");
    }
    fault.to_string()
}

/// The text form of a queue as its table.
///
/// # Errors
/// The part that is not known, with the near miss, or that is named twice.
pub fn queue_table(text: &str) -> Result<Map<String, Value>, String> {
    queue_table_of(text, &Words::default())
}

/// The text form of a queue, of which parts may be own ones, as its table: own parts stand in it as
/// parts of the registry do.
///
/// # Errors
/// The part that is not known, with the near miss, or that is named twice.
pub fn queue_table_of(text: &str, own: &Words) -> Result<Map<String, Value>, String> {
    let mut table = Map::new();
    for term in outside_brackets(text, '+') {
        let (place, value) = if term == "unlimited" || term.starts_with(|c: char| c.is_ascii_digit()) {
            let limit: Limit = term.parse().map_err(|fault| not_a_limit(term, &fault))?;
            ("limit", Value::from(limit.to_string()))
        } else {
            let part = part(term)?;
            let name = part.get("kind").and_then(Value::as_str).unwrap_or_default().to_string();
            let place = find(&name).map(|card| card.part).or_else(|| own_place(&name, own)).ok_or_else(|| {
                let cards = lists().into_iter().flatten();
                let known = cards.flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
                format!("`{name}` is no part of a queue{}", near_miss(&name, own.names(is_of_queue).chain(known)))
            })?;
            (place, Value::Object(part))
        };
        if let Some(first) = table.insert(place.into(), value) {
            let second = table.get(place).cloned().unwrap_or_default();
            let acts_early = [&first, &second].map(leaves_overflow);
            // Beside a policy of the registry an own one is what that leaves to it.
            let (early, full) = match acts_early {
                [Some(true), Some(false) | None] | [None, Some(false)] if place == "buffer" => (first, second),
                [Some(false) | None, Some(true)] | [Some(false), None] if place == "buffer" => (second, first),
                _ => return Err(format!("`{text}` names two parts of the kind {place}")),
            };
            table.insert("buffer".into(), early);
            if table.insert("overflow".into(), full).is_some() {
                return Err(format!("`{text}` names three buffer policies"));
            }
        }
    }
    check_design(&table)?;
    let decides = ["scheduler", "buffer", "marker", "design"];
    if !decides.iter().any(|place| table.contains_key(*place)) {
        let names = SCHEDULERS.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
        return Err(format!("`{text}` names no scheduler; there are {names}"));
    }
    Ok(table)
}

/// Whether the table of a queue has no other part beside a whole design. Said before the table is
/// typed: a queue without a scheduler is `fifo`, so that `fifo` beside a design would not be seen.
///
/// # Errors
/// Which design it is, and what it takes.
pub fn check_design(table: &Map<String, Value>) -> Result<(), String> {
    let others = ["scheduler", "buffer", "overflow", "marker"];
    match table.get("design") {
        Some(design) if others.iter().any(|place| table.contains_key(*place)) => {
            let name = design.as_str().or_else(|| design.get("kind")?.as_str()).unwrap_or("it");
            Err(fairq_sched::queue::alone(name))
        }
        _ => Ok(()),
    }
}

/// Whether `part` is a buffer policy that acts before the buffer is full; `None` if it is not of
/// the registry.
fn leaves_overflow(part: &Value) -> Option<bool> {
    let name = part.get("kind").and_then(Value::as_str).unwrap_or_default();
    BufferSettings::by_name(name).map(|buffer| buffer.part().facts().overflow == Overflow::Leaves)
}

/// The field of a queue for the own part called `name`, if it is one of a queue.
fn own_place(name: &str, own: &Words) -> Option<&'static str> {
    own.place_of(name).filter(|place| is_of_queue(*place)).map(Place::name)
}

const fn is_of_queue(place: Place) -> bool {
    matches!(place, Place::Scheduler | Place::Buffer | Place::Design)
}

/// The queue that `text` says.
///
/// # Errors
/// One line: what is not known or does not fit.
pub fn queue(text: &str) -> Result<Queue, String> {
    queue_within(text, None)
}

/// The queue that `text` says, with `limit` if it names none.
///
/// # Errors
/// One line: what is not known or does not fit.
pub fn queue_within(text: &str, limit: Option<Limit>) -> Result<Queue, String> {
    queue_own(text, limit, &[])
}

/// The queue that `text` says, of which parts may be among `parts`, with `limit` if it names none.
///
/// # Errors
/// One line: what is not known or does not fit.
pub fn queue_own(text: &str, limit: Option<Limit>, parts: &[Arc<dyn OwnPart<dyn MakeQueue>>]) -> Result<Queue, String> {
    let mut own = Words::default();
    own.add(parts, &lists())?;
    let mut table = Value::from(text);
    let said = |fault: Fault| match fault.path.as_str() {
        "" => fault.message,
        path => format!("{path}: {}", fault.message),
    };
    shape_form(&mut table, &own, "").map_err(said)?;
    if let Value::Object(table) = &mut table {
        shape_queue(table, &own, "").map_err(said)?;
    }
    let mut queue: Queue = typed(&table).map_err(said)?;
    queue.find_own(parts).map_err(|(place, message)| format!("{place}: {message}"))?;
    let above = queue.fault_of_limits();
    queue.limit = queue.limit.or(limit);
    queue.fault().or(above).map_or(Ok(queue), Err)
}

/// The place of `field` in what stands at `path`.
fn at(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// Gives the own parts in the table of a queue at `path`, and the queues in its leaves, the shape
/// in which they are read.
///
/// # Errors
/// As [`Words::shape`].
pub fn shape_queue(table: &mut Map<String, Value>, own: &Words, path: &str) -> Result<(), Fault> {
    leaves::in_leaves(table.get_mut("scheduler"), &at(path, "scheduler"), &mut |queue, path| match queue {
        Value::Object(queue) => shape_queue(queue, own, path),
        _ => Ok(()),
    })?;
    let places = [
        ("scheduler", Place::Scheduler, SCHEDULERS),
        ("buffer", Place::Buffer, BUFFER_POLICIES),
        ("overflow", Place::Buffer, BUFFER_POLICIES),
        ("design", Place::Design, DESIGNS),
    ];
    places.into_iter().try_for_each(|(field, place, cards)| {
        table.get_mut(field).map_or(Ok(()), |part| own.shape(part, place, cards, &at(path, field)))
    })
}

/// Whether `text` is refused for a form or for words that are not known here, and not for a value.
#[must_use]
pub fn has_unknown_words(text: &str) -> bool {
    match queue_table(text) {
        Err(_) => true,
        Ok(table) => typed::<Queue>(&Value::Object(table)).is_err_and(|fault| fault.kind != Kind::Value),
    }
}

/// The cards of all parts of a queue.
#[must_use]
pub fn lists() -> [&'static [Card]; 6] {
    [SCHEDULERS, BUFFER_POLICIES, MARKERS, CLASSIFIERS, DESIGNS, POLICERS]
}

/// The card of a part of a queue by name or alias.
fn find(name: &str) -> Option<&'static Card> {
    lists().into_iter().flatten().find(|card| card.is_called(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::registry::DesignSettings;

    #[test]
    fn text_and_table_say_the_same() {
        let table = queue_table("fq(delta=1000B, preemptive=true) + lqd(from=front) + port_pair + 40packets").unwrap();
        let expected = serde_json::json!({
            "scheduler": {"kind": "fq", "delta": "1000B", "preemptive": true},
            "buffer": {"kind": "lqd", "from": "front"},
            "classifier": {"kind": "port_pair"},
            "limit": "40 packets",
        });
        assert_eq!(Value::Object(table), expected);
        assert_eq!(queue("fcfs").unwrap().scheduler.name(), "fifo");
        assert_eq!(queue(" 40packets+conversation+lqd + fq"), queue("fq + longest_queue_drop + pair + 40 packets"));
    }

    #[test]
    fn settings_may_be_lists_and_tables() {
        let text = "htb(default=web, classes=[(name=all, rate=500kbit/s), (name=voice, parent=all, dscp=[46, 34]), \
            (name=web, parent=all, rate=100kbit/s)]) + 40packets";
        let expected = serde_json::json!({
            "scheduler": {"kind": "htb", "default": "web", "classes": [
                {"name": "all", "rate": "500kbit/s"},
                {"name": "voice", "parent": "all", "dscp": [46, 34]},
                {"name": "web", "parent": "all", "rate": "100kbit/s"},
            ]},
            "limit": "40 packets",
        });
        assert_eq!(queue_table(text).map(Value::Object), Ok(expected));
        let tree = "hpfq(scheduler=wf2q_plus(), classes=[(name=a, weight=2), (name=b)])";
        assert_eq!(queue(tree).unwrap(), queue(&tree.replace("()", "")).unwrap());
        let curves =
            "hfsc(classes=[(name=a, real_time=(m1=2Mbit/s, d=10ms, m2=1Mbit/s)), (name=b, link_share=(m2=1Mbit/s))])";
        assert_eq!(queue(curves).unwrap().scheduler.name(), "hfsc");
        let divided = queue("fifo + pie(alpha=1.25e-1, divisors=[(below=1e-3, by=3.2e+1)])").unwrap();
        assert!(divided != queue("fifo + pie").unwrap());
        assert_eq!(queue("fifo + pie(alpha=1.25e-1, divisors=[ (below=1e-3, by=32) ])").unwrap(), divided);
    }

    #[test]
    fn a_whole_design_takes_settings_a_classifier_and_a_limit() {
        use fairq_sched::units::Time;
        let short = queue("fq_codel(target=1ms) + 1000packets + port_pair").unwrap();
        assert_eq!(short.limit, Some(Limit::Packets(1000)));
        assert_eq!(short.classifier().name(), "port_pair");
        let Some(DesignSettings::FqCodel(settings)) = &short.design else { panic!("{short:?}") };
        assert_eq!((settings.target, settings.interval), (Time::from_ms(1), Time::from_ms(100)));
        let table: Queue = serde_json::from_value(serde_json::json!({ "design": { "kind": "fq_codel" } })).unwrap();
        assert_eq!(table, queue("fq_codel").unwrap());
        assert_eq!(table.capacity(), Limit::Packets(10_240));
    }

    #[test]
    fn a_threshold_is_of_packets_bytes_or_time() {
        use fairq_sched::registry::MarkerSettings;
        use fairq_sched::units::{Threshold, Time};
        let at = |text: &str| match queue(text).unwrap().marker {
            Some(MarkerSettings::Step(step)) => step.at,
            other => panic!("{other:?}"),
        };
        assert_eq!(at("fifo + step(at=20packets)"), Threshold::Packets(20));
        assert_eq!(at("red + fifo + step(at=30kB) + 100packets"), Threshold::Bytes(30_000));
        assert_eq!(at("fq + step(at=\"1 ms\", mask=3, selector=1)"), Threshold::Time(Time::from_ms(1)));
    }

    #[test]
    fn a_gateway_that_a_text_makes_is_shown_by_what_it_holds() {
        use fairq_sched::{contract::Line, units::Rate};
        let inner = queue("fq_codel").unwrap().build(&Line::new(Rate::MAX));
        assert_eq!(format!("{inner:?}"), "Discipline { held: Held { packets: 0, bytes: 0 }, .. }");
    }

    #[test]
    fn a_limit_from_elsewhere_binds_leaves_that_may_hold_more() {
        let tree = "drr(classes=[(name=a, queue=\"fifo + 40packets\"), (name=b, queue=codel)])";
        let limit = Some(Limit::Packets(10));
        assert_eq!(queue_within(tree, limit).unwrap().limit, limit);
        assert_eq!(
            queue(&format!("{tree} + 10packets")).unwrap_err(),
            "drr: class `a`: fifo may hold 40 packets, and all leaves together 10 packets; lower the one or raise the other"
        );
        let classes = "drr(classes=[(name=a, queue=codeel), (name=b)])";
        assert!(
            queue(classes)
                .unwrap_err()
                .starts_with("scheduler.classes[0].queue: class `a`: `codeel` is no part of a queue")
        );
    }

    #[test]
    fn brackets_without_end_are_refused() {
        for inner in ["[", "(a=", "fq(delta="] {
            let fault = queue(&format!("fq(delta={}", inner.repeat(100_000))).unwrap_err();
            assert_eq!(fault, "brackets stand in brackets more than 16 deep");
        }
    }

    #[test]
    fn what_is_not_known_is_said_with_the_near_miss() {
        for (text, said) in [
            ("fifoo", "did you mean fifo"),
            ("fq-codel", "`fq-codel` is no part of a queue; did you mean fq_codel?"),
            ("stochastic-fair-queueing", "is no part of a queue; "),
            ("pfifo_fats", "did you mean pfifo_fast?"),
            ("wfq(weights=3)", "wfq has no settings; a flow's weight is `weight = 3` in [[flows]]"),
            ("fq(weight=2)", "a flow's weight is `weight = 3` in [[flows]]"),
            ("fq_codel(limit=40packets)", "a limit stands beside it, as in \"fq_codel + 40packets\""),
            ("fq_codel(target=5)", "like \"5 s\" or \"5 ms\", not `5`"),
            ("fq + fifo", "two parts of the kind scheduler"),
            ("pair", "names no scheduler"),
            ("fq(delta)", "setting=value"),
            ("fq(delta=1000B", "not closed"),
            ("fq(delta=1000B, delta=1000B)", "delta is given twice"),
            ("fq(kind=drr)", "the kind is the name before the bracket"),
            ("hpfq(classes=[(name=a)", "`[(name=a`: `]` is missing at its end"),
            ("hpfq(classes=[(name=a))", "`]` is missing at its end"),
            ("hpfq(classes=[(name=a]", "not closed"),
            ("hpfq(classes=[(name=a, wieght=2)])", "scheduler.classes[0].wieght: no such field; did you mean weight"),
            ("hpfq(classes=[a])", "scheduler.classes[0]: write a table"),
            ("fq(detla=1000B)", "did you mean delta"),
            ("fq(delta=1000)", "text with a unit"),
            ("fifo + fq_bit + 10packets", "own queue"),
            ("fq + 0packets", "at least 1 packet"),
            ("fq_codel + codel", "whole design"),
            ("fq_codel + fq", "whole design"),
            ("fifo + cake", "cake is a whole design"),
            ("cake + fcfs", "leave the others out"),
            ("dualpi2 + decbit", "dualpi2 is a whole design"),
            ("dualpi2 + port_pair", "does not tell flows apart; leave it out"),
            ("cake(isolation=hosts) + source", "leave the classifier out"),
            ("fifo + red + pair", "pair says which flow a packet is of, and fifo + red does not"),
            ("fq + codel + cobalt", "cobalt acts before the buffer is full, as codel does: write one of them"),
            ("fifo + red + csfq", "csfq acts before the buffer is full"),
            ("pifo + codel", "codel judges queues by what waits in them, and pifo gives every packet one of its own"),
            ("drr + greatest_rank_drop", "drr gives none; use longest_queue_drop or tail_drop"),
            ("fifo + step(at=fast)", "a threshold is \"20 packets\", \"30 kB\" or \"1 ms\""),
            ("fifo + step(selector=1)", "the selector has bits that its mask has not"),
            ("fq_codel(ce_threshold=1ms, ce_threshold_selector=1)", "ce_threshold: the selector has bits"),
            ("token_bucket(peak_rate=1Mbit/s)", "a peak_rate without a rate; write rate beside it"),
            ("fq_codel + fq_pie", "two parts of the kind design"),
            ("fq_codel(quantum=0B)", "quantum is from 1 B to 1 MiB"),
            ("fq_codel(target=0s)", "target is above 0 s"),
            ("fifo + red(probability=150%)", "write a probability from 0 to 1, as 0.1, not \"150%\""),
            ("fifo + red(probability=15%)", "write a number, 0.15, not \"15%\""),
            ("cake(ways=3)", "ways is at least 1 and divides queues"),
            ("cake(tin=diffserv4)", "did you mean tins"),
            ("", "name(setting=value)"),
        ] {
            let error = queue(text).expect_err(text);
            assert!(error.contains(said) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
