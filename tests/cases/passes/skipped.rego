# query: input.x == 1; print(1)
# skip: RewriteEquals
package a

p if {
	input.x == 1
	f(input.y) == 2
}

f(x) := x
