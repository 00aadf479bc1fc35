//! The places of nodes, and the delays that follow: light in glass, two thirds of its speed in
//! vacuum, along the great circle.

use super::{count, short, shown, some};
use fairq_experiment::topology::{Graph, Place};
use fairq_sched::units::Time;
use std::collections::BTreeSet;

/// Metres: the mean radius of the earth (IUGG).
const RADIUS: f64 = 6_371_008.8;

/// Metres per second: two thirds of the speed of light in vacuum.
const SPEED: f64 = 299_792_458.0 * 2.0 / 3.0;

/// Degrees.
type Globe = (f64, f64);

fn globe(place: Option<Place>) -> Option<Globe> {
    match place {
        Some(Place::Globe { latitude, longitude }) => Some((latitude, longitude)),
        _ => None,
    }
}

/// Whether the coordinates are in range.
pub(super) fn is_sound(place: &Place) -> bool {
    match place {
        Place::Globe { latitude, longitude } => latitude.abs() <= 90.0 && longitude.abs() <= 360.0,
        Place::Plane { x, y } => x.is_finite() && y.is_finite(),
    }
}

/// Metres along the great circle, by the haversine.
pub(super) fn distance(a: Globe, b: Globe) -> f64 {
    let radians = |degrees: f64| degrees * (std::f64::consts::PI / 180.0);
    let half = |x: f64, y: f64| libm::sin(radians(y - x) / 2.0);
    let (north, east) = (half(a.0, b.0), half(a.1, b.1));
    let h = north * north + libm::cos(radians(a.0)) * libm::cos(radians(b.0)) * east * east;
    2.0 * RADIUS * libm::asin(h.sqrt().min(1.0))
}

/// Sets the delay of every link: the file's own, that of its length, or `default`. Nodes without a
/// place get one first.
pub(super) fn set_delays(graph: &mut Graph, own: &[Option<Time>], default: Time) {
    let is_map = graph.nodes.iter().any(|node| globe(node.place).is_some());
    if is_map && own.iter().any(Option::is_none) {
        fill(graph);
    }
    let mut by_default = Vec::new();
    for (link, own) in graph.links.iter_mut().zip(own) {
        let ends = (globe(graph.nodes[link.from].place), globe(graph.nodes[link.to].place));
        link.delay = match (own, ends) {
            (Some(delay), _) => *delay,
            (None, (Some(a), Some(b))) => Time::from_s_f64(distance(a, b) / SPEED),
            (None, _) => {
                by_default.push(shown(&link.name));
                default
            }
        };
    }
    if !by_default.is_empty() {
        let links = count(by_default.len(), "link");
        graph.warnings.push(format!("{links} without delay or coordinates given {default}: {}", some(&by_default)));
    }
}

/// Gives nodes without coordinates the mean of their neighbours', in rounds, until no node without
/// a place has a neighbour with one.
fn fill(graph: &mut Graph) {
    let mut neighbours: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.nodes.len()];
    for link in &graph.links {
        neighbours[link.from].insert(link.to);
        neighbours[link.to].insert(link.from);
    }
    let missing: Vec<usize> = (0..graph.nodes.len()).filter(|at| globe(graph.nodes[*at].place).is_none()).collect();
    // Nodes that may have a neighbour with a place; after the first round only the neighbours of
    // those just placed.
    let mut next: BTreeSet<usize> = missing.iter().copied().collect();
    while !next.is_empty() {
        let placed = |at: &usize| globe(graph.nodes[*at].place);
        let mean = |at: usize| mean(neighbours[at].iter().filter_map(placed));
        let found: Vec<(usize, Globe)> = next.iter().filter_map(|at| Some((*at, mean(*at)?))).collect();
        for (at, (latitude, longitude)) in &found {
            graph.nodes[*at].place = Some(Place::Globe { latitude: *latitude, longitude: *longitude });
        }
        next = found.iter().flat_map(|(at, _)| neighbours[*at].iter().copied()).collect();
        next.retain(|at| globe(graph.nodes[*at].place).is_none());
    }
    let open: BTreeSet<usize> = missing.iter().copied().filter(|at| globe(graph.nodes[*at].place).is_none()).collect();
    let name = |at: &usize| {
        let node = &graph.nodes[*at];
        if node.label.is_empty() {
            shown(&node.name)
        } else {
            format!("{} ({})", shown(&node.name), short(&node.label))
        }
    };
    let names = |of: &[usize]| some(&of.iter().map(name).collect::<Vec<_>>());
    let filled: Vec<usize> = missing.iter().filter(|at| !open.contains(at)).copied().collect();
    let mut warnings = Vec::new();
    if !filled.is_empty() {
        let nodes = count(filled.len(), "node");
        warnings.push(format!("{nodes} without coordinates placed at the mean of neighbours: {}", names(&filled)));
    }
    if !open.is_empty() {
        let open: Vec<usize> = open.into_iter().collect();
        let nodes = count(open.len(), "node");
        warnings.push(format!("{nodes} without coordinates and without a neighbour that has any: {}", names(&open)));
    }
    graph.warnings.extend(warnings);
}

/// The mean of places. Each longitude is taken in the form nearest to the first, so that the mean
/// of places on both sides of the date line does not lie in Africa.
fn mean(places: impl Iterator<Item = Globe>) -> Option<Globe> {
    let (mut first, mut sum, mut number) = (None, (0.0, 0.0), 0.0);
    for (latitude, longitude) in places {
        let near = *first.get_or_insert(longitude);
        let turned = match longitude - near {
            east if east > 180.0 => longitude - 360.0,
            east if east < -180.0 => longitude + 360.0,
            _ => longitude,
        };
        sum = (sum.0 + latitude, sum.1 + turned);
        number += 1.0;
    }
    first?;
    let longitude = sum.1 / number;
    let longitude = match longitude {
        east if east > 180.0 => east - 360.0,
        west if west < -180.0 => west + 360.0,
        _ => longitude,
    };
    Some((sum.0 / number, longitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_globe() {
        let quarter = RADIUS * std::f64::consts::FRAC_PI_2;
        for (a, b, metres) in [
            ((0.0, 0.0), (90.0, 12.0), quarter),
            ((0.0, 10.0), (0.0, 100.0), quarter),
            ((0.0, 0.0), (0.0, 180.0), 2.0 * quarter),
            ((45.0, 170.0), (45.0, 170.0), 0.0),
            ((10.0, 179.0), (10.0, -181.0), 0.0),
        ] {
            assert!((distance(a, b) - metres).abs() < 1.0, "{a:?} {b:?}: {}", distance(a, b));
        }
        // New York to Chicago: 1144 to 1146 km by any atlas.
        let metres = distance((40.71427, -74.00597), (41.85003, -87.65005));
        assert!((1_143_000.0..1_147_000.0).contains(&metres), "{metres}");
    }

    #[test]
    fn a_mean_knows_the_date_line() {
        assert_eq!(mean([(0.0, 10.0), (20.0, 30.0)].into_iter()), Some((10.0, 20.0)));
        assert_eq!(mean([(0.0, 179.0), (0.0, -177.0)].into_iter()), Some((0.0, -179.0)));
        assert_eq!(mean([(0.0, -179.0), (0.0, 177.0)].into_iter()), Some((0.0, 179.0)));
        assert_eq!(mean([].into_iter()), None);
    }
}
