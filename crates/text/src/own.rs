//! Own parts in text: their tables take the shape in which the types are read, and what is wrong
//! with their names and settings is said as it is of the parts of the registry.

use crate::fault::{Fault, Kind, near_miss};
use fairq_sched::card::Card;
use fairq_sched::own::{KIND, OwnPart, Place, Setting, Value as Given};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What text needs to know of own parts, whatever they build: names, places, settings.
#[derive(Clone, Debug, Default)]
pub struct Words(Vec<Word>);

#[derive(Clone, Debug)]
struct Word {
    name: &'static str,
    place: Place,
    settings: Vec<Setting>,
}

impl Words {
    /// Adds those of `parts`, whose names none of `taken` has.
    ///
    /// # Errors
    /// The name that is taken, or that is none.
    pub fn add<M: ?Sized>(&mut self, parts: &[Arc<dyn OwnPart<M>>], taken: &[&[Card]]) -> Result<(), String> {
        for part in parts {
            let name = part.name();
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_word) {
                return Err(format!(
                    "`{name}` is no name of an own part; write small letters, digits and _, a letter first"
                ));
            }
            let is_taken = taken.iter().copied().flatten().any(|card| card.is_called(name));
            if is_taken || self.find(name).is_some() || name == KIND {
                return Err(format!("another part is called {name}; give the own part another name"));
            }
            let settings = part.settings();
            let is_reserved = |setting: &&Setting| setting.name == "kind";
            if let Some(setting) = settings.iter().find(is_reserved) {
                return Err(format!("{name}: a setting cannot be called {}; give it another name", setting.name));
            }
            self.0.push(Word { name, place: part.place(), settings });
        }
        Ok(())
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of the part called `name`.
    #[must_use]
    pub fn place_of(&self, name: &str) -> Option<Place> {
        self.find(name).map(|word| word.place)
    }

    /// The names of the parts for places of which `fits` says so.
    pub fn names(&self, fits: impl Fn(Place) -> bool) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |word| fits(word.place)).map(|word| word.name)
    }

    fn find(&self, name: &str) -> Option<&Word> {
        self.0.iter().find(|word| word.name == name)
    }

    /// Turns `part`, the table of a part for `place` at `path`, into `{kind = "own", name = "mine",
    /// settings = {k = 3}}` if it is that of an own part, `{kind = "mine", k = 3}`. `cards` are
    /// those of the registry for this place.
    ///
    /// # Errors
    /// A name that is not known, or not for this place; a setting that is not known, or of another
    /// type.
    pub fn shape(&self, part: &mut Value, place: Place, cards: &[Card], path: &str) -> Result<(), Fault> {
        let Value::Object(table) = part else { return Ok(()) };
        let Some(kind) = table.get("kind").and_then(Value::as_str) else { return Ok(()) };
        if kind == KIND {
            return self.check_shape(table, place, path);
        }
        let Some(word) = self.find(kind) else {
            if self.0.is_empty() || cards.iter().any(|card| card.is_called(kind)) {
                return Ok(());
            }
            let known = cards.iter().flat_map(|card| std::iter::once(card.name).chain(card.aliases.iter().copied()));
            let near = near_miss(kind, self.names(|of| of == place).chain(known));
            return Err(Fault::new(path, format!("`{kind}` is not known here{near}")).of_kind(Kind::Word));
        };
        word.check_place(place, path)?;
        let mut settings = std::mem::take(table);
        settings.shift_remove("kind");
        word.check(&settings, path)?;
        let shape = [("kind", KIND.into()), ("name", word.name.into()), ("settings", Value::Object(settings))];
        *table = shape.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(())
    }

    /// Checks a table that has the shape already, as the scenario of a result.
    fn check_shape(&self, table: &Map<String, Value>, place: Place, path: &str) -> Result<(), Fault> {
        let Some(name) = table.get("name").and_then(Value::as_str) else { return Ok(()) };
        let Some(word) = self.find(name) else {
            let near = near_miss(name, self.names(|of| of == place));
            let message = format!("`{name}` is no own part that is known here{near}");
            return Err(Fault::new(format!("{path}.name"), message).of_kind(Kind::Word));
        };
        word.check_place(place, path)?;
        match table.get("settings") {
            Some(Value::Object(settings)) => word.check(settings, &format!("{path}.settings")),
            _ => Ok(()),
        }
    }
}

impl Word {
    fn check_place(&self, place: Place, path: &str) -> Result<(), Fault> {
        if self.place == place {
            return Ok(());
        }
        let message = format!("{} is of the kind {}, and not {}", self.name, self.place.name(), place.name());
        Err(Fault::new(path, message).of_kind(Kind::Word))
    }

