# query: x := data.a.p; some y in x
package a

p := [x, y] if {
	x := 1
	some y
	y = x + 1
	{"k": [v, _]} := {"k": [input.v, 2]}
	v > 1
}

shadow if {
	x := 1
	ys := [x | x := 2]
	ys[0] == x
}
