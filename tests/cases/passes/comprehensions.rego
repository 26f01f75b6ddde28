# query: [x.y | some x in input.xs; x.z == [1 | input.a][0]]
package a

arrays := [f(x).y | some x in input.xs]

sets := {[x, input.k[x]] | some x in [y | some y in input.ys; y > 1]}

objects := {x.key: {y | y := x.vals[_]} | x := input.rows[_]}

f(x) := x
