# query: count([1, plus(1, 2)]) == data.a.f(data.a.g(1), [2])
package a

nested := f(g(input.x) + 1, [g(2), {"k": g(3)}])

f(x, y) := {x: y[0]}

g(x) := x * 2

negated if not f(1, [input.x])

modified if f(g(1), [input.y]) == {1: 2} with input.y as g(input.z)
