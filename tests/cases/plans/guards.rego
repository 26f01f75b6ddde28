package a

p := 1 if {
	some x in data.xs
	to_number(x) > 3
	input.kind == "a"
}

p := 2 if {
	print("seen")
	input.kind == "b"
}

f(x, "on") := y if {
	y := to_number(x)
	x == "3"
}
