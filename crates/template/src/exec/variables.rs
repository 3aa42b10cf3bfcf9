//! The variables of the templates that run, innermost last. Finding one by its number costs the same however many
//! there are.

use super::slot::Slot;

#[derive(Default)]
pub(super) struct Variables {
    entries: Vec<Entry>,
    /// For each number of the running template, the newest entry.
    newest: Vec<Option<usize>>,
    frame: usize,
}

struct Entry {
    number: usize,
    slot: Slot,
    /// The entry of the same number that this one hides.
    hidden: Option<usize>,
}

/// What [`Variables::enter`] has to be undone with.
pub(super) struct Frame {
    entries: usize,
    frame: usize,
    newest: usize,
}

impl Variables {
    /// A template with that many names begins; it sees none of its caller's.
    pub(super) fn enter(&mut self, names: usize, root: Slot) -> Frame {
        let outer = Frame { entries: self.entries.len(), frame: self.frame, newest: self.newest.len() };
        self.frame = self.newest.len();
        self.newest.resize(self.frame + names.max(1), None);
        self.push(0, root);
        outer
    }

    pub(super) fn leave(&mut self, outer: &Frame) {
        self.entries.truncate(outer.entries);
        self.newest.truncate(outer.newest);
        self.frame = outer.frame;
    }

    pub(super) fn mark(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn forget(&mut self, mark: usize) {
        while self.entries.len() > mark {
            let Some(entry) = self.entries.pop() else { return };
            self.newest[self.frame + entry.number] = entry.hidden;
        }
    }

    pub(super) fn push(&mut self, number: u32, slot: Slot) {
        let number = number as usize;
        let newest = &mut self.newest[self.frame + number];
        let hidden = newest.replace(self.entries.len());
        self.entries.push(Entry { number, slot, hidden });
    }

    pub(super) fn get(&self, number: u32) -> Option<&Slot> {
        let index = self.newest[self.frame + number as usize]?;
        Some(&self.entries[index].slot)
    }

    /// Whether there was one to change.
    pub(super) fn set(&mut self, number: u32, slot: Slot) -> bool {
        let index = self.newest[self.frame + number as usize];
        if let Some(index) = index {
            self.entries[index].slot = slot;
        }
        index.is_some()
    }

    /// Changes the entry that is `from_top` below the newest of all, from 1.
    pub(super) fn set_top(&mut self, mark: usize, from_top: usize, slot: Slot) {
        if let Some(entry) = mark.checked_sub(from_top).and_then(|index| self.entries.get_mut(index)) {
            entry.slot = slot;
        }
    }
}
