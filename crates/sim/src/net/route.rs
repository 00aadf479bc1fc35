//! Shortest paths by hops; of equally short ones the one whose lines have the lowest numbers, first line first.

use std::collections::VecDeque;

/// From where to where each line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The node that sends.
    pub from: u32,
    /// The node that receives.
    pub to: u32,
}

/// The lines from `from` to `to`; empty if they are the same node, `None` if there is no way.
///
/// Ties: hop by hop from the start, the line with the lowest number among those on a shortest path.
#[must_use]
pub fn shortest(lines: &[Ends], nodes: usize, from: u32, to: u32) -> Option<Vec<u32>> {
    // Distances to the end, by breadth first search against the lines.
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (number, line) in lines.iter().enumerate() {
        into[line.to as usize].push(number as u32);
    }
    let mut distance = vec![u32::MAX; nodes];
    distance[to as usize] = 0;
    let mut waiting = VecDeque::from([to]);
    while let Some(node) = waiting.pop_front() {
        for line in &into[node as usize] {
            let before = lines[*line as usize].from as usize;
            if distance[before] == u32::MAX {
                distance[before] = distance[node as usize] + 1;
                waiting.push_back(before as u32);
            }
        }
    }
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        let left = distance[node as usize];
        if left == u32::MAX {
            return None;
        }
        let step =
            lines.iter().position(|line| line.from == node && distance[line.to as usize].saturating_add(1) == left)?;
        path.push(step as u32);
        node = lines[step].to;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_wins_and_ties_go_to_the_lowest_line() {
        let ends =
            |pairs: &[(u32, u32)]| pairs.iter().map(|(from, to)| Ends { from: *from, to: *to }).collect::<Vec<_>>();
        // A square 0-1-3 and 0-2-3, and a detour 0-4-5-3.
        let lines = ends(&[(0, 4), (4, 5), (5, 3), (0, 2), (2, 3), (0, 1), (1, 3)]);
        assert_eq!(shortest(&lines, 6, 0, 3), Some(vec![3, 4]));
        assert_eq!(shortest(&lines, 6, 3, 0), None);
        assert_eq!(shortest(&lines, 6, 2, 2), Some(vec![]));
    }
}
