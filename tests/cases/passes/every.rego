# query: every k, v in {"a": 1} { v > count(k) }
package a

all_positive if {
	every x in input.xs { x > 0 }
}

nested if {
	every i, row in input.rows {
		every cell in row {
			cell != input.bad[i]
		} with input.bad as [1, 2]
	}
}

made if every x in [y | y := f(input.z)] { x }

f(x) := x + 1
