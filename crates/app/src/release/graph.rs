//! Which of several objects can be worked on now: those whose needs are met. Pure; who works on them is somebody else's business.

use std::collections::BTreeSet;

/// Objects by their places, and the places of those that each needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    needs: Vec<Vec<usize>>,
}

impl Graph {
    pub(crate) fn new(needs: Vec<Vec<usize>>) -> Self {
        Self { needs }
    }

    /// As it is taken down: who is needed goes after those who need it.
    pub(crate) fn reversed(&self) -> Self {
        let mut needs = vec![Vec::new(); self.needs.len()];
        for (place, needed) in self.needs.iter().enumerate() {
            for &needed in needed {
                needs[needed].push(place);
            }
        }
        Self { needs }
    }

    /// Places that need each other in a circle; the first one is the last one, too.
    pub(crate) fn cycle(&self) -> Option<Vec<usize>> {
        let left = self.entangled();
        let &start = left.first()?;
        // Each of them needs another of them: whoever follows that comes by a place twice.
        let mut way = vec![start];
        loop {
            let last = *way.last()?;
            let next = *self.needs[last].iter().find(|needed| left.contains(needed))?;
            if let Some(first) = way.iter().position(|&place| place == next) {
                way.drain(..first);
                way.push(next);
                return Some(way);
            }
            way.push(next);
        }
    }

    /// Everything that cannot be reached because of a circle.
    fn entangled(&self) -> Vec<usize> {
        let mut steps = Steps::new(self);
        let mut reached = BTreeSet::new();
        while let Some(place) = steps.next() {
            reached.insert(place);
            steps.done(place);
        }
        (0..self.needs.len()).filter(|place| !reached.contains(place)).collect()
    }
}

/// A walk along a graph.
pub(crate) struct Steps {
    needed_by: Vec<Vec<usize>>,
    /// How many needs of each are not met.
    open: Vec<usize>,
    ready: BTreeSet<usize>,
    /// Neither done nor failed nor given up.
    left: BTreeSet<usize>,
}

impl Steps {
    pub(crate) fn new(graph: &Graph) -> Self {
        let open: Vec<usize> = graph.needs.iter().map(Vec::len).collect();
        let ready = (0..open.len()).filter(|&place| open[place] == 0).collect();
        Self { needed_by: graph.reversed().needs, ready, left: (0..open.len()).collect(), open }
    }

    /// The next that can be begun; of several the first.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    pub(crate) fn done(&mut self, place: usize) {
        self.left.remove(&place);
        for waiting in self.needed_by[place].clone() {
            self.open[waiting] -= 1;
            if self.open[waiting] == 0 && self.left.contains(&waiting) {
                self.ready.insert(waiting);
            }
        }
    }

    /// It will not be done, and neither will those that need it.
    pub(crate) fn failed(&mut self, place: usize) -> Vec<usize> {
        self.left.remove(&place);
        let (mut given_up, mut look) = (Vec::new(), vec![place]);
        while let Some(place) = look.pop() {
            for &waiting in &self.needed_by[place] {
                if self.left.remove(&waiting) {
                    self.ready.remove(&waiting);
                    given_up.push(waiting);
                    look.push(waiting);
                }
            }
        }
        given_up.sort_unstable();
        given_up
    }

    /// What nobody has begun and nothing leads to: a circle, which a record that somebody has edited can have.
    pub(crate) fn untangle(&mut self) -> bool {
        let Some(&place) = self.left.first().filter(|_| self.ready.is_empty()) else { return false };
        self.ready.insert(place);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All places in the order in which one at a time would be done.
    fn order(graph: &Graph) -> Vec<usize> {
        let (mut steps, mut order) = (Steps::new(graph), Vec::new());
        while let Some(place) = steps.next() {
            steps.done(place);
            order.push(place);
        }
        order
    }

    #[test]
    fn who_is_needed_comes_first_and_goes_last() {
        // 0 route → 1 rule → 2 namespace; 3 needs only the namespace.
        let graph = Graph::new(vec![vec![1, 2], vec![2], vec![], vec![2]]);
        assert_eq!(order(&graph), [2, 1, 0, 3]);
        assert_eq!(order(&graph.reversed()), [0, 1, 3, 2]);
        assert_eq!(graph.cycle(), None);
    }

    #[test]
    fn what_needs_nothing_of_each_other_can_be_begun_at_once() {
        let graph = Graph::new(vec![vec![], vec![0], vec![0], vec![1]]);
        let mut steps = Steps::new(&graph);
        assert_eq!((steps.next(), steps.next()), (Some(0), None));
        steps.done(0);
        assert_eq!((steps.next(), steps.next(), steps.next()), (Some(1), Some(2), None));
        steps.done(1);
        assert_eq!(steps.next(), Some(3), "it does not wait for 2");
    }

    #[test]
    fn one_that_fails_takes_only_those_along_that_need_it() {
        let graph = Graph::new(vec![vec![], vec![0], vec![1], vec![]]);
        let mut steps = Steps::new(&graph);
        assert_eq!((steps.next(), steps.next()), (Some(0), Some(3)));
        assert_eq!(steps.failed(0), [1, 2]);
        steps.done(3);
        assert_eq!(steps.next(), None);
    }

    #[test]
    fn a_circle_is_named_and_can_be_taken_down_nevertheless() {
        let graph = Graph::new(vec![vec![1], vec![2], vec![1], vec![0]]);
        assert_eq!(graph.cycle(), Some(vec![1, 2, 1]));
        let mut steps = Steps::new(&graph.reversed());
        let mut order = Vec::new();
        loop {
            match steps.next() {
                Some(place) => {
                    steps.done(place);
                    order.push(place);
                }
                None if steps.untangle() => {}
                None => break,
            }
        }
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3]);
    }
}
