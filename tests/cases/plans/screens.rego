package a

import future.keywords.or

told(x) if print(x)

p if {
	told("p")
	input.kind == 1
	x := input.list[0]
	x in {1, 2}
	input.names[_] == "n"
	startswith(input.path, "/a")
}

q if {
	count(input.list) > 1
	data.base.on
}

f(x, y) if {
	told(x)
	y = [1, z]
	glob.match("a:*", [":"], x)
}

r if {
	told("r")
	input.a or input.b == 2
}

s if {
	told("s")
	input.kind == 1
	input.kind == 2
}
