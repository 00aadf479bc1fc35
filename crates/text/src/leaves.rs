//! Text forms inside tables become tables: the parts of a queue, and the queues in the leaves of a
//! scheduler.

use crate::own::Words;
use crate::{Fault, at, check_design, find, own_place, part, queue_table_of};
use serde_json::{Map, Value};

/// Shows the queues in the table of a scheduler at `path`, each with its place: `queue` of itself
/// and of each of its `classes`, and each of its `queues`.
///
/// # Errors
/// As `shape`.
pub(crate) fn in_leaves(
    scheduler: Option<&mut Value>,
    path: &str,
    shape: &mut dyn FnMut(&mut Value, &str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Some(Value::Object(scheduler)) = scheduler else { return Ok(()) };
    if let Some(queue) = scheduler.get_mut("queue") {
        shape(queue, &format!("{path}.queue"))?;
    }
    for (at, queue) in items(scheduler, "queues") {
        shape(queue, &format!("{path}.queues[{at}]"))?;
    }
    for (at, class) in items(scheduler, "classes") {
        let place = format!("{path}.classes[{at}].queue");
        let name = class.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let of_class = |fault: Fault| Fault { message: format!("class `{name}`: {}", fault.message), ..fault };
        class.get_mut("queue").map_or(Ok(()), |queue| shape(queue, &place)).map_err(of_class)?;
    }
    Ok(())
}

fn items<'a>(table: &'a mut Map<String, Value>, key: &str) -> impl Iterator<Item = (usize, &'a mut Value)> {
    table.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().enumerate()
}

/// Turns the `queue` at `path`, a text form or a table, into its table, and the queues in its
/// leaves into theirs.
///
/// # Errors
/// What is wrong with it, with its place.
pub fn shape_form(queue: &mut Value, own: &Words, path: &str) -> Result<(), Fault> {
    let fault = |message| Fault::new(path, message);
    match queue {
        Value::String(text) => *queue = Value::Object(queue_table_of(text, own).map_err(fault)?),
        Value::Object(table) => {
            for place in ["scheduler", "buffer", "overflow", "marker", "classifier", "design", "policer"] {
                if let Some(value) = table.get_mut(place) {
                    shape_part(value, &at(path, place))?;
                }
            }
            check_design(table).map_err(fault)?;
        }
        Value::Array(_) => return Err(fault(NO_LIST.into())),
        _ => return Ok(()),
    }
    in_leaves(queue.get_mut("scheduler"), &at(path, "scheduler"), &mut |queue, path| leaf(queue, own, path))
}

/// The message for a list in place of a text form: its items would be taken for fields.
pub const NO_LIST: &str = "write text like \"fq + pair\" or \"ftp\", or a table, not a list";

/// Turns the part at `path` into its table.
///
/// # Errors
/// What is wrong with it, with its place.
pub fn shape_part(form: &mut Value, path: &str) -> Result<(), Fault> {
    match form {
        Value::String(text) => *form = Value::Object(part(text).map_err(|message| Fault::new(path, message))?),
        Value::Array(_) => return Err(Fault::new(path, NO_LIST)),
        _ => {}
    }
    Ok(())
}

fn leaf(queue: &mut Value, own: &Words, path: &str) -> Result<(), Fault> {
    // A part by itself: `queue=fq_codel(target=3ms)` without quotes.
    if let Some(kind) = queue.get("kind").and_then(Value::as_str) {
        let place = find(kind).map(|card| card.part).or_else(|| own_place(kind, own));
        let place = place.ok_or_else(|| Fault::new(path, format!("`{kind}` is no part of a queue")))?;
        *queue = Value::Object([(place.to_owned(), queue.take())].into_iter().collect());
    }
    shape_form(queue, own, path)
}
