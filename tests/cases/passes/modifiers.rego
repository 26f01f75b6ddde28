package a

p if {
	q with input as {"a": r} with data.d[0] as [x | x := input.k]
	count([1]) == f(2) with count as f with input.x as input.y
	f(1) == 2 with f as 2
	f(1) == 3 with data.a.f as count
	not q with input as r
	x := [1 | q with data.d as r] with input.z as 1
	x[0]
}

q if input.a == 1

r := {"k": 1}

f(x) := x
