//! A congestion control: a packet more a round trip, a part of the window after a loss.

use fairq_sched::own::{OwnPart, Place, Setting, Value};
use fairq_sim::own::MakeFlow;
use fairq_sim::transport::congestion::{AVOIDANCE, Acked, Beginning, Congested, Congestion};
use std::sync::Arc;

/// `aimd(left=0.7)`.
pub struct Part;

impl OwnPart<dyn MakeFlow> for Part {
    fn name(&self) -> &'static str {
        "aimd"
    }

    fn place(&self) -> Place {
        Place::Transport
    }

    fn settings(&self) -> Vec<Setting> {
        let about = "The part of the window that is left after a loss.".into();
        vec![Setting { name: "left".into(), default: Value::Number(0.5), about }]
    }

    fn version(&self) -> String {
        "1".into()
    }

    fn make(&self, values: &[Value]) -> Result<Arc<dyn MakeFlow>, String> {
        match values {
            [Value::Number(left)] if (0.0..1.0).contains(left) => Ok(Arc::new(Make(*left))),
            _ => Err("left is a part, from 0 to less than 1".into()),
        }
    }
}

struct Make(f64);

impl MakeFlow for Make {
    fn control(&self, beginning: &Beginning) -> Option<Box<dyn Congestion>> {
        Some(Box::new(Aimd { left: self.0, window: beginning.window }))
    }
}

struct Aimd {
    left: f64,
    window: f64,
}

impl Congestion for Aimd {
    fn window(&self) -> f64 {
        self.window
    }

    fn acknowledged(&mut self, acked: &Acked) {
        if acked.is_limited && !acked.is_recovering {
            self.window += acked.newly as f64 / self.window;
        }
    }

    fn lost(&mut self, _congested: &Congested) {
        self.window = (self.window * self.left).max(2.0);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.window = congested.restart;
    }

    fn phase(&self) -> &'static str {
        AVOIDANCE
    }
}
