# query: data.a.b[x][input.y]
package a.b

import data.lib.util as u
import input.user

direct := [1, 2, 3][i] if i := 0

computed := {"a": [1]}[input.k][_]

called := split(input.path, "/")[0]

imported if {
	u.allowed[user.name]
	c.d[user.id]
}

c.d[x] := y if {
	some x, y in input.pairs
}

whole := input
