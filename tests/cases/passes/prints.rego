# query: print(1, input.x)
package a

p if {
	x := 1
	print("x is", x, input.y, [x, input.z])
	every y in [1] {
		print(y)
		y == x
	}
	z := [v | v := 2; print(v)]
	print(z) with input as 1
}
