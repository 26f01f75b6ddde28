# without: RepeatCheapCalls
package a

double(x) := x * 2

total(xs) := sum([double(x) | some x in xs])

shown(x) if print(x)

# a step that an argument names is a lookup
has(object, key) if object[key]

# any other may be a loop
holds(object, value) if object[_] == value

# members of an else chain as well, as long as they are few
severity(finding) := "critical" if finding.score >= 9

else := "high" if finding.score >= 7

else := "low"

kind(name) := "system" if startswith(name, "kube-")

else := "own" if name in data.own

else := "listed" if data.lists[_] == name
