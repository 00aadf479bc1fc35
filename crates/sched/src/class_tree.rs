//! A tree of classes as a scenario gives it: a list of names, each with its parent; and which leaf
//! a packet belongs to.
//!
//! A class without a parent stands at the line itself. Leaves have a queue each, numbered in the
//! order of the list. A packet belongs to the leaf that its flow names, or else to the one that
//! lists its DSCP, or else to the default leaf.

use crate::contract::{Flow, Slot};
use crate::leaf::LeafQueue;
use crate::packet::Packet;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Classes that a tree may have at most.
pub const CLASSES_MAX: usize = 16_384;

/// Levels that a tree may have at most.
pub const LEVELS_MAX: usize = 16;

/// Code points of a DSCP.
const CODE_POINTS: usize = 64;

/// What the settings of a class say of its place.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its name.
    pub name: &'a str,
    /// The class above it; without one it stands at the line.
    pub parent: Option<&'a str>,
    /// Packets with one of these code points belong to it, if it is a leaf and their flow names no
    /// class.
    pub dscp: &'a [u8],
    /// The queue in which its packets wait, if it names one.
    pub queue: Option<&'a LeafQueue>,
}

impl<'a> Place<'a> {
    /// The place of the class called `name`.
    pub(crate) fn new(name: &'a str, parent: Option<&'a String>, dscp: &'a [u8]) -> Self {
        Self { name, parent: parent.map(String::as_str), dscp, queue: None }
    }

    /// The same with `queue`, if there is one.
    pub(crate) fn with(self, queue: Option<&'a LeafQueue>) -> Self {
        Self { queue, ..self }
    }
}

/// The tree. Classes are numbered in the order of the list, leaves for themselves.
#[derive(Clone, Debug)]
pub struct ClassTree {
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    depths: Vec<usize>,
    /// The number among the leaves; `None` for a class with others below it.
    slots: Vec<Option<Slot>>,
    /// The class of each leaf.
    leaves: Vec<usize>,
    of_dscp: [Slot; CODE_POINTS],
}

impl ClassTree {
    /// The tree of `places`, in which packets without a class belong to `default`, or to the first
    /// leaf. [`fault`] must be `None`.
    #[must_use]
    pub fn new(places: &[Place<'_>], default: Option<&str>) -> Self {
        let parents = parents(places);
        let mut slots = alloc::vec![None; places.len()];
        let inner: BTreeSet<usize> = parents.iter().copied().flatten().collect();
        let leaves: Vec<usize> = (0..places.len()).filter(|class| !inner.contains(class)).collect();
        for (slot, class) in leaves.iter().enumerate() {
            slots[*class] = Some(slot as Slot);
        }
        let default = leaves.iter().position(|class| Some(places[*class].name) == default).unwrap_or(0) as Slot;
        let mut of_dscp = [default; CODE_POINTS];
        for (slot, class) in leaves.iter().enumerate() {
            for point in places[*class].dscp {
                of_dscp[usize::from(*point) % CODE_POINTS] = slot as Slot;
            }
        }
        let depths = (0..places.len()).map(|class| above(&parents, class).count()).collect();
        let names = places.iter().map(|place| place.name.to_string()).collect();
        Self { names, parents, depths, slots, leaves, of_dscp }
    }

    /// How many classes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of `class`.
    #[must_use]
    pub fn name(&self, class: usize) -> &str {
        &self.names[class]
    }

    /// The class above `class`; nothing at the line.
    #[must_use]
    pub fn parent(&self, class: usize) -> Option<usize> {
        self.parents[class]
    }

    /// How many classes are above `class`.
    #[must_use]
    pub fn depth(&self, class: usize) -> usize {
        self.depths[class]
    }

    /// The number of the leaf `class`; `None` for a class with others below it.
    #[must_use]
    pub fn slot(&self, class: usize) -> Option<Slot> {
        self.slots[class]
    }

    /// The classes that are leaves, by their number as such.
    #[must_use]
    pub fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// `class` and those above it, the highest last.
    pub fn path(&self, class: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(Some(class), |class| self.parents[*class])
    }

    /// The names of the leaves, as flows name them, in the order of their queues.
    #[must_use]
    pub fn leaf_names(&self) -> Vec<&str> {
        self.leaves.iter().map(|class| self.names[*class].as_str()).collect()
    }

    /// The leaf of a packet.
    #[must_use]
    pub fn leaf_of(&self, flow: Flow, packet: &Packet) -> Slot {
        flow.class().map_or(self.of_dscp[usize::from(packet.tos >> 2)], Slot::from)
    }
}

/// The names of the leaves, by which flows choose one.
#[must_use]
pub fn leaf_names<'a>(places: &[Place<'a>]) -> Vec<&'a str> {
    leaves(places).into_iter().map(|place| place.name).collect()
}

