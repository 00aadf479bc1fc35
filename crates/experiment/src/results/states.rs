//! What disciplines show of themselves, as `tc -s` does: at each sample, if samples are taken, and
//! at the end. Reading a discipline changes nothing of it.

use super::lines;
use super::table::{Builder, Table};
use crate::columns::STATES;
use fairq_sched::contract::{self, Discipline as _};
use fairq_sched::reading::{Reading, Unit};
use fairq_sched::units::Time;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The readings of a run so far.
#[derive(Clone, Debug, Default)]
pub struct States {
    rows: Vec<Row>,
    /// Every name of a quantity or a queue: rows of one name share it.
    names: BTreeSet<Arc<str>>,
}

/// A reading, without what its line says.
#[derive(Clone, Debug)]
struct Row {
    time_s: f64,
    /// The number of the line among those that have rows in the tables of lines.
    line: usize,
    quantity: Arc<str>,
    subqueue: Arc<str>,
    unit: Unit,
    value: f64,
}

impl States {
    /// Notes what every discipline shows at `now`, to which the run has come and not beyond.
    pub fn note(&mut self, plan: &Plan, simulation: &Simulation, now: Time) {
        for (number, (_, line)) in lines(plan, simulation).enumerate() {
            let Some(gateway) = &line.gateway else { continue };
            gateway.port.discipline().readings(now, &mut |reading| self.push(now, number, &reading));
        }
    }

    fn push(&mut self, now: Time, line: usize, reading: &Reading<'_>) {
        let [quantity, subqueue] = [reading.name, &*reading.part()].map(|name| self.shared(name));
        let (unit, value) = (reading.unit, reading.value.real());
        self.rows.push(Row { time_s: now.as_s(), line, quantity, subqueue, unit, value });
    }

    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let name = Arc::<str>::from(name);
        self.names.insert(Arc::clone(&name));
        name
    }

    /// The number of rows that samples of a run of `plan` give, where its disciplines show no more
    /// than before their first packet. Some show more later: a rate for each flow that is paced,
    /// but every flow has rows of `series` too, whose number is bounded.
    #[must_use]
    pub fn rows_of(plan: &Plan, interval: Time) -> u64 {
        let samples = plan.warm_up.saturating_add(plan.duration).0 / interval.0.max(1);
        let mut readings = 0;
        for line in plan.lines.iter().filter(|line| !line.is_access) {
            let Some(rate) = line.rate else { continue };
            let discipline = line.queue.build(&contract::Line::new(rate));
            discipline.readings(Time::ZERO, &mut |_| readings += 1);
        }
        samples.saturating_mul(readings)
    }

    /// The readings as a table.
    #[must_use]
    pub fn into_table(self, plan: &Plan) -> Table {
        let lines: Vec<_> = plan.lines.iter().filter(|line| !line.is_access).collect();
        let disciplines: Vec<Arc<str>> = lines.iter().map(|line| line.queue.name().into()).collect();
        let rows = || self.rows.iter();
        let mut table = Builder::new(&STATES);
        table.real("time_s", rows().map(|row| row.time_s));
        table.text("link", rows().map(|row| Arc::clone(&lines[row.line].name)));
        table.words("direction", rows().map(|row| lines[row.line].direction()));
        table.text("discipline", rows().map(|row| Arc::clone(&disciplines[row.line])));
        table.text("quantity", rows().map(|row| Arc::clone(&row.quantity)));
        table.text("subqueue", rows().map(|row| Arc::clone(&row.subqueue)));
        table.words("unit", rows().map(|row| row.unit.name()));
        table.real("value", rows().map(|row| row.value));
        table.finish()
    }
}
