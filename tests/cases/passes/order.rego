package a

p if {
	y > 1
	not z
	y = x + 1
	z = count(ws)
	ws = [w | w = vs[_]; w > x]
	x = input.x
	vs = input.vs
}

q := {
	"z": f(1),
	"a": {f(2), input.k, [f(3)]},
	input.m: f(4),
}

f(x) := x
