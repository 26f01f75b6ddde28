# without: ForgetKeys
# query: some x in input.xs; x > 2
package a

members if {
	some x in input.xs
	x == "a"
}

# this one is asked for
indices contains i if some i, x in input.xs

names contains input.users[id].name

all if every x in input.xs { x > 0 }

positions if every i, x in input.xs { x > i }

# an array that is only sorted or counted has no order
sorted := sort([name | some name in names])

measured := {"names": sort(all_names), "number": count(all_names)} if {
	all_names := [name | some name in names]
}

# this one has
listed := [name | some name in names]

# nobody asks for the path
held contains value if walk(input, [path, value])

# this one is asked for
placed contains path if walk(input, [path, "x"])
