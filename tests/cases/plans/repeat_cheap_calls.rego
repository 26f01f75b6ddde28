# without: RepeatCheapCalls
package a

double(x) := x * 2

total(xs) := sum([double(x) | some x in xs])

shown(x) if print(x)

# a step that an argument names is a lookup
has(object, key) if object[key]

# any other may be a loop
holds(object, value) if object[_] == value
