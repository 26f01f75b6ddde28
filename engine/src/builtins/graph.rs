//! Graphs given as an object from nodes to neighbors, and traversal of documents.

mod cache;
mod numbered;

use std::sync::Arc;

use super::arrays::allot;
use super::builtin_error::BuiltinErrorDetail;
use super::operands::{Members, MembersIter};
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{ObjectView, RefRepr, SetBuilder, ValueRef};
pub use cache::Graphs;
use numbered::{Nodes, are_worth_it};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "graph.reachable",
        "graph: object[any: any<array[any], set[any]>], initial: any<array[any], set[any]> => output: set[any]",
        "The nodes reachable from some nodes, including these.",
        reachable,
    ),
    Builtin::new(
        "graph.reachable_paths",
        "graph: object[any: any<array[any], set[any]>], initial: any<array[any], set[any]> => output: set[array[any]]",
        "The longest paths from some nodes without repeated nodes.",
        reachable_paths,
    ),
    Builtin::evaluator(
        "walk",
        "x: any => output: array<array[any], any>",
        "Generates every path of a document with the value at the path.",
    )
    .listed(&["graph"]),
];

/// Returns the initial nodes, the second operand.
///
/// # Errors
/// The operand is not an array or a set.
fn initial<'e>(operands: &[ValueRef<'e>]) -> Result<Members<'e>, BuiltinError> {
    let operand = operands.operand(1);
    Members::from_value(operand).ok_or_else(|| {
        BuiltinError::Error(Box::new(BuiltinErrorDetail::Operand {
            position: 2,
            want: &["{array, set}"],
            got: operand.kind().as_str().into(),
        }))
    })
}

fn reachable<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let graph = operands.object(0)?;
    let initial = initial(operands)?;
    if let ValueRef(RefRepr::Object(stored_graph)) = operands.operand(0)
        && initial.len() <= cache::FEW
        && let Some(edges) = call.graphs.and_then(|graphs| graphs.get(stored_graph))
    {
        let open = initial
            .iter()
            .filter_map(|node| stored_graph.position(node));
        return edges.reachable(call, graph, std::iter::empty(), open);
    }
    let mut reached = SetBuilder::new(call.arena);
    let mut queue: Vec<ValueRef<'e>> = initial.iter().collect();
    let mut numbered = false;
    while let Some(node) = queue.pop() {
        // most edges lead to visited nodes, and checking that is cheaper than a lookup in the graph
        if reached.contains(node) {
            continue;
        }
        let Some(edges) = graph.get(node) else {
            continue;
        };
        reached.insert(node);
        if let Some(edges) = Members::from_value(edges) {
            allot(call, edges.len())?;
            queue.extend(edges.iter_unordered());
        }
        if !numbered && are_worth_it(graph, reached.len()) {
            numbered = true;
            if let Some(nodes) = Nodes::new(call, graph)? {
                let edges = Arc::new(nodes.edges(call, graph)?);
                if let (ValueRef(RefRepr::Object(stored)), Some(graphs)) =
                    (operands.operand(0), call.graphs)
                {
                    graphs.keep(stored, &edges);
                }
                let number = |node: &ValueRef<'e>| nodes.number(*node);
                let result = reached.items().iter().filter_map(number);
                return edges.reachable(call, graph, result, queue.iter().filter_map(number));
            }
        }
    }
    Ok(reached.finish())
}

fn reachable_paths<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let graph = operands.object(0)?;
    let initial = initial(operands)?;
    let mut paths = SetBuilder::new(call.arena);
    for node in initial.iter() {
        if graph.get(node).is_some() {
            OpenPath::new(graph, node).run(call, &mut paths)?;
        }
    }
    Ok(paths.finish())
}

/// A path under construction, with the untried neighbors of each of its nodes.
struct OpenPath<'e> {
    graph: ObjectView<'e>,
    path: Vec<ValueRef<'e>>,
    untried: Vec<MembersIter<'e>>,
}

impl<'e> OpenPath<'e> {
    fn new(graph: ObjectView<'e>, node: ValueRef<'e>) -> Self {
        Self {
            graph,
            path: vec![node],
            untried: Vec::new(),
        }
    }

    /// Returns the neighbors of a node, or `None` if it has none.
    fn neighbours(&self, node: ValueRef<'e>) -> Option<MembersIter<'e>> {
        let edges = Members::from_value(self.graph.get(node)?)?;
        (!edges.is_empty()).then(|| edges.iter())
    }

    fn run(
        mut self,
        call: &mut BuiltinContext<'e>,
        paths: &mut SetBuilder<'e>,
    ) -> Result<(), BuiltinError> {
        match self.path.first().and_then(|node| self.neighbours(*node)) {
            Some(neighbours) => self.untried.push(neighbours),
            None => return self.keep(call, paths),
        }
        while let Some(neighbours) = self.untried.last_mut() {
            call.budget.step()?;
            let Some(node) = neighbours.next() else {
                self.untried.pop();
                self.path.pop();
                continue;
            };
            // the first step may lead back to the start
            let visited = self.untried.len() > 1 && self.path.contains(&node);
            if visited || self.graph.get(node).is_none() {
                self.keep(call, paths)?;
                continue;
            }
            self.path.push(node);
            if let Some(neighbours) = self.neighbours(node) {
                self.untried.push(neighbours);
            } else {
                self.keep(call, paths)?;
                self.path.pop();
            }
        }
        Ok(())
    }

    fn keep(
        &self,
        call: &mut BuiltinContext<'e>,
        paths: &mut SetBuilder<'e>,
    ) -> Result<(), BuiltinError> {
        allot(call, self.path.len())?;
        paths.insert(call.arena.array(&self.path));
        Ok(())
    }
}
