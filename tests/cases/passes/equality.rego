# query: 1 == input.x; input.y = [input.z]
package a

p if {
	input.x == 1
	[input.y, 1] = [a, b]
	{"k": input.z} == {"k": a}
	not input.w == b
	every e in [1] { e == input.v }
	1 == 1 == input.t
}
