package a

p[input.x][y].z := f(input.v) if {
	y := "k"
}

q contains {"id": input.id, "tags": [t | some t in input.tags]}

f(x) := x.y if {
	x.z
} else := [x.y] if {
	x.w
} else := 3

g([x, {"k": y}], _) := x + y

default r := {x | x := 1}

r := input.r

s["a"] contains input.s
