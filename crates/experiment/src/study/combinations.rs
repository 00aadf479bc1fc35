//! The combinations of the axes' values: what each is called and what it sets.

use super::arithmetic::{Expression, Value};
use super::document::is_taken;
use super::{AxisValue, Derived, Study};
use crate::scenario::axes::{self, Placed};
use fairq_text::Fault;
use serde_json::Value as Json;

/// The most runs of a study: their names alone take 100 MB.
pub const RUNS_MAX: usize = 1_000_000;

/// A field of the scenario that a study sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// Its path.
    pub path: String,
    /// Its value, as JSON.
    pub value: String,
    /// The place in the study that sets it.
    pub place: String,
}

/// A combination of the axes' values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combination {
    /// The axes and derived values, each with what it is here.
    pub labels: Vec<(String, Json)>,
    /// The fields that it sets, in order.
    pub sets: Vec<Set>,
}

impl Combination {
    /// Where in the study it is, for the end of a message.
    pub(super) fn said(&self) -> String {
        at(&self.labels)
    }
}

fn at(labels: &[(String, Json)]) -> String {
    let label = |(name, label): &(String, Json)| match label {
        Json::String(text) => format!("{name} = {text}"),
        other => format!("{name} = {other}"),
    };
    let labels: Vec<String> = labels.iter().map(label).collect();
    if labels.is_empty() { String::new() } else { format!(" (at {})", labels.join(", ")) }
}

/// All combinations that meet the conditions, in the order of the axes, the last varying fastest.
#[derive(Clone, Debug)]
pub struct Combinations {
    /// The fields that all points set alike.
    fixed: Vec<Set>,
    /// Of axes that vary together, what each step is called and sets.
    groups: Vec<Vec<Combination>>,
    derived: Vec<(String, Derived, Expression)>,
    /// The numbers of those that meet the conditions, among all.
    kept: Vec<usize>,
}

impl Combinations {
    /// The combinations of a study.
    ///
    /// # Errors
    /// As [`Document::combinations`](super::Document::combinations).
    pub(super) fn of(study: &Study) -> Result<Self, Fault> {
        let placed = axes::together(&study.axes);
        axes::check_values(&placed)?;
        let groups = placed.iter().map(|group| steps(group)).collect::<Result<Vec<_>, _>>()?;
        let fixed = fixed(study);
        check_names(&placed, study)?;
        check_fields(&placed, &groups, study)?;
        let count = groups.iter().try_fold(1_usize, |count, steps| count.checked_mul(steps.len()));
        let count = count.filter(|count| *count <= RUNS_MAX).ok_or_else(|| {
            let all = groups.iter().fold(1.0, |count, steps| count * steps.len() as f64);
            Fault::new("axes", format!("the axes have {all} combinations, more than {RUNS_MAX}; take fewer values"))
        })?;
        let mut all = Self { fixed, groups, derived: derived(study)?, kept: Vec::new() };
        let conditions = conditions(study)?;
        all.check_effects(&placed, &conditions)?;
        let replications = study.study.replications.and_then(|number| usize::try_from(number).ok()).unwrap_or(1);
        for number in 0..count {
            let (here, names) = all.at(number)?;
            if is_met(&conditions, &here, &names)? {
                all.kept.push(number);
            }
            if all.kept.len().saturating_mul(replications) > RUNS_MAX {
                return Err(Fault::new("axes", format!("the axes span more than {RUNS_MAX} runs; take fewer values")));
            }
        }
        if all.kept.is_empty() {
            return Err(Fault::new("study.conditions", "no combination of the axes meets the conditions"));
        }
        Ok(all)
    }

    /// Refuses an axis that changes no run, alone or with those that it varies with: each of its
    /// values would be the same runs again.
    fn check_effects(
        &self,
        placed: &[Vec<Placed<'_, AxisValue>>],
        conditions: &[(String, Expression)],
    ) -> Result<(), Fault> {
        let expressions = || conditions.iter().map(|(_, said)| said).chain(self.derived.iter().map(|(.., said)| said));
        let is_named = |axis: &Placed<'_, AxisValue>| expressions().any(|said| said.names(axis.name));
        let idle = placed
            .iter()
            .zip(&self.groups)
            .find(|(axes, steps)| steps.iter().all(|step| step.sets.is_empty()) && !axes.iter().any(is_named));
        let Some((axes, _)) = idle else { return Ok(()) };
        let message = format!(
            "{} sets no field, and no condition or derived value names it; write path = \"…\", the field that takes its values",
            axes[0].name
        );
        Err(Fault::new(&axes[0].place, message))
    }

    /// Their number.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.kept.len()
    }