    /// Whether it has all of these settings, each of this type.
    fn check(&self, settings: &Map<String, Value>, path: &str) -> Result<(), Fault> {
        for (name, value) in settings {
            let path = format!("{path}.{name}");
            let Some(setting) = self.settings.iter().find(|setting| setting.name == *name) else {
                let message = if self.settings.is_empty() {
                    format!("{} has no settings", self.name)
                } else {
                    let near = near_miss(name, self.settings.iter().map(|setting| setting.name.as_str()));
                    format!("no such field of {}{near}", self.name)
                };
                return Err(Fault::new(path, message).of_kind(Kind::Field));
            };
            let shown = match value {
                Value::Null => "nothing".to_owned(),
                Value::Array(_) => "a list".to_owned(),
                Value::Object(_) => "a table".to_owned(),
                Value::String(text) => format!("\"{text}\""),
                number => format!("`{number}`"),
            };
            let wanted = match serde_json::from_value::<Given>(value.clone()) {
                Ok(given) => given.like(&setting.default).err(),
                Err(_) => Some(setting.default.wanted()),
            };
            if let Some(wanted) = wanted {
                return Err(Fault::new(path, format!("write {wanted}, not {shown}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{queue_own, written};
    use fairq_sched::contract::{Line, Scheduler};
    use fairq_sched::own::{MakeQueue, OwnPart, Place, Setting, Value};
    use fairq_sched::registry::SchedulerSettings;
    use fairq_sched::units::{Limit, Rate};
    use std::sync::Arc;

    /// `mine` is a round-robin.
    struct Mine;

    impl OwnPart<dyn MakeQueue> for Mine {
        fn name(&self) -> &'static str {
            "mine"
        }
        fn place(&self) -> Place {
            Place::Scheduler
        }
        fn settings(&self) -> Vec<Setting> {
            let setting = |name: &str, default| Setting { name: name.into(), default, about: String::new() };
            let (part, is_on) = (Value::Number(0.5), Value::Truth(false));
            vec![setting("k", Value::Whole(3)), setting("part", part), setting("is_on", is_on)]
        }
        fn version(&self) -> String {
            "1".into()
        }
        fn make(&self, values: &[Value]) -> Result<Arc<dyn MakeQueue>, String> {
            assert_eq!(values.len(), 3);
            if values[0] == Value::Whole(13) {
                Err("13 is unlucky; write another k".into())
            } else {
                Ok(Arc::new(Self))
            }
        }
    }

    impl MakeQueue for Mine {
        fn scheduler(&self, line: &Line) -> Option<Box<dyn Scheduler>> {
            SchedulerSettings::by_name("round_robin").map(|settings| settings.boxed(line))
        }
    }

    #[test]
    fn an_own_part_is_read_and_written_as_one_of_the_registry() {
        let parts: [Arc<dyn OwnPart<dyn MakeQueue>>; 1] = [Arc::new(Mine)];
        let read = |text: &str| queue_own(text, Some(Limit::Packets(7)), &parts);
        let queue = read("mine(part=1, k=3, is_on=true) + codel + port_pair").unwrap();
        assert_eq!((queue.name().as_str(), queue.limit), ("mine + codel", Some(Limit::Packets(7))));
        assert_eq!(written(&queue), "mine(is_on=true, part=1.0) + codel + port_pair");
        assert_eq!(read(&written(&queue)), Ok(queue.clone()));
        assert_eq!(queue.build(&Line::new(Rate::MAX)).held().packets, 0);
        let tree = "drr(classes=[(name=a, queue=mine(k=2) + 40packets), (name=b, queue=\"fifo\")])";
        let tree = read(tree);
        assert_eq!(read(&written(tree.as_ref().expect("a tree"))).as_ref(), tree.as_ref());
        assert_eq!(tree.expect("a tree").build(&Line::new(Rate::MAX)).held().packets, 0);
        for (text, said) in [
            ("drr(classes=[(name=a, queue=mine(k=13))])", "scheduler: 13 is unlucky; write another k"),
            ("mine(k=13)", "scheduler: 13 is unlucky; write another k"),
            ("mine(k=1.5)", "scheduler.k: write a whole number, not `1.5`"),
            ("mine(is_on=1)", "scheduler.is_on: write true or false, not `1`"),
            ("mine(k=[1])", "scheduler.k: write a whole number, not a list"),
            ("mine(is_one=true)", "scheduler.is_one: no such field of mine; did you mean is_on?"),
            ("mime", "`mime` is no part of a queue; did you mean mine?"),
            ("mine + mine", "`mine + mine` names two parts of the kind scheduler"),
            ("own", "`own` is no part of a queue; "),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.starts_with(said), "{text}: {fault}");
        }
    }
}
