//! The tree of a session: the lines that lead to its receivers, and the layers that are sent over
//! each at the moment.

use fairq_sched::units::Time;

/// A line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The line.
    pub line: u32,
    /// The place of the node that it leaves.
    pub from: usize,
    /// The place of the node that it leads to.
    pub to: usize,
    /// How long a message takes in the opposite direction.
    pub delay: Time,
}

/// The shape of a tree. Place 0 is the source's node.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The nodes, by place.
    pub nodes: Vec<u32>,
    /// The lines, each after the one that leads to it.
    pub branches: Vec<Branch>,
}

impl Shape {
    /// A tree of the source's node alone.
    #[must_use]
    pub fn new(source: u32) -> Self {
        Self { nodes: vec![source], branches: Vec::new() }
    }

    /// The place of `node`, if the tree has it.
    #[must_use]
    pub fn place(&self, node: u32) -> Option<usize> {
        self.nodes.iter().position(|other| *other == node)
    }

    /// Adds a path from the source: lines, each with the node that it leads to and the delay of a
    /// message. A node that is in the tree already keeps its path. Returns the place of the last
    /// node.
    pub fn add(&mut self, way: impl Iterator<Item = (u32, u32, Time)>) -> usize {
        let mut from = 0;
        for (line, node, delay) in way {
            from = self.place(node).unwrap_or_else(|| {
                self.nodes.push(node);
                self.branches.push(Branch { line, from, to: self.nodes.len() - 1, delay });
                self.nodes.len() - 1
            });
        }
        from
    }

    /// How long a message takes between the nodes at two places, over the tree.
    #[must_use]
    pub fn delay_between(&self, a: usize, b: usize) -> Time {
        // Branches lead to places in order: the one to place p is branch p − 1.
        let (mut a, mut b, mut delay) = (a, b, Time::ZERO);
        while a != b {
            let higher = if a > b { &mut a } else { &mut b };
            let branch = self.branches[*higher - 1];
            delay = delay.saturating_add(branch.delay);
            *higher = branch.from;
        }
        delay
    }
}

/// The number of layers sent over each branch.
#[derive(Clone, Debug)]
pub struct Tree {
    shape: Shape,
    /// By place, the branches that leave it.
    down: Vec<Vec<usize>>,
    /// By branch: the number of layers that are sent over it, and the number that its lower node
    /// requested last.
    sent: Vec<usize>,
    asked: Vec<usize>,
    /// By place: the levels of its receivers as their router knows them.
    taken: Vec<Vec<(usize, usize)>>,
}

impl Tree {
    /// A tree over which no layer is sent yet.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        let mut down = vec![Vec::new(); shape.nodes.len()];
        for (number, branch) in shape.branches.iter().enumerate() {
            down[branch.from].push(number);
        }
        let (branches, nodes) = (shape.branches.len(), shape.nodes.len());
        Self { shape, down, sent: vec![0; branches], asked: vec![0; branches], taken: vec![Vec::new(); nodes] }
    }

    /// The branches that leave the node at `place`.
    #[must_use]
    pub fn down(&self, place: usize) -> &[usize] {
        &self.down[place]
    }

    /// Branch number `branch`.
    #[must_use]
    pub fn branch(&self, branch: usize) -> &Branch {
        &self.shape.branches[branch]
    }

    /// The number of layers sent over `branch`.
    #[must_use]
    pub fn sent(&self, branch: usize) -> usize {
        self.sent[branch]
    }

    /// How long a message takes between the nodes at two places.
    #[must_use]
    pub fn delay_between(&self, a: usize, b: usize) -> Time {
        self.shape.delay_between(a, b)
    }

    /// The router at `place` knows that `receiver` takes `level` layers. Returns the message that
    /// this causes.
    pub fn take(&mut self, place: usize, receiver: usize, level: usize) -> Option<Message> {
        let taken = &mut self.taken[place];
        match taken.iter_mut().find(|(other, _)| *other == receiver) {
            Some((_, known)) => *known = level,
            None => taken.push((receiver, level)),
        }
        self.ask(place)
    }

    /// The node above `branch` has heard that it is to send `level` layers over it. Returns the
    /// message that this causes.
    pub fn heard(&mut self, branch: usize, level: usize) -> Option<Message> {
        self.sent[branch] = level;
        self.ask(self.shape.branches[branch].from)
    }

    /// The request of the node at `place` to the node above it, if it changed.
    fn ask(&mut self, place: usize) -> Option<Message> {
        // The branch to a place is the one before it.
        let branch = place.checked_sub(1)?;
        let taken = self.taken[place].iter().map(|(_, level)| *level);
        let level = taken.chain(self.down[place].iter().map(|down| self.sent[*down])).max().unwrap_or(0);
        if self.asked[branch] == level {
            return None;
        }
        self.asked[branch] = level;
        Some(Message { branch, level, delay: self.shape.branches[branch].delay })
    }
}

/// A request on its way to the node above a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The branch.
    pub branch: usize,
    /// The number of layers requested.
    pub level: usize,
    /// How long the message takes.
    pub delay: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 – 1 – 2, and 1 – 3; each message takes as many milliseconds as the line's number says.
    fn shape() -> Shape {
        let mut shape = Shape::new(10);
        let way = |lines: &[(u32, u32)]| {
            lines.iter().map(|(line, node)| (*line, *node, Time::from_ms(u64::from(*line)))).collect::<Vec<_>>()
        };
        assert_eq!(shape.add(way(&[(1, 11), (2, 12)]).into_iter()), 2);
        assert_eq!(shape.add(way(&[(1, 11), (4, 13)]).into_iter()), 3);
        shape
    }

    #[test]
    fn ways_share_their_lines() {
        let shape = shape();
        assert_eq!(shape.nodes, [10, 11, 12, 13]);
        assert_eq!(shape.branches.iter().map(|branch| branch.line).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(shape.delay_between(2, 3), Time::from_ms(6));
        assert_eq!(shape.delay_between(0, 3), Time::from_ms(5));
    }

    #[test]
    fn a_join_stops_where_the_layers_are_already_and_a_pruning_where_they_are_still_wanted() {
        let mut tree = Tree::new(shape());
        let asks = |message: Option<Message>| message.map(|message| (message.branch, message.level));
        assert_eq!(asks(tree.take(2, 0, 3)), Some((1, 3)));
        assert_eq!(tree.sent(1), 0, "the message is on its way");
        assert_eq!(asks(tree.heard(1, 3)), Some((0, 3)));
        assert_eq!(asks(tree.heard(0, 3)), None, "the source is not asked");
        assert_eq!(asks(tree.take(3, 1, 2)), Some((2, 2)));
        assert_eq!(asks(tree.heard(2, 2)), None, "the node has them");
        assert_eq!(asks(tree.take(2, 0, 1)), Some((1, 1)));
        assert_eq!(asks(tree.heard(1, 1)), Some((0, 2)), "the other still takes two");
        // Two receivers of one node: the router asks for what the greater of them takes.
        assert_eq!(asks(tree.take(3, 2, 1)), None);
        assert_eq!(asks(tree.take(3, 1, 0)), Some((2, 1)));
    }
}
