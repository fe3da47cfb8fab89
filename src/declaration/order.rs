//! The order of execution: the listed order, adjusted to dependencies.

use super::model::Declaration;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A stable topological sort: of all stages that may run next, always the one listed first.
///
/// `depends` has, for each position from 0, the positions that must come before it. On a cycle, returns the positions
/// that are blocked.
pub fn order(depends: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut waits: Vec<usize> = depends.iter().map(Vec::len).collect();
    let mut followers = vec![Vec::new(); depends.len()];
    for (stage, before) in depends.iter().enumerate() {
        for &before in before {
            followers[before].push(stage);
        }
    }
    let mut ready: BinaryHeap<_> =
        (0..depends.len()).filter(|&stage| waits[stage] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(depends.len());
    while let Some(Reverse(stage)) = ready.pop() {
        order.push(stage);
        for &follower in &followers[stage] {
            waits[follower] -= 1;
            if waits[follower] == 0 {
                ready.push(Reverse(follower));
            }
        }
    }
    if order.len() == depends.len() {
        return Ok(order);
    }
    Err((0..depends.len()).filter(|&stage| waits[stage] > 0).collect())
}

impl Declaration {
    /// The positions of the stages, from 0, in the order of execution.
    pub fn order(&self) -> Vec<usize> {
        let by_name: HashMap<&str, usize> = self
            .stages
            .iter()
            .enumerate()
            .filter_map(|(index, stage)| stage.name.as_ref().map(|name| (name.value.as_str(), index)))
            .collect();
        let depends: Vec<Vec<usize>> = self
            .stages
            .iter()
            .map(|stage| {
                stage.depends_on.iter().filter_map(|name| by_name.get(name.value.as_str()).copied()).collect()
            })
            .collect();
        // A checked declaration has no cycle.
        order(&depends).unwrap_or_else(|_| (0..self.stages.len()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listed_order_is_kept_where_possible() {
        assert_eq!(order(&[vec![], vec![], vec![]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[vec![2], vec![], vec![]]), Ok(vec![1, 2, 0]));
        assert_eq!(order(&[vec![], vec![0, 0], vec![1]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[vec![1], vec![0], vec![]]), Err(vec![0, 1]));
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
    }
}
