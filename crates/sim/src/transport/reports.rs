//! What acknowledgements under way say beyond their numbers: few say anything, so it is kept apart from the packets.

use super::Blocks;

/// Runs of packets, by name. The name 0 stands for none.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    kept: Vec<Blocks>,
    free: Vec<u32>,
}

impl Reports {
    /// Keeps `blocks`; their name.
    pub fn keep(&mut self, blocks: Blocks) -> u32 {
        if blocks.is_empty() {
            return 0;
        }
        if let Some(name) = self.free.pop() {
            self.kept[name as usize - 1] = blocks;
            return name;
        }
        self.kept.push(blocks);
        self.kept.len() as u32
    }

    /// Gives back what `name` stands for, and the name.
    pub fn take(&mut self, name: u32) -> Blocks {
        if name == 0 {
            return Blocks::default();
        }
        self.free.push(name);
        self.kept[name as usize - 1]
    }
}
