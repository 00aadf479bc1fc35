//! Random changes of a random test network, while it runs.

use super::{Draw, file};
use fairq_experiment::experiment::Experiment;
use serde_json::{Value, json};

/// The test network of `seed` with up to 12 random changes, as JSON text. A change that its link or
/// flow cannot take is left out.
pub(crate) fn changing_world(seed: u64) -> String {
    let mut world: Value = serde_json::from_str(&super::world(seed)).expect("a test network is JSON");
    let mut draw = Draw::plain(!seed.rotate_left(24));
    for _ in 0..12 {
        let change = draw.change(&world);
        let before = world.clone();
        let changes = world.as_object_mut().expect("a table").entry("changes").or_insert_with(|| json!([]));
        changes.as_array_mut().expect("a list").push(change);
        if Experiment::read_with(&world.to_string(), "drawn.json", &[], &file).is_err() {
            world = before;
        }
    }
    world.to_string()
}

impl Draw {
    fn change(&mut self, world: &Value) -> Value {
        // Most happens in the first seconds.
        let at = ["0 s", "1 ms", "0.3 s", "1 s", "1000.000001 ms", "1.7 s", "3 s", "8 s"][self.below(8)];
        let some = |draw: &mut Self, table: &str| {
            let entries = world[table].as_array().expect("a list");
            entries[draw.below(entries.len())]["name"].clone()
        };
        if self.one_in(8) {
            return json!({ "at": at, "flow": some(self, "flows"), "weight": 1 + self.below(5) });
        }
        let mut change = json!({ "at": at, "link": some(self, "links") });
        if self.one_in(2) {
            change["direction"] = self.one(&["forward", "reverse"]).into();
        }
        match self.below(8) {
            0 => change["rate"] = "0 bit/s".into(),
            1 | 2 => change["rate"] = self.one(&["9.6 kbit/s", "33333 bit/s", "1 Mbit/s", "10 Tbit/s"]).into(),
            3 => change["up"] = self.one_in(2).into(),
            4 => change["delay"] = self.one(&["0 s", "1 ps", "20 ms", "0.4 s"]).into(),
            5 => {
                change["loss"] = [json!(0), json!(0.3)][self.below(2)].clone();
                change["jitter"] = self.one(&["0 s", "7 ms"]).into();
            }
            6 => change["queue"] = self.queue().into(),
            _ => change["limit"] = self.limit().into(),
        }
        change
    }
}
