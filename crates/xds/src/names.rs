//! Sets of names, each kept once in the process.
//!
//! A thousand proxies of one deployment subscribe to the same names. The names are interned one by one and the
//! sorted set as a whole, so that those subscriptions are one allocation, and comparing two of them is mostly
//! comparing two addresses.

use std::{
    borrow::Borrow,
    collections::{HashSet, VecDeque},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Deref,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

/// Sorted, without duplicates, interned.
#[derive(Clone)]
pub struct NameSet(Arc<Inner>);

struct Inner {
    hash: u64,
    names: Box<[Arc<str>]>,
}

impl NameSet {
    pub fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = names.into_iter().map(|name| table.name(name.as_ref())).collect();
        all.sort_unstable();
        all.dedup();
        table.set(all)
    }

    /// With these names and without those; what is in both lists is left out.
    pub(crate) fn changed<'a>(
        &self,
        more: impl IntoIterator<Item = &'a str>,
        fewer: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let (more, fewer): (Vec<&str>, Vec<&str>) = (more.into_iter().collect(), fewer.into_iter().collect());
        let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = table.steps.iter().find_map(|step| step.taken(self, &more, &fewer)) {
            return known;
        }
        let mut all = self.to_vec();
        all.extend(more.iter().map(|name| table.name(name)));
        all.sort();
        all.dedup();
        if !fewer.is_empty() {
            let fewer: HashSet<&str> = fewer.iter().copied().collect();
            all.retain(|name| !fewer.contains(&**name));
        }
        let set = table.set(all);
        table.steps.truncate(STEPS - 1);
        table.steps.push_front(Step::new(self, &more, &fewer, &set));
        set
    }

    pub fn contains(&self, name: &str) -> bool {
        self.binary_search_by(|known| (**known).cmp(name)).is_ok()
    }
}

impl Deref for NameSet {
    type Target = [Arc<str>];

    fn deref(&self) -> &Self::Target {
        &self.0.names
    }
}

impl Default for NameSet {
    fn default() -> Self {
        Self::new([""; 0])
    }
}

impl PartialEq for NameSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.names == other.0.names)
    }
}

impl Eq for NameSet {}

impl Hash for NameSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for NameSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table::default()));

/// What is known. Strong references: what nobody else holds is swept when the table has doubled, so it is never more
/// than twice what is in use.
#[derive(Default)]
struct Table {
    names: HashSet<Arc<str>>,
    sets: HashSet<Known>,
    /// The last ones, newest first: all proxies of a mesh follow a change by the same step.
    steps: VecDeque<Step>,
    names_after_sweep: usize,
    sets_after_sweep: usize,
}

const SMALL: usize = 256;
const STEPS: usize = 8;

/// From one set to another.
struct Step {
    from: Weak<Inner>,
    more: Box<[Box<str>]>,
    fewer: Box<[Box<str>]>,
    to: Weak<Inner>,
}

impl Step {
    /// One by many names is not worth the room.
    fn new(from: &NameSet, more: &[&str], fewer: &[&str], to: &NameSet) -> Self {
        let few = more.len() + fewer.len() <= 16;
        let own = |names: &[&str]| names.iter().map(|name| Box::from(*name)).collect();
        Self {
            from: if few { Arc::downgrade(&from.0) } else { Weak::new() },
            more: if few { own(more) } else { Box::default() },
            fewer: if few { own(fewer) } else { Box::default() },
            to: Arc::downgrade(&to.0),
        }
    }

    fn taken(&self, from: &NameSet, more: &[&str], fewer: &[&str]) -> Option<NameSet> {
        let same = |known: &[Box<str>], names: &[&str]| {
            known.len() == names.len() && known.iter().zip(names).all(|(known, name)| **known == **name)
        };
        let is_it = std::ptr::eq(self.from.as_ptr(), Arc::as_ptr(&from.0))
            && same(&self.more, more)
            && same(&self.fewer, fewer);
        if is_it { self.to.upgrade().map(NameSet) } else { None }
    }
}

impl Table {
    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        if self.names.len() > 2 * self.names_after_sweep + SMALL {
            // Sets that are gone hold names, so they go first.
            self.sweep_sets();
            self.names.retain(|name| Arc::strong_count(name) > 1);
            self.names.shrink_to(2 * self.names.len());
            self.names_after_sweep = self.names.len();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }

    fn set(&mut self, names: Vec<Arc<str>>) -> NameSet {
        if let Some(known) = self.sets.get(names.as_slice()) {
            return NameSet(known.0.clone());
        }
        if self.sets.len() > 2 * self.sets_after_sweep + SMALL {
            self.sweep_sets();
        }
        let mut hasher = DefaultHasher::new();
        names.hash(&mut hasher);
        let set = Arc::new(Inner { hash: hasher.finish(), names: names.into() });
        self.sets.insert(Known(set.clone()));
        NameSet(set)
    }

    fn sweep_sets(&mut self) {
        self.sets.retain(|set| Arc::strong_count(&set.0) > 1);
        self.sets.shrink_to(2 * self.sets.len());
        self.sets_after_sweep = self.sets.len();
    }
}

/// A set in the table, found by its names.
struct Known(Arc<Inner>);

impl Borrow<[Arc<str>]> for Known {
    fn borrow(&self) -> &[Arc<str>] {
        &self.0.names
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.0.names == other.0.names
    }
}

impl Eq for Known {}

impl Hash for Known {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.names.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_one_allocation_whatever_the_order() {
        let one = NameSet::new(["b", "a", "b"]);
        let two = NameSet::new(["a", "b"]);
        assert!(Arc::ptr_eq(&one.0, &two.0));
        assert_eq!(one.len(), 2);
        assert!(one.contains("a") && !one.contains("c"));
    }

    #[test]
    fn names_are_added_and_taken_away() {
        let set = NameSet::new(["a", "b"]).changed(["c", "d", "a"], ["b", "d", "x"]);
        assert_eq!(set, NameSet::new(["a", "c"]));
    }

    #[test]
    fn the_same_step_leads_to_the_same_set_and_another_to_another() {
        let start = NameSet::new(["step-a", "step-b"]);
        let one = start.changed(["step-c"], []);
        assert!(Arc::ptr_eq(&one.0, &start.changed(["step-c"], []).0));
        assert_eq!(start.changed([], ["step-b"]), NameSet::new(["step-a"]));
        assert_eq!(one.changed(["step-c"], ["step-a"]), NameSet::new(["step-b", "step-c"]));
        let many: Vec<String> = (0..100).map(|number| format!("step-{number}")).collect();
        for _ in 0..2 {
            assert_eq!(start.changed(many.iter().map(String::as_str), []).len(), 102);
            assert_eq!(start.changed([], []), start);
        }
    }

    #[test]
    fn what_nobody_holds_is_swept() {
        let mut table = Table::default();
        for round in 0..10_000 {
            let names = vec![table.name(&format!("name-{round}"))];
            table.set(names);
        }
        assert!(table.names.len() <= 2 * SMALL && table.sets.len() <= 2 * SMALL, "{}", table.names.len());
    }
}
