# query: x := 1; $"{x} {data.a.plain}"
package a

plain := $"a {input.x} b {known} {constant} {sometimes} {f(1)} {1}{"s"}"

default known := false

constant := [1, 2]

sometimes if input.y

nested(x) := $"{x} {[$"<{y}>" | some y in x]} {x.z with input as {"k": input.k}}"

empty := $""

f(x) := x