/// The leaves, in the order of their queues.
#[must_use]
pub fn leaves<'a>(places: &[Place<'a>]) -> Vec<Place<'a>> {
    let inner: BTreeSet<&str> = places.iter().filter_map(|place| place.parent).collect();
    places.iter().filter(|place| !inner.contains(place.name)).copied().collect()
}

/// Why `places` are no tree of the scheduler called `scheduler`, or `default` no leaf of it: one
/// line with the remedy.
#[must_use]
pub fn fault(scheduler: &str, places: &[Place<'_>], default: Option<&str>) -> Option<String> {
    if !(1..=CLASSES_MAX).contains(&places.len()) {
        return Some(format!("{scheduler}: {} classes; write 1 to {CLASSES_MAX}", places.len()));
    }
    let names: BTreeMap<&str, usize> = places.iter().enumerate().rev().map(|(at, place)| (place.name, at)).collect();
    let inner: BTreeSet<&str> = places.iter().filter_map(|place| place.parent).collect();
    let mut owners = BTreeMap::new();
    let of_class = places.iter().enumerate().find_map(|(at, place)| {
        let is_taken = names.get(place.name) != Some(&at);
        let of_itself = || fault_of_class(place, is_taken, inner.contains(place.name));
        let of_parent = || fault_of_parent(place, &names, places);
        let of_points = || fault_of_points(place, &mut owners);
        let fault = of_itself().or_else(of_parent).or_else(of_points)?;
        Some(format!("{scheduler}: class `{}`: {fault}", place.name))
    });
    let parents = parents(places);
    of_class.or_else(|| fault_of_shape(scheduler, places, &parents)).or_else(|| {
        let (default, leaves) = (default?, leaf_names(places));
        let is_leaf = leaves.contains(&default);
        (!is_leaf).then(|| format!("{scheduler}: default: no leaf is called {default}{}", near_miss(default, &leaves)))
    })
}

/// As [`fault`], of a scheduler that also works without classes.
#[must_use]
pub fn fault_of_list(scheduler: &str, places: &[Place<'_>], default: Option<&str>) -> Option<String> {
    if !places.is_empty() {
        return fault(scheduler, places, default);
    }
    default.map(|_| format!("{scheduler}: default names a class, and there are none; write classes"))
}

/// What is wrong with a class by itself, or if its name `is_taken`, or if it has classes below it.
fn fault_of_class(place: &Place<'_>, is_taken: bool, is_inner: bool) -> Option<String> {
    let below =
        |what| Some(format!("packets wait in leaves, and it has classes below it; give one of those the {what}"));
    match place {
        Place { name: "", .. } => Some("a name is not empty".to_string()),
        Place { name, queue: Some(_), .. } if name.contains('/') => {
            Some("a name beside queues has no /, which stands before the classes in a leaf".to_string())
        }
        _ if is_taken => Some("the name is taken; names are unique".to_string()),
        Place { queue: Some(_), .. } if is_inner => below("queue"),
        Place { dscp: [_, ..], .. } if is_inner => below("dscp"),
        _ => None,
    }
}

/// Whether there is no class that it names as its parent.
fn fault_of_parent(place: &Place<'_>, names: &BTreeMap<&str, usize>, places: &[Place<'_>]) -> Option<String> {
    let parent = place.parent.filter(|parent| !names.contains_key(parent))?;
    let others: Vec<&str> = places.iter().map(|other| other.name).filter(|name| *name != place.name).collect();
    Some(format!("no class is called {parent}, its parent{}", near_miss(parent, &others)))
}

/// What is wrong with its code points beside those of the classes before it, the `owners`.
fn fault_of_points<'a>(place: &Place<'a>, owners: &mut BTreeMap<u8, &'a str>) -> Option<String> {
    if let Some(point) = place.dscp.iter().find(|point| usize::from(**point) >= CODE_POINTS) {
        return Some(format!("dscp {point}; a code point is 0 to 63"));
    }
    place.dscp.iter().find_map(|point| match owners.insert(*point, place.name) {
        Some(owner) if owner != place.name => Some(format!("dscp {point} belongs to class `{owner}`")),
        _ => None,
    })
}

