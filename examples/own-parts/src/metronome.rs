//! A source: a packet at every beat.

use fairq_sched::own::{OwnPart, Place, Setting, Value};
use fairq_sched::units::{Bytes, Time};
use fairq_sim::own::MakeFlow;
use fairq_sim::traffic::registry::Context;
use fairq_sim::traffic::{Emission, Source};
use std::sync::Arc;

/// `metronome(gap="1 ms", packet=1000)`.
pub struct Part;

impl OwnPart<dyn MakeFlow> for Part {
    fn name(&self) -> &'static str {
        "metronome"
    }

    fn place(&self) -> Place {
        Place::Traffic
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |name: &str, default, about: &str| Setting { name: name.into(), default, about: about.into() };
        vec![
            setting("gap", Value::Text("1 ms".into()), "The time between two packets."),
            setting("packet", Value::Whole(1000), "Bytes of a packet."),
        ]
    }

    fn version(&self) -> String {
        "1".into()
    }

    fn make(&self, values: &[Value]) -> Result<Arc<dyn MakeFlow>, String> {
        let [Value::Text(gap), Value::Whole(packet @ 1..=65_535)] = values else {
            return Err("packet is from 1 to 65535 bytes".into());
        };
        let gap: Time = gap.parse().map_err(|fault| format!("gap: {fault}"))?;
        let is_sound = gap > Time::ZERO;
        if is_sound { Ok(Arc::new(Make { gap, packet: *packet as u32 })) } else { Err("gap is more than zero".into()) }
    }
}

struct Make {
    gap: Time,
    packet: u32,
}

impl MakeFlow for Make {
    fn source(&self, context: Context<'_>) -> Option<Box<dyn Source>> {
        Some(Box::new(Metronome { gap: self.gap, next: Emission { time: context.start, length: self.packet } }))
    }

    fn packet(&self) -> Bytes {
        Bytes(self.packet.into())
    }

    fn demand(&self) -> Option<f64> {
        Some(f64::from(self.packet) * 8.0 / self.gap.as_s())
    }
}

struct Metronome {
    gap: Time,
    next: Emission,
}

impl Source for Metronome {
    fn next(&mut self) -> Option<Emission> {
        let now = self.next;
        self.next.time = now.time.saturating_add(self.gap);
        Some(now)
    }
}
