//! What is asked of a run, and which part answers it.

use crate::refused::Refused;
use crate::request::OfRun;
use crate::run::{Run, time};
use crate::{measures, shown};
use serde_json::{Value, json};

/// The answer to what is asked of a run.
pub(crate) fn answer(run: &mut Run, asked: OfRun) -> Result<Value, Refused> {
    Ok(match asked {
        OfRun::Advance { to_s, most } => {
            let reached = run.advance(time(to_s), most)?;
            run.here(reached)
        }
        OfRun::Go { to_step, most } => {
            let reached = run.go(to_step, most)?;
            run.here(reached)
        }
        OfRun::Step => run.step()?,
        OfRun::Until { events, flow, to_s, most } => run.until(&events, flow, time(to_s), most)?,
        OfRun::Hand { hand } => json!({ "entry": run.hand(hand)? }),
        OfRun::Look => shown::look(run),
        OfRun::History { between, bins } => measures::history(run, time(between.from_s), time(between.to_s), bins),
        OfRun::Timeline { between, most } => shown::timeline(run, time(between.from_s), time(between.to_s), most),
        OfRun::Table { name } => shown::table(run, &name)?,
        OfRun::Field { path } => json!({ "value": run.live.value(&path) }),
    })
}
