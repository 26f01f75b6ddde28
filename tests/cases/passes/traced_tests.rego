# trace_tests: true
package a

test_sides if {
	input.x == {"k": input.y}
	[y | some y in input.ys] == data.a.ys with input as {"ys": [1]}
	not input.z == 1
	every e in [1] { e == input.one }
	1 == 1
}

no_test if input.x == 1

ys := [1]
