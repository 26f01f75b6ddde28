package a

f(x) := x + 1

g(x) := x + 2

p := y if y := f(1) with input.x as 1 with data.y.z as [input.y]

q := y if y := f(1) with f as g

r := y if y := count(input) with count as 3 with f as abs

s if not data.y.z with data.y as input