    /// The combination of this number; an empty one if there is none.
    #[must_use]
    pub fn get(&self, number: usize) -> Combination {
        // It was computed before, to see whether it meets the conditions.
        let kept = self.kept.get(number).and_then(|number| self.at(*number).ok());
        kept.map(|(combination, _)| combination).unwrap_or_default()
    }

    /// Combination `number` of all, with the values that its names have in an expression.
    fn at(&self, mut number: usize) -> Result<(Combination, Vec<(String, Value)>), Fault> {
        let mut chosen = Vec::with_capacity(self.groups.len());
        for steps in self.groups.iter().rev() {
            chosen.push(&steps[number % steps.len()]);
            number /= steps.len();
        }
        let mut here = Combination { labels: Vec::new(), sets: self.fixed.clone() };
        for step in chosen.into_iter().rev() {
            here.labels.extend_from_slice(&step.labels);
            here.sets.extend_from_slice(&step.sets);
        }
        let mut names: Vec<(String, Value)> =
            here.labels.iter().map(|(name, label)| (name.clone(), Value::of(label))).collect();
        for (name, said, expression) in &self.derived {
            let place = format!("derive.{name}");
            let value = expression.evaluate(&names);
            let value = value.map_err(|why| Fault::new(&place, format!("{why}{}", here.said())))?;
            let label = value.label();
            names.push((name.clone(), Value::of(&label)));
            if let Some(path) = &said.path {
                let value =
                    said.unit.as_ref().map_or_else(|| label.clone(), |unit| format!("{} {unit}", plain(&label)).into());
                here.sets.push(Set { path: path.clone(), value: value.to_string(), place });
            }
            here.labels.push((name.clone(), label));
        }
        Ok((here, names))
    }
}

