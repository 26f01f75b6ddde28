//! Strongly connected components.

use std::cmp::min;

/// Returns the component number of each vertex. A component is numbered after all components that it leads to, so the
/// numbers are a reverse topological order. Tarjan's algorithm without recursion, in O(vertices + edges).
pub fn components<E>(edges: &[E]) -> Vec<u32>
where
    E: AsRef<[u32]>,
{
    let mut search = TarjanSearch {
        visited: vec![0; edges.len()],
        lowest: vec![0; edges.len()],
        component: vec![UNASSIGNED; edges.len()],
        ..TarjanSearch::default()
    };
    for start in 0..edges.len() {
        search.from(start, edges);
    }
    search.component
}

const UNASSIGNED: u32 = u32::MAX;

#[derive(Default)]
struct TarjanSearch {
    /// Discovery index of each vertex, starting at 1; 0 if undiscovered.
    visited: Vec<u32>,
    /// Smallest discovery index known to be reachable from each vertex.
    lowest: Vec<u32>,
    component: Vec<u32>,
    /// Stack of discovered vertices without a component.
    open: Vec<usize>,
    /// Path to the current vertex; each vertex with its next edge.
    path: Vec<(usize, usize)>,
    clock: u32,
    components: u32,
}

impl TarjanSearch {
    #[expect(
        clippy::indexing_slicing,
        reason = "all vectors are as long as there are vertices, and edges lead to vertices"
    )]
    fn from<E: AsRef<[u32]>>(&mut self, start: usize, edges: &[E]) {
        if self.visited[start] == 0 {
            self.enter(start);
        }
        while let Some((vertex, next)) = self.path.last_mut() {
            let vertex = *vertex;
            if let Some(target) = edges[vertex].as_ref().get(*next) {
                *next += 1;
                let target = *target as usize;
                if self.visited[target] == 0 {
                    self.enter(target);
                } else if self.component[target] == UNASSIGNED {
                    self.lowest[vertex] = min(self.lowest[vertex], self.visited[target]);
                }
                continue;
            }
            self.path.pop();
            if let Some((parent, _)) = self.path.last() {
                self.lowest[*parent] = min(self.lowest[*parent], self.lowest[vertex]);
            }
            if self.lowest[vertex] == self.visited[vertex] {
                while let Some(member) = self.open.pop() {
                    self.component[member] = self.components;
                    if member == vertex {
                        break;
                    }
                }
                self.components += 1;
            }
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "all vectors are as long as there are vertices"
    )]
    fn enter(&mut self, vertex: usize) {
        self.clock += 1;
        self.visited[vertex] = self.clock;
        self.lowest[vertex] = self.clock;
        self.open.push(vertex);
        self.path.push((vertex, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn targets_come_first() {
        let edges = [vec![1], vec![2], vec![1, 3], vec![]];
        assert_eq!(components(&edges), [2, 1, 1, 0]);
    }

    #[test]
    fn long_chains_take_no_stack() {
        let last = 1_000_000;
        let edges: Vec<Vec<u32>> = (0..=last)
            .map(|vertex| {
                if vertex < last {
                    vec![vertex + 1]
                } else {
                    vec![0]
                }
            })
            .collect();
        assert!(components(&edges).iter().all(|component| *component == 0));
    }
}
