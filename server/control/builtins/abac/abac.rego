# METADATA
# title: Attribute-based access control
# description: >-
#   Decides by attributes. A policy is an object with `effect` (`permit` or `deny`) and `conditions`, an array of objects with
#   `attribute` (a path such as `subject.department`), `operator` and `value`, or `other`, the path of another attribute. A
#   policy applies if all of its conditions are true. An attribute that is missing makes a condition of a permit false, and a
#   condition of a deny true.
package solon.abac

# Is true if a permit applies to the request, and no deny does.
allow(request, policies) if {
	some permit in policies
	permit.effect == "permit"
	applies(permit, request)
	not denied(request, policies)
}

# Is true if a deny applies to the request. A policy with another effect than `permit` is a deny.
denied(request, policies) if {
	some policy in policies
	object.get(policy, "effect", "deny") != "permit"
	not _fails(policy, request)
}

# Is true if all conditions of a policy are true.
applies(policy, request) if {
	every condition in policy.conditions {
		is_met(condition, request)
	}
}

# Is true if a condition of a deny is known to be false.
_fails(policy, request) if {
	some condition in object.get(policy, "conditions", [])
	_is_known(condition, request)
	not is_met(condition, request)
}

_is_known(condition, request) if {
	_ = _attribute(condition.attribute, request)
	_ = _expected(condition, request)
	condition.operator in {"eq", "neq", "in", "contains", "lt", "lte", "gt", "gte", "prefix"}
}

# Is true if a condition holds for the request.
is_met(condition, request) if {
	actual := _attribute(condition.attribute, request)
	expected := _expected(condition, request)
	_compare(condition.operator, actual, expected)
}

_attribute(path, request) := object.get(request, split(path, "."), null) if {
	object.get(request, split(path, "."), null) != null
}

_expected(condition, _) := condition.value

_expected(condition, request) := _attribute(condition.other, request) if not "value" in object.keys(condition)

_compare("eq", a, b) if a == b

_compare("neq", a, b) if a != b

_compare("in", a, b) if a in b

_compare("contains", a, b) if b in a

_compare("lt", a, b) if {
	type_name(a) == type_name(b)
	a < b
}

_compare("lte", a, b) if {
	type_name(a) == type_name(b)
	a <= b
}

_compare("gt", a, b) if {
	type_name(a) == type_name(b)
	a > b
}

_compare("gte", a, b) if {
	type_name(a) == type_name(b)
	a >= b
}

_compare("prefix", a, b) if startswith(a, b)
