# query: data.a.tree.x[k]; data.a.member["a"]; data.a[name]; y := data.base.doc[name][z]
package a

default level := 0

level := 3 if input.x else := 2 if input.y

default grade(_) := "none"

grade(x) := "high" if x > 3

member contains x if some x in input.xs

member contains "fixed"

tree[x][y] := z if z := input[x][y]

tree.x contains y if some y in input.ys
