package a

import future.keywords.and
import future.keywords.not
import future.keywords.or

matching if {
	[x, {"k": y}] = input.pair
	y != x
	not input.off
	not { some z in input.zs; z < y }
}

either if {
	input.a or input.b
	input.c and input.d
	every k, v in input.map { v >= count(k) }
}

collected := [
	[x | some x in input.xs],
	{x | some x in input.xs},
	{k: v | some k, v in input.map},
	{input.x, 1},
	{input.y: input.z},
]

found contains [path, value] if walk(input.tree, [path, value])

found contains leaf if walk(input.tree, [_, leaf])