/// The plain form of a number: the units of a scenario know no exponents.
fn plain(label: &Json) -> String {
    match label {
        Json::Number(number) if number.is_f64() => {
            let shown = format!("{:.12}", number.as_f64().unwrap_or(f64::NAN));
            shown.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What `[study]` sets at all points.
fn fixed(study: &Study) -> Vec<Set> {
    let set = |(path, value): (&String, &Json)| Set {
        path: path.clone(),
        value: value.to_string(),
        place: "study.set".to_owned(),
    };
    let seed = study.study.seed.map(|seed| Set {
        path: "measure.seed".to_owned(),
        value: seed.to_string(),
        place: "study.seed".to_owned(),
    });
    study.study.set.iter().map(set).chain(seed).collect()
}

/// Of axes that vary together, what each step is called and sets.
fn steps(group: &[Placed<'_, AxisValue>]) -> Result<Vec<Combination>, Fault> {
    let step = |at: usize| {
        let mut step = Combination::default();
        for axis in group {
            let place = format!("{}.values[{at}]", axis.place);
            let (label, sets) = value(axis, &axis.values[at].0, &place)?;
            step.labels.push((axis.name.to_owned(), label));
            step.sets.extend(sets);
        }
        Ok(step)
    };
    (0..group[0].values.len()).map(step).collect()
}

/// The name of an axis's value and the fields that it sets.
fn value(axis: &Placed<'_, AxisValue>, given: &Json, place: &str) -> Result<(Json, Vec<Set>), Fault> {
    let set = |path: &str, value: &Json| Set { path: path.into(), value: value.to_string(), place: place.into() };
    match (axis.path, given) {
        (Some(_), Json::Object(_)) => Err(Fault::new(place, "a table of fields beside a path; leave one of them out")),
        (_, Json::Array(_) | Json::Null) => {
            Err(Fault::new(place, format!("{given} is not a text, a number, true or false, or a table")))
        }
        (Some(path), _) => Ok((given.clone(), vec![set(path, given)])),
        (None, Json::Object(_)) => {
            let (name, overrides) = axes::named(given, place)?;
            Ok((name, overrides.iter().map(|each| set(&each.path, &each.value)).collect()))
        }
        (None, _) => Ok((given.clone(), Vec::new())),
    }
}

/// Refuses an axis or derived value that is called as another or as a column.
fn check_names(groups: &[Vec<Placed<'_, AxisValue>>], study: &Study) -> Result<(), Fault> {
    let axes = groups.iter().flatten().map(|axis| (axis.name, format!("{}.name", axis.place)));
    let derived = study.derive.0.iter().map(|(name, _)| (name.as_str(), format!("derive.{name}")));
    let mut known: Vec<String> = Vec::new();
    for (name, place) in axes.chain(derived) {
        if is_taken(name) {
            return Err(Fault::new(place, format!("{name} is a column of the results; choose another name")));
        }
        // SQL knows no upper case.
        if known.contains(&name.to_lowercase()) {
            return Err(Fault::new(place, format!("{name} is another axis; choose another name")));
        }
        known.push(name.to_lowercase());
    }
    Ok(())
}

/// Refuses a field of the scenario that two places of the study set.
fn check_fields(
    placed: &[Vec<Placed<'_, AxisValue>>],
    groups: &[Vec<Combination>],
    study: &Study,
) -> Result<(), Fault> {
    let subject = &study.study;
    let mut setters: Vec<(String, String)> =
        subject.set.keys().map(|path| (path.clone(), "study.set".into())).collect();
    for (name, is_said) in [("seed", subject.seed.is_some()), ("replications", subject.replications.is_some())] {
        let path = format!("measure.{name}");
        if is_said && subject.set.contains_key(&path) {
            let message = format!("study.set sets {path} already; choose one of them");
            return Err(Fault::new(format!("study.{name}"), message));
        }
        setters.extend(is_said.then(|| (path, format!("study.{name}"))));
    }
    // What the steps of an axis set stands in the axis.
    let of_axis = |axis: &Placed<'_, AxisValue>, steps: &[Combination]| {
        let inside = format!("{}.values", axis.place);
        let sets = steps.iter().flat_map(|step| &step.sets).filter(|set| set.place.starts_with(&inside));
        sets.map(|set| set.path.clone()).collect::<std::collections::BTreeSet<String>>()
    };
    let axes = placed.iter().zip(groups);
    let axes = axes.flat_map(|(group, steps)| group.iter().map(|axis| (axis.place.clone(), of_axis(axis, steps))));
    let derived =
        study.derive.0.iter().map(|(name, said)| (format!("derive.{name}"), said.path.iter().cloned().collect()));
    for (place, paths) in axes.chain(derived) {
        for path in paths {
            if let Some((_, setter)) = setters.iter().find(|(known, _)| *known == path) {
                let message = format!("{setter} sets this field already; choose one of them");
                return Err(Fault::new(place, message).of_field(path));
            }
            setters.push((path, place.clone()));
        }
    }
    Ok(())
}

fn derived(study: &Study) -> Result<Vec<(String, Derived, Expression)>, Fault> {
    let read = |(name, said): &(String, Derived)| {
        if said.unit.is_some() && said.path.is_none() {
            let message = "a unit is for the field that path names; write path too";
            return Err(Fault::new(format!("derive.{name}.unit"), message));
        }
        let expression = Expression::read(&said.value);
        let expression = expression.map_err(|why| Fault::new(format!("derive.{name}"), why))?;
        Ok((name.clone(), said.clone(), expression))
    };
    study.derive.0.iter().map(read).collect()
}

fn conditions(study: &Study) -> Result<Vec<(String, Expression)>, Fault> {
    let read = |(at, condition): (usize, &String)| {
        let place = format!("study.conditions[{at}]");
        let expression = Expression::read(condition).map_err(|why| Fault::new(&place, why))?;
        Ok((place, expression))
    };
    study.study.conditions.iter().enumerate().map(read).collect()
}

fn is_met(conditions: &[(String, Expression)], here: &Combination, names: &[(String, Value)]) -> Result<bool, Fault> {
    for (place, condition) in conditions {
        let holds = condition.holds(names);
        if !holds.map_err(|why| Fault::new(place, format!("{why}{}", here.said())))? {
            return Ok(false);
        }
    }
    Ok(true)
}
