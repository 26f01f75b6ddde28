# What all constraints of a cluster say of a review.
package admission

response := {
	"allowed": count(violations) == 0,
	"problems": count(violations),
	"by_constraint": {name: count(found) | some name, found in by_constraint},
	"messages": array.slice(sort([v.msg | some v in violations]), 0, 5),
}

violations contains v if {
	some found in by_constraint
	some v in found
}

by_constraint[name] contains {"constraint": name, "msg": violation.msg, "action": action(name)} if {
	some name
	violation := data.constraints[name].violation[_]
	not excluded(name)
}

default action(_) := "deny"

action(name) := data.parameters[name].enforcement

excluded(name) if input.request.namespace in data.parameters[name].excluded_namespaces
