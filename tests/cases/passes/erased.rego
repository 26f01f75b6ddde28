# print: false
# query: print(1)
package a

p if print(1)

q if {
	print(1)
	input.x
	z := [v | print("v"); v := 2]
	z[0] == count([1 | print(2)])
}