/// What is wrong with the ways from classes to the line.
fn fault_of_shape(scheduler: &str, places: &[Place<'_>], parents: &[Option<usize>]) -> Option<String> {
    for (class, place) in places.iter().enumerate() {
        let name = place.name;
        if above(parents, class).take(places.len()).any(|other| other == class) {
            return Some(format!(
                "{scheduler}: class `{name}` is above itself; one of its circle needs another parent"
            ));
        }
        // A way into a circle that it is no part of ends here too; the circle's own classes are
        // told of it.
        let levels = 1 + above(parents, class).take(places.len()).count();
        if levels > LEVELS_MAX && levels <= places.len() {
            return Some(format!("{scheduler}: class `{name}` is on level {levels}; a tree has at most {LEVELS_MAX}"));
        }
    }
    None
}

fn parents(places: &[Place<'_>]) -> Vec<Option<usize>> {
    let by_name: BTreeMap<&str, usize> = places.iter().enumerate().map(|(at, place)| (place.name, at)).collect();
    places.iter().map(|place| by_name.get(place.parent?).copied()).collect()
}

/// The classes above `class`, without end if there is a circle.
fn above(parents: &[Option<usize>], class: usize) -> impl Iterator<Item = usize> + '_ {
    core::iter::successors(parents[class], |class| parents[*class])
}

/// "; did you mean x?" for the nearest of `known`, or what there is.
pub(crate) fn near_miss(word: &str, known: &[&str]) -> String {
    const SHOWN: usize = 24;
    match known.iter().map(|name| (distance(word, name), *name)).min() {
        Some((distance, name)) if distance <= word.chars().count().div_ceil(3) => format!("; did you mean {name}?"),
        None => "; there are none".to_string(),
        Some(_) if known.len() <= SHOWN => format!("; there are {}", known.join(", ")),
        Some(_) => format!("; there are {}, …", known[..SHOWN].join(", ")),
    }
}

/// How many letters must be put in, taken out or replaced to make one word the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], at + 1);
        for (column, same) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(*same != letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn place<'a>(name: &'a str, parent: Option<&'a str>, dscp: &'a [u8]) -> Place<'a> {
        Place { name, parent, dscp, queue: None }
    }

    #[test]
    fn a_packet_belongs_to_the_leaf_of_its_flow_or_of_its_code_point_or_to_the_default() {
        // The child may stand before its parent.
        let places = [
            place("voice", Some("office"), &[46, 34]),
            place("office", None, &[]),
            place("bulk", Some("office"), &[8]),
            place("guests", None, &[]),
        ];
        assert_eq!(leaf_names(&places), ["voice", "bulk", "guests"]);
        let tree = ClassTree::new(&places, Some("guests"));
        assert_eq!((tree.leaves(), tree.slot(1), tree.slot(3)), (&[0, 2, 3][..], None, Some(2)));
        assert_eq!((tree.depth(0), tree.depth(3), tree.path(0).collect::<Vec<_>>()), (1, 0, [0, 1].to_vec()));
        let leaf = |class: Option<crate::contract::Class>, tos: u8| {
            let packet = Packet { tos, ..Packet::new(0, crate::units::Time::ZERO, 100) };
            tree.leaf_of(Flow::of_slot(7).in_class(class), &packet)
        };
        assert_eq!([leaf(None, 46 << 2 | 3), leaf(None, 34 << 2), leaf(None, 8 << 2), leaf(None, 0)], [0, 0, 1, 2]);
        assert_eq!(tree.leaf_names()[1], "bulk");
        assert_eq!(leaf(Some(1), 46 << 2), 1);
        assert!(!tree.leaf_names().contains(&"office"), "no leaf");
        assert_eq!(
            ClassTree::new(&places, None).leaf_of(Flow::of_slot(7), &Packet::new(0, crate::units::Time::ZERO, 1)),
            0
        );
    }

    #[test]
    fn what_is_no_tree_is_refused_with_the_remedy() {
        let (top, many) = (place("top", None, &[]), (0..=CLASSES_MAX).map(|at| format!("c{at}")).collect::<Vec<_>>());
        let deep: Vec<Place<'_>> =
            (0..=LEVELS_MAX).map(|at| place(&many[at], at.checked_sub(1).map(|at| many[at].as_str()), &[])).collect();
        let wide: Vec<Place<'_>> = many.iter().map(|name| place(name, None, &[])).collect();
        let cases: [(&[Place<'_>], Option<&str>, &str); 14] = [
            (&[], None, "x: 0 classes; write 1 to 16384"),
            (&wide, None, "x: 16385 classes; write 1 to 16384"),
            (&[place("", None, &[])], None, "x: class ``: a name is not empty"),
            (&[top, top], None, "x: class `top`: the name is taken; names are unique"),
            (
                &[top, place("a", Some("tip"), &[])],
                None,
                "x: class `a`: no class is called tip, its parent; did you mean top?",
            ),
            (
                &[top, place("a", Some("office"), &[])],
                None,
                "x: class `a`: no class is called office, its parent; there are top",
            ),
            (
                &[place("a", Some("b"), &[]), place("b", Some("a"), &[])],
                None,
                "x: class `a` is above itself; one of its circle needs another parent",
            ),
            (
                &[top, place("a", Some("a"), &[])],
                None,
                "x: class `a` is above itself; one of its circle needs another parent",
            ),
            (&deep, None, "x: class `c16` is on level 17; a tree has at most 16"),
            (&[place("a", None, &[64])], None, "x: class `a`: dscp 64; a code point is 0 to 63"),
            (
                &[place("top", None, &[5]), place("a", Some("top"), &[])],
                None,
                "x: class `top`: packets wait in leaves, and it has classes below it; give one of those the dscp",
            ),
            (&[place("a", None, &[5]), place("b", None, &[5])], None, "x: class `b`: dscp 5 belongs to class `a`"),
            (&[place("voice", None, &[])], Some("voise"), "x: default: no leaf is called voise; did you mean voice?"),
            (&[top, place("a", Some("top"), &[])], Some("top"), "x: default: no leaf is called top; there are a"),
        ];
        for (places, default, said) in cases {
            assert_eq!(fault("x", places, default).as_deref(), Some(said));
        }
        assert_eq!(fault("x", &deep[..LEVELS_MAX], Some("c15")), None);
        assert_eq!(fault("x", &wide[..CLASSES_MAX], None), None);
    }

    #[test]
    fn the_distance_of_words_is_the_least_number_of_changes() {
        assert_eq!([distance("", "abc"), distance("kitten", "sitting"), distance("voise", "voice")], [3, 3, 1]);
    }
}
