# without: RepeatCheapCalls
package a

double(x) := x * 2

total(xs) := sum([double(x) | some x in xs])

shown(x) if print(x)
