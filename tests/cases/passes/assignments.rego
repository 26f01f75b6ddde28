package a

p if {
	[a, [b, {"k": c}]] := input.x with input.y as f(1)
	d := a
	e := [d | d := b]
	_ := e
	f(c) with input as {"d": d}
}

f(x) := x

q := [x | x := 1] if {
	x := 2
	x == 2
}
