package functions.graphs

reached := count(graph.reachable(data.graph, {"n0"}))

default connected := false

connected if input.node in graph.reachable(data.graph, {"n0"})
