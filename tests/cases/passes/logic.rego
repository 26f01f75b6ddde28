# query: data.a.p
package a

import rego.v2

p if {
	x := input.x
	not { y := x + 1; y == 2 }
	not x == f(input.k)
	(x > 1 and f(x)) or { y := x; y == input.z }
	not (x and { z := 1; z == x }) with input as {"z": input.w}
}

f(x) := x
