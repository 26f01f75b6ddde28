package a

f(x, y) := 1

p if {
	x := 1
	count([x, 1, {"a": x}], input.x, 3, {1}, data.a.f, f(1, 2))
}

q if count()

r if count(1, 2) == 3

s if object.get(1)

t if plus(1, 2, 3, 4) == 1

u if startswith(null, true, "a", 1, 1.5, {}, [], set(), {1, "a"}, {"b": 1, 2: [3]}, input, data)
