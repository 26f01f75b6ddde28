package a

count_is if {
	count = 2
	count == 2
}

f(plus) := plus if {
	[minus, plus] = [1, input.x]
	minus
}

wildcards := x if {
	x := input[_][_]
	_ = x
}
