package a

values contains x if some x in input.xs

pairs[k] := v if some k, v in {"a": 1, "b": input.b}

patterns := [[a, b] | some [a, {"k": b}] in input.rows]

filters if {
	some x, "on" in input.flags
	some "a" in input.names
	x != 1
}
